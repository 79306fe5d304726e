"""verify, of what create-identity has made: no option asks for it, and it is judged all the same."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cwiictl.sandbox.exchange import Request, Response
from tests.journeys.asked import BILLING, MANAGED
from tests.journeys.azure import ground as azure
from tests.journeys.gcp import by_hand
from tests.journeys.gcp import ground as gcp
from tests.journeys.ground import HOST, ISSUER, Done
from tests.journeys.planted import OTHER
from tests.journeys.three import All, asked

SHOP = (
    "-n",
    "shop",
    "--service-account",
    "billing",
    "--service-account",
    "jobs",
    "--managed-policy-arn",
    MANAGED,
)
TOKENS = ("--exchange", "--mint")
SUBJECT = "system:serviceaccount:shop:billing"
ROLE, IDENTITY = f"aws/role/{BILLING}", f"azure/identity/{azure.GROUP}/{BILLING}"
AGAIN = "make it again with create-identity, for the same namespace and ServiceAccounts"
WEBHOOKS = "api://AzureADTokenExchange"


def made(ground: All) -> Done:
    return ground.cwiictl("create-identity", *ground.where, *SHOP, "-o", "json")


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[All]:
    """Made once: what a fault has changed is mended by the command that it names."""
    with asked(tmp_path_factory.mktemp("work")) as ground:
        assert ground.create_all().code == 0
        yield ground


@pytest.fixture
def ground(healthy: All) -> All:
    done = made(healthy)
    assert done.code == 0, done.err
    return healthy


def account(ground: All) -> str:
    """Of Google's, which is called by a hash."""
    (thing,) = (thing for thing in made(ground).things if thing.startswith("gcp/service-account/"))
    return thing


def of(done: Done, *things: str) -> list[tuple[str, str, str]]:
    return [
        (each["thing"], each["check"], each["severity"])
        for each in done.data["findings"]
        if each["thing"] in things
    ]


@pytest.mark.parametrize("asking", [True, False])
def test_it_is_judged_beside_what_was_asked_for_and_its_tokens_are_tried(
    ground: All, asking: bool
) -> None:
    things = ROLE, IDENTITY, account(ground)
    words = ground.asking if asking else ("--output-dir", "out")

    done = ground.cwiictl("verify", *ground.where, *words, *TOKENS, "-o", "json")

    assert (done.code, {each["severity"] for each in done.data["findings"]}) == (0, {"ok"}), (
        done.out
    )
    checks = ("trust", "token of shop/billing", "token of shop/jobs")
    assert sorted(of(done, *things)) == sorted(
        (thing, check, "ok") for thing in things for check in checks
    )


def trusting(replaced: str, by: str) -> Callable[[All], None]:
    def plant(ground: All) -> None:
        with ground.aws("iam") as iam:
            text = json.dumps(iam.get_role(RoleName=BILLING)["Role"]["AssumeRolePolicyDocument"])
            assert replaced in text
            iam.update_assume_role_policy(
                RoleName=BILLING, PolicyDocument=text.replace(replaced, by)
            )

    return plant


def credentials(**changes: Any) -> Callable[[All], None]:
    def plant(ground: All) -> None:
        for name in ("billing", "jobs"):
            ground.azure.changed(
                f"{ground.azure.identity(BILLING)}/federatedIdentityCredentials/{name}", **changes
            )

    return plant


def acted_by(*subjects: str) -> Callable[[All], None]:
    def plant(ground: All) -> None:
        email = f"{account(ground).rpartition('/')[2]}@{gcp.PROJECT}.iam.gserviceaccount.com"
        by_hand.trust(
            ground.gcp,
            email,
            [{"role": by_hand.IMPERSONATE, "members": [gcp.principal(each) for each in subjects]}],
        )

    return plant


FAULTS = {
    "AWS: another namespace": (
        ROLE,
        trusting("serviceaccount:shop:", "serviceaccount:other:"),
        f"and not {SUBJECT}",
    ),
    "AWS: audience": (
        ROLE,
        trusting('"sts.amazonaws.com"', '"other"'),
        "the role takes tokens for other, and not sts.amazonaws.com",
    ),
    "AWS: issuer": (
        ROLE,
        trusting(f'"{HOST}:sub"', '"other.example.org:sub"'),
        f"are of the issuer other.example.org, and not {HOST}",
    ),
    "Azure: audience": (
        IDENTITY,
        credentials(audiences=["openshift"]),
        f"for openshift, and not {WEBHOOKS}",
    ),
    "Azure: issuer": (
        IDENTITY,
        credentials(issuer=f"{ISSUER}/"),
        "a slash at its end is a part of it",
    ),
    "Google: another namespace": ("", acted_by(OTHER), f"is {OTHER}, and not {SUBJECT}"),
    "Google: nobody": ("", acted_by(), f"is nobody, and not {SUBJECT}"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_with_it_is_named_and_its_own_command_mends_it(
    ground: All, fault: str
) -> None:
    thing, plant, words = FAULTS[fault]
    thing = thing or account(ground)
    plant(ground)

    done = ground.verify()

    (wrong,) = (each for each in done.data["findings"] if each["severity"] != "ok")
    assert (done.code, wrong["thing"], wrong["check"], wrong["severity"]) == (
        3,
        thing,
        "trust",
        "failed",
    ), wrong
    assert words in wrong["problem"]
    assert wrong["remedy"] == AGAIN
    assert made(ground).code == 0
    assert ground.verify().code == 0


def test_a_role_that_lets_in_all_of_its_namespace_is_said_to_let_in_too_many(ground: All) -> None:
    with ground.aws("iam") as iam:
        trust = iam.get_role(RoleName=BILLING)["Role"]["AssumeRolePolicyDocument"]
        conditions = trust["Statement"][0]["Condition"]
        conditions["StringLike"] = {f"{HOST}:sub": "system:serviceaccount:shop:*"}
        del conditions["StringEquals"][f"{HOST}:sub"]
        iam.update_assume_role_policy(RoleName=BILLING, PolicyDocument=json.dumps(trust))

    done = ground.verify()

    (wide,) = (each for each in done.data["findings"] if each["severity"] != "ok")
    assert (done.code, wide["thing"], wide["severity"], wide["remedy"]) == (
        0,
        ROLE,
        "warning",
        AGAIN,
    )
    assert wide["problem"].startswith("the role lets more in than was asked for")
    assert made(ground).code == 0


def test_they_are_told_in_one_order_whichever_cloud_answers_first(ground: All) -> None:
    def late(request: Request, response: Response) -> Response:
        if request.host.startswith("iam."):
            time.sleep(0.3)
        return response

    things = ROLE, IDENTITY, account(ground)
    faults, prompt = ground.sandbox.faults, ground.sandbox.faults.spoil
    faults.spoil = late
    try:
        done = ground.cwiictl("verify", *ground.where, "--output-dir", "out", "-o", "json")
    finally:
        faults.spoil = prompt

    assert done.code == 0, done.out
    assert [thing for thing, _, _ in of(done, *things)] == list(things)


def test_each_of_several_is_judged(ground: All) -> None:
    words = ("-n", "shop", "--service-account", "orders", "--managed-policy-arn", MANAGED)
    assert ground.cwiictl("create-identity", *ground.where, *words, "-o", "json").code == 0

    done = ground.verify()

    seen = {each["thing"]: each["severity"] for each in done.data["findings"]}
    assert (done.code, set(seen.values())) == (0, {"ok"})
    assert {
        ROLE,
        ROLE.replace("billing", "orders"),
        IDENTITY,
        IDENTITY.replace("billing", "orders"),
    } <= seen.keys()


def test_an_identity_that_lets_in_nobody_of_its_namespace_is_nobodys(ground: All) -> None:
    ground.azure.changed(
        f"{ground.azure.identity(BILLING)}/federatedIdentityCredentials/billing", subject=OTHER
    )
    ground.azure.arm(
        "DELETE", f"{ground.azure.identity(BILLING)}/federatedIdentityCredentials/jobs"
    )

    done = ground.verify()

    (wrong,) = (each for each in done.data["findings"] if each["severity"] != "ok")
    assert (done.code, wrong["thing"], wrong["problem"]) == (
        3,
        IDENTITY,
        "it takes tokens of no ServiceAccount that it can have been made for",
    )
    assert made(ground).code == 0


def test_whoever_may_not_list_them_learns_no_verdict(ground: All) -> None:
    ground.sandbox.faults.deny = {"iam:GetAccountAuthorizationDetails", "iam:ListRoles"}
    try:
        done = ground.verify()
    finally:
        ground.sandbox.faults.deny = set()

    (unknown,) = (each for each in done.data["findings"] if each["severity"] != "ok")
    assert (done.code, unknown["thing"], unknown["severity"]) == (1, "aws/role", "failed")
    assert unknown["remedy"] == "have iam:ListRoles granted to who runs this"
