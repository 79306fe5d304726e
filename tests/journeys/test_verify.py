"""verify, where all is right; what it says to people and machines; what it finds with tokens alone; and what it never tells."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from cwiictl import oidc
from cwiictl.sandbox.azure.world import SUBSCRIPTION
from cwiictl.sandbox.gcp.world import PROJECT
from tests.examples import a_gcp_object, an_azure_object, an_object, text
from tests.journeys import planted
from tests.journeys.azure.ground import WHOLE, AzureGround
from tests.journeys.conftest import Enter
from tests.journeys.gcp import by_hand
from tests.journeys.gcp.ground import GcpGround
from tests.journeys.ground import (
    HOST,
    INGRESS,
    ISSUER,
    NAME,
    PRIVATE,
    REGION,
    Ground,
    a_key,
    kid_of,
    public_pem,
)

TOKENS = ("--exchange", "--mint")
MANY = 50


def test_a_healthy_set_is_all_right_and_nothing_is_written(ground: Ground) -> None:
    ground.keys()
    assert ground.create_all().code == 0
    before, tree = ground.clouds(), ground.tree()
    ground.fresh()

    done = ground.verify(*TOKENS)

    assert (done.code, {each["severity"] for each in done.data["findings"]}) == (0, {"ok"}), (
        done.out
    )
    checks = {
        each["check"] for each in done.data["findings"] if each["thing"] == f"issuer/{ISSUER}"
    }
    assert checks == {"discovery document", "key set", "signing key", "clock"}
    assert {
        each["check"] for each in done.data["findings"] if each["thing"] == f"aws/role/{INGRESS}"
    } == {
        "trust",
        "token of openshift-ingress-operator/ingress-operator",
    }
    assert ground.mutating() == []
    assert (ground.clouds(), ground.tree()) == (before, tree)


def test_every_thing_is_called_as_status_calls_it(ground: Ground) -> None:
    ground.keys()
    assert ground.create_all().code == 0

    things = {
        each["thing"]
        for each in ground.verify(*TOKENS).data["findings"]
        if each["check"] != "what is told"
    }

    assert things <= ground.status().things.keys()


AZURE = (
    "--cloud",
    "azure",
    "--name",
    NAME,
    "--region",
    "eastus",
    "--subscription-id",
    SUBSCRIPTION,
)
WHERE = {
    "aws": Ground.where,
    "azure": AZURE,
    "gcp": ("--cloud", "gcp", "--name", NAME, "--project", PROJECT),
}


def a_request(cloud: str, number: int) -> dict[str, Any]:
    names = f"of-{number}", f"team-{number}", "cloud", "app"
    if cloud == "azure":
        return an_azure_object(*names, roleBindings=[{"role": "Reader"}])
    return (
        an_object(*names)
        if cloud == "aws"
        else a_gcp_object(*names, predefinedRoles=["roles/dns.admin"])
    )


@pytest.mark.parametrize("cloud", WHERE)
def test_fifty_identities_at_fifty_milliseconds_a_request_take_less_than_ten_seconds(
    enter: Enter, cloud: str, record_property: Callable[[str, object], None]
) -> None:
    ground, where = enter(deploy=0.0), WHERE[cloud]
    ground.keys()
    ground.requests({f"{number}.yaml": text(a_request(cloud, number)) for number in range(MANY)})
    assert ground.cwiictl("create-all", *where, *ground.asking).code == 0
    ground.sandbox.faults.latency = 0.05
    begun = time.monotonic()

    done = ground.cwiictl("verify", *where, *ground.asking, *TOKENS, "-o", "json")

    took = time.monotonic() - begun
    record_property("told", f"{len(done.data['findings'])} findings in {took:.1f} s")
    assert (done.code, {each["severity"] for each in done.data["findings"]}) == (0, {"ok"}), (
        done.out
    )
    assert sum(each["check"].startswith("token of") for each in done.data["findings"]) == MANY
    assert took < 10


def test_it_tells_people_in_a_table_and_machines_in_json_and_junit(ground: Ground) -> None:
    ground.keys()
    assert ground.create_all().code == 0
    planted.put(ground, planted.KEYS, '{"keys": []}', CacheControl="public, max-age=86400")
    problem = f"the cluster's key {kid_of(a_key(0))} is not published: {ISSUER}/keys.json has none"

    people = ground.verify(*TOKENS, "-o", "text")
    machines = ground.verify(*TOKENS, "--junit", "found/verify.xml")

    assert people.code == machines.code == 3
    assert "  failed      signing key" in people.out
    assert "  warning     key set" in people.out
    assert problem.removeprefix("the ") in " ".join(people.out.split())
    suite = fromstring((ground.folder / "found/verify.xml").read_bytes())  # noqa: S314 - of our own program
    assert suite.attrib["failures"] == "1"
    (failure,) = suite.iter("failure")
    assert failure.attrib["message"] == problem
    assert {
        case.attrib["name"] for case in suite.iter("testcase") if case.find("skipped") is not None
    } == {each["check"] for each in machines.data["findings"] if each["severity"] == "not tried"}
    assert fromstring(ground.verify("-o", "junit").out).attrib["failures"] == "1"  # noqa: S314 - of our own program


def test_no_token_is_told_or_logged_or_kept(ground: Ground) -> None:
    """A token begins with the header of its JSON, in base64."""
    ground.keys()
    assert ground.create_all().code == 0
    files = ground.files()

    done = ground.verify(*TOKENS, "--debug")

    assert done.code == 0
    assert "AssumeRoleWithWebIdentity 200" in done.err
    assert [
        beginning
        for beginning in ("eyJ", "PRIVATE KEY", "SecretAccessKey", "SessionToken")
        if beginning in done.out + done.err
    ] == []
    assert ground.files() == files


def test_an_issuer_behind_cloudfront_is_found_where_cloudfront_has_put_it(ground: Ground) -> None:
    ground.keys()
    assert ground.create_all(PRIVATE).code == 0
    assert ground.verify(PRIVATE, *TOKENS).code == 0

    with ground.aws("cloudfront") as front:
        (item,) = front.list_distributions()["DistributionList"]["Items"]
    done = ground.verify(PRIVATE, *TOKENS, "-o", "text")
    assert f"issuer/{NAME}-oidc.cloudfront" in done.out
    assert item["DomainName"] in str(ground.tree())


def test_keys_that_only_google_has_are_looked_for_there(enter: Enter) -> None:
    where = (*WHERE["gcp"], "--key-storage-method", "pool-jwk-file")
    ground = enter()
    ground.keys()
    ground.requests({"app.yaml": text(a_request("gcp", 1))})
    assert ground.cwiictl("create-all", *where, *ground.asking).code == 0
    assert ground.cwiictl("verify", *where, *ground.asking, *TOKENS).code == 0
    keys = {"keys": [oidc.public_key(public_pem(a_key(1)), "a key").jwk]}
    by_hand.provider(
        GcpGround(ground.sandbox, ground.folder),
        mask="oidc.jwksJson",
        oidc={"jwksJson": json.dumps(keys)},
    )

    done = ground.cwiictl("verify", *where, *ground.asking, *TOKENS, "-o", "json")

    (wrong,) = (each for each in done.data["findings"] if each["severity"] == "failed")
    assert (done.code, wrong["thing"], wrong["check"]) == (
        3,
        f"gcp/provider-keys/{NAME}/{NAME}",
        "signing key",
    )
    assert wrong["problem"].startswith(
        f"the cluster's key {kid_of(a_key(0))} is not published: the provider {NAME}/{NAME} has {kid_of(a_key(1))}"
    )


def test_who_is_granted_roles_without_a_service_account_is_shown_to_google_too(
    enter: Enter,
) -> None:
    asked = {"predefinedRoles": ["roles/dns.admin"], "serviceAccount": False}
    workload = {
        "name": "billing",
        "namespace": "shop",
        "serviceAccounts": ["billing"],
        "gcp": asked,
    }
    file = {
        "apiVersion": "cwii.dev/v1",
        "kind": "Cluster",
        "name": NAME,
        "clouds": {"gcp": {"project": PROJECT}},
        "workloads": [workload],
    }
    ground = enter()
    ground.keys()
    ground.write("cluster.yaml", json.dumps(file))
    what = ("--file", "cluster.yaml", "--output-dir", "out")
    assert ground.cwiictl("create-all", *what, "--installer", "kubeadm").code == 0

    done = ground.cwiictl("verify", *what, *TOKENS, "-o", "json")

    assert done.code == 0, done.out
    assert ("gcp/principal/shop:billing", "token of shop/billing", "ok") in [
        (each["thing"], each["check"], each["severity"]) for each in done.data["findings"]
    ]


@pytest.mark.parametrize(
    ("cloud", "said"),
    [
        ("azure", "answers 409 (PublicAccessNotPermitted): it is not for everybody"),
        ("gcp", "answers 403: it is not for everybody"),
    ],
)
def test_documents_that_nobody_may_read_are_called_so_in_every_cloud(
    enter: Enter, cloud: str, said: str
) -> None:
    ground = enter(deploy=0.0)
    ground.keys()
    ground.requests({"app.yaml": text(a_request(cloud, 1))})
    assert ground.cwiictl("create-all", *WHERE[cloud], *ground.asking).code == 0
    if cloud == "azure":
        azure = AzureGround(ground.sandbox, ground.folder)
        azure.changed(
            f"{azure.listed(f'{WHOLE}/providers/Microsoft.Storage/storageAccounts')[0]['id']}",
            allowBlobPublicAccess=False,
        )
    else:
        by_hand.set_access(GcpGround(ground.sandbox, ground.folder), f"{NAME}-oidc", [])

    done = ground.cwiictl("verify", *WHERE[cloud], *ground.asking, *TOKENS, "-o", "json")

    (wrong,) = (each for each in done.data["findings"] if each["severity"] == "failed")
    assert (done.code, wrong["check"]) == (3, "discovery document")
    assert said in wrong["problem"]


def test_before_anything_is_made_all_of_it_is_missing(ground: Ground) -> None:
    ground.keys()

    for further in ((), (PRIVATE,)):
        done = ground.verify(*further, *TOKENS)

        assert done.code == 3
        assert "ok" not in {each["severity"] for each in done.data["findings"]}


def test_a_private_issuer_is_called_so(enter: Enter) -> None:
    """Where no proxy asks in our place, and so the network is ours."""
    where = (*AZURE, "--issuer-url", "https://10.1.2.3", "--issuer-exists")
    ground = enter()
    ground.keys()
    ground.requests(
        {
            "app.yaml": text(
                an_azure_object("app", "shop", "cloud", "app", roleBindings=[{"role": "Reader"}])
            )
        }
    )
    assert ground.cwiictl("create-identities", *where, *ground.asking).code == 0

    done = ground.cwiictl(
        "verify",
        *where,
        *ground.asking,
        *TOKENS,
        "-o",
        "json",
        NO_PROXY="10.1.2.3",
        no_proxy="10.1.2.3",
    )

    (wrong,) = (each for each in done.data["findings"] if each["severity"] == "failed")
    assert (done.code, wrong["thing"]) == (3, "issuer/https://10.1.2.3")
    assert wrong["problem"].startswith(
        "private issuer: https://10.1.2.3/.well-known/openid-configuration is at 10.1.2.3, which no cloud can reach"
    )


def test_what_may_not_be_read_is_told_and_is_no_verdict(ground: Ground) -> None:
    ground.keys()
    assert ground.create_all().code == 0
    ground.sandbox.faults.deny.add("iam:GetOpenIDConnectProvider")

    done = ground.verify()

    (wrong,) = (each for each in done.data["findings"] if each["severity"] == "failed")
    assert (done.code, wrong["thing"]) == (1, f"aws/oidc-provider/{HOST}")
    assert "have iam:GetOpenIDConnectProvider granted" in wrong["remedy"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--mint",), "Give --exchange too"),
        (("--kubeconfig", "admin.conf"), "Give --exchange without --mint"),
        ((*TOKENS, "--context", "prod"), "Give --exchange without --mint"),
        (
            (*TOKENS, "--public-key-file", "key.pub", "--output-dir", "elsewhere"),
            "there is no elsewhere/serviceaccount-signer.private",
        ),
    ],
)
def test_what_cannot_be_meant_is_told(ground: Ground, words: tuple[str, ...], told: str) -> None:
    ground.write("key.pub", public_pem(a_key(0)))

    done = ground.cwiictl(
        "verify",
        "--cloud",
        "aws",
        "--name",
        NAME,
        "--region",
        REGION,
        "--credentials-requests-dir",
        "requests",
        *words,
    )

    assert done.code == 2
    assert told in done.err


def test_where_nobody_asks_for_an_identity_the_issuer_and_the_trust_in_it_are_verified(
    ground: Ground,
) -> None:
    ground.keys()
    assert ground.create_all().code == 0

    done = ground.cwiictl("verify", *ground.where, "--output-dir", "out", *TOKENS, "-o", "json")

    assert done.code == 0
    told = {each["thing"] for each in done.data["findings"]}
    assert told == {
        f"issuer/{ISSUER}",
        f"aws/oidc-provider/{HOST}",
        "out/manifests/cluster-authentication-02-config.yaml",
        "out/webhook.yaml",
    }


def test_without_its_key_the_cluster_is_verified_as_far_as_can_be(ground: Ground) -> None:
    """Nobody knows here which key signs, and that is said."""
    ground.keys()
    assert ground.create_all().code == 0

    done = ground.cwiictl(
        "verify", *ground.where, "--credentials-requests-dir", "requests", "-o", "json"
    )

    assert done.code == 0
    (left,) = (each for each in done.data["findings"] if each["severity"] == "not tried")
    assert (left["check"], left["remedy"]) == (
        "signing key",
        "give its public half with --public-key-file, or its folder with --output-dir",
    )
