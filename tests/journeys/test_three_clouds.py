"""One key and one issuer for three clouds: hosted in any, trusted by all, and gone from all with one word."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from cwiictl.sandbox import Sandbox, Settings
from cwiictl.sandbox.azure.world import TENANT
from cwiictl.sandbox.gcp.world import PROJECT
from tests.examples import ACCOUNT, two_requests
from tests.journeys import asked
from tests.journeys import ground as aws
from tests.journeys.azure import ground as azure
from tests.journeys.azure.ground import AzureGround
from tests.journeys.cuts import after
from tests.journeys.gcp import ground as gcp
from tests.journeys.gcp import pod
from tests.journeys.gcp.ground import GcpGround
from tests.journeys.ground import NAME, Done, Ground, public_pem
from tests.journeys.three import CLOUDS, EACH, All, all_requests

OWN = {"aws": EACH[:2], "azure": EACH[2:6], "gcp": EACH[6:]}
WISHES = {
    "aws": ("--managed-policy-arn", asked.MANAGED),
    "azure": ("--role", "Reader"),
    "gcp": ("--predefined-role", "roles/dns.admin"),
}
MISSING = {
    "aws": f"AWS IAM has no OIDC provider of {NAME}, so nobody could assume a role that trusts it.",
    "gcp": f"There is no provider {NAME}/{NAME} of cluster {NAME} in the Google Cloud project {PROJECT}, so nobody's tokens would be believed.",
}
HOSTS = {"aws": aws.ISSUER, "azure": azure.ISSUER, "gcp": gcp.ISSUER}
HOSTING = {"aws": "aws/bucket/", "azure": "azure/storage-account/", "gcp": "gcp/bucket/"}
GROUPS = (f"azure/resource-group/{NAME}", f"azure/resource-group/{NAME}-oidc")
NOTHING: dict[str, Any] = {
    "aws": aws.NOTHING,
    "azure": {**azure.NOTHING, "groups": {}},
    "gcp": gcp.LEFT,
}


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[All]:
    with ExitStack() as stack:
        ground = All(stack.enter_context(Sandbox(Settings(deploy=0.2))), tmp_path)
        ground.requests(all_requests())
        ground.keys()
        yield ground


@pytest.mark.parametrize(
    "host", [CLOUDS[-1], *(pytest.param(each, marks=pytest.mark.soak) for each in CLOUDS[:-1])]
)
def test_one_issuer_is_trusted_by_all_shown_side_by_side_and_taken_down_with_one_word(
    ground: All, host: str
) -> None:
    done = ground.create_all("--issuer-in", host)

    assert done.code == 0, done.out
    assert [caller["cloud"] for caller in done.data["callers"]] == list(CLOUDS)
    assert [
        thing.startswith(HOSTING[host])
        for thing in done.things
        if thing.startswith(tuple(HOSTING.values()))
    ] == [True]
    assert {cloud: ground.believed(url) for cloud, url in HOSTS.items()} == {
        cloud: (cloud == host,) * 3 for cloud in CLOUDS
    }
    assert pod.may(
        ground.gcp,
        pod.access(ground.gcp, ground.token(iss=HOSTS[host], aud=["openshift"])),
        "dns.changes.create",
    ) == {"dns.changes.create"}

    ground.fresh()
    again, status = (
        ground.create_all("--issuer-in", host),
        ground.status("--issuer-in", host, "-o", "text"),
    )
    assert (again.code, again.but("as wanted")) == (0, {})
    assert status.code == 0
    heads = [line.partition(":")[0] for line in status.out.splitlines() if line.startswith(CLOUDS)]
    assert heads == list(CLOUDS)
    assert ground.mutating() == []

    gone = ground.delete("--yes")
    assert gone.code == 0, gone.out
    assert gone.but("dropped") == dict.fromkeys(GROUPS, "kept")
    assert ground.clouds() == NOTHING
    assert ground.believed(HOSTS[host]) == (False,) * 3


def test_the_secrets_of_all_lie_side_by_side(ground: All) -> None:
    """A request of each cloud may name one Secret: then it holds what all say."""
    assert ground.create_all().code == 0

    secret = yaml.safe_load((ground.folder / pod.FILES["ingress"]).read_text(encoding="utf-8"))
    assert (
        f"role_arn = arn:aws:iam::{ACCOUNT}:role/{aws.INGRESS}"
        in secret["stringData"]["credentials"]
    )
    assert secret["stringData"]["azure_tenant_id"] == TENANT
    assert pod.told(ground.gcp)["audience"] == gcp.AUDIENCE


def test_a_key_that_is_added_is_believed_everywhere_and_one_that_is_replaced_nowhere(
    ground: All,
) -> None:
    assert ground.create_all().code == 0
    ground.write("new.pub", public_pem(aws.a_key(1)))

    assert ground.create_all("--public-key-file", "new.pub", "--add-key").code == 0
    assert [ground.believed(aws.ISSUER, number) for number in (0, 1)] == [(True,) * 3] * 2
    assert ground.create_all("--public-key-file", "new.pub", "--replace-keys").code == 0
    assert [ground.believed(aws.ISSUER, number) for number in (0, 1)] == [(False,) * 3, (True,) * 3]


def test_clouds_go_one_by_one_and_the_host_keeps_the_issuer_until_the_last(ground: All) -> None:
    assert ground.create_all("--issuer-in", "gcp").code == 0
    bucket = f"gcp/bucket/{gcp.BUCKET}"

    host = ground.cwiictl("delete", *GcpGround.where, "--yes", "-o", "json")
    assert (host.code, host.but("dropped")) == (0, {bucket: "kept"}), host.out
    assert (
        "aws and azure may still trust it" in host.out
        or "aws, azure may still trust it" in host.out
    )
    assert ground.believed(gcp.ISSUER) == (True, True, False)
    for where, left in ((Ground.where, (False, True, False)), (AzureGround.where, (False,) * 3)):
        assert ground.cwiictl("delete", *where, "--yes").code == 0
        assert ground.believed(gcp.ISSUER) == left

    assert ground.delete("--yes").things == {bucket: "dropped", **dict.fromkeys(GROUPS, "kept")}
    assert ground.clouds() == NOTHING


def test_google_is_added_later_and_trusts_the_issuer_that_is_there(ground: All) -> None:
    where = ("--cloud", "aws", "--cloud", "azure", "--name", NAME, *EACH[:-2])
    assert ground.cwiictl("create-all", *where, *ground.asking).code == 0
    before = ground.clouds()
    exists = ("--issuer-url", aws.ISSUER, "--issuer-exists", *ground.asking)

    done = ground.cwiictl("create-all", *GcpGround.where, *exists, "-o", "json")

    assert done.code == 0, done.out
    assert ground.believed(aws.ISSUER) == (True,) * 3
    after_ = ground.clouds()
    assert after_["gcp"]["buckets"] == {}
    assert {**after_, "gcp": before["gcp"]} == before
    assert (
        ground.create_all().but("as wanted", "repaired") == {}
    )  # the bucket learns that Google trusts it too


def identity(ground: All, *clouds: str, further: tuple[str, ...] = ()) -> Done:
    """For one workload, in these clouds; the first is taken to host the issuer."""
    where = [word for cloud in clouds for word in ("--cloud", cloud, *OWN[cloud])]
    wishes = [word for cloud in clouds for word in WISHES[cloud]]
    return ground.cwiictl(
        "create-identity",
        *where,
        "--name",
        NAME,
        "-n",
        "shop",
        "--service-account",
        "billing",
        *wishes,
        *further,
    )


@pytest.mark.parametrize("clouds", [("aws", "gcp"), ("gcp", "aws")], ids="-".join)
@pytest.mark.parametrize("trusting", ["aws", "gcp"])
def test_a_cloud_that_does_not_trust_the_issuer_refuses_for_all_as_it_does_by_itself(
    ground: All, clouds: tuple[str, str], trusting: str
) -> None:
    """Whoever hosts: an identity there could never be used."""
    (other,) = set(clouds) - {trusting}
    assert (
        ground.cwiictl(
            "create-all", "--cloud", trusting, "--name", NAME, *OWN[trusting], *ground.asking
        ).code
        == 0
    )
    before = ground.clouds()
    ground.fresh()
    alone = identity(ground, other)

    both = identity(ground, *clouds)
    where = [word for cloud in clouds for word in ("--cloud", cloud, *OWN[cloud])]
    requested = ground.cwiictl("create-identities", *where, "--name", NAME, *ground.asking)

    assert MISSING[other] in alone.err
    assert [(done.code, done.err) for done in (both, requested)] == [(2, alone.err)] * 2
    assert ground.mutating() == []
    assert ground.clouds() == before


def test_azure_as_host_refuses_for_a_cloud_that_has_no_provider(ground: All) -> None:
    assert ground.cwiictl("create-all", *AzureGround.where, *ground.asking).code == 0
    before = ground.clouds()

    done = identity(ground, "azure", "gcp")

    assert (done.code, MISSING["gcp"] in done.err) == (2, True), done.err
    assert ground.clouds() == before


@pytest.mark.parametrize("clouds", [CLOUDS, CLOUDS[::-1]], ids="-".join)
def test_an_identity_is_made_in_all_that_trust_the_issuer_and_azure_needs_no_provider(
    ground: All, clouds: tuple[str, ...]
) -> None:
    assert ground.create_all("--issuer-in", "gcp").code == 0

    done = identity(ground, *clouds, further=("--issuer-in", "gcp", "-o", "json"))

    assert (done.code, done.but("created", "as wanted", "updated")) == (0, {}), done.out
    assert {
        thing.partition("/")[0]
        for thing, condition in done.things.items()
        if condition == "created"
    } == set(CLOUDS)


def test_a_cloud_that_nobody_asks_for_an_identity_need_not_trust_the_issuer(ground: All) -> None:
    ground.requests(two_requests())
    assert (
        ground.cwiictl("create-identity-provider", *Ground.where, "--output-dir", "out").code == 0
    )

    where = (
        "--cloud",
        "gcp",
        "--cloud",
        "aws",
        "--issuer-in",
        "aws",
        "--name",
        NAME,
        *OWN["aws"],
        *OWN["gcp"],
    )
    done = ground.cwiictl("create-identities", *where, *ground.asking)

    assert done.code == 0, done.err
    assert aws.INGRESS in ground.clouds()["aws"]["roles"]


def test_clouds_that_believe_different_issuers_are_given_no_identity_until_they_believe_one(
    ground: All,
) -> None:
    """The tokens of a cluster are of one issuer, and would be worth something in one of them."""
    for cloud in ("aws", "gcp"):
        where = ("--cloud", cloud, "--name", NAME, *OWN[cloud])
        ground.keys(cloud)
        assert ground.cwiictl("create-identity-provider", *where, "--output-dir", cloud).code == 0
    ground.fresh()

    done = identity(ground, "gcp", "aws")

    assert done.code == 2
    assert (
        f"Google Cloud says that the cluster's issuer is {gcp.ISSUER}, and AWS believes {aws.ISSUER}.\n"
        in done.err
    )
    assert ground.mutating() == []

    it = ("--issuer-url", gcp.ISSUER, "--issuer-exists")
    where = ("--cloud", "aws", "--name", NAME, *OWN["aws"])
    moved = (
        "--move-issuer",
        "--public-key-file",
        "gcp/serviceaccount-signer.public",
        "--output-dir",
        "out",
    )
    assert ground.cwiictl("create-identity-provider", *where, *it, *moved).code == 0
    assert identity(ground, "gcp", "aws", further=it).code == 0


def test_keys_that_only_google_has_are_refused_for_others_before_the_first_call(
    ground: All,
) -> None:
    done = ground.create_all(
        "--issuer-in", "gcp", "--key-storage-method", "pool-jwk-file", "-o", "text"
    )

    assert done.code == 2, done.out
    assert "aws, azure could not read the keys of --key-storage-method pool-jwk-file" in done.err
    assert ground.mutating() == []
    both = ground.create_all("--issuer-in", "aws", "--key-storage-method", "pool-jwk-file")
    assert both.code == 0, both.out
    assert ground.believed(aws.ISSUER) == (True,) * 3
    assert "jwksJson" in ground.gcp.clouds()["pools"][NAME]["providers"][NAME]["oidc"]


@pytest.mark.parametrize("writes", after(range(4, 25, 4)))
def test_killed_in_the_middle_all_are_finished_by_the_next_run_or_taken_down(
    ground: All, writes: int
) -> None:
    ground.killed(writes, "create-all", *ground.where, *ground.asking, "--issuer-in", "gcp")

    done = ground.create_all("--issuer-in", "gcp")

    assert done.code == 0, done.out
    assert ground.believed(gcp.ISSUER) == (True,) * 3
    assert ground.delete("--yes").code == 0
    assert ground.clouds() == NOTHING
