"""A rotation from its first stage to its last, on two API servers of one cluster that are switched one after the other, and in the sandbox."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import jwt
import pytest

from cwiictl.actions.running import connecting
from cwiictl.errors import BadInput
from tests.cluster.conftest import skipped_where_missing
from tests.cluster.kube.missing import Missing
from tests.cluster.leases import leased
from tests.cluster.objects import PODS, SECRETS, named
from tests.cluster.rotating import HOST, OLD, SLICES, Rotating, reachable, rotating
from tests.examples import two_azure_requests, two_gcp_requests, two_requests
from tests.journeys.azure.ground import AzureGround
from tests.journeys.gcp.ground import GcpGround
from tests.journeys.ground import BUCKET, ISSUER, Done, Ground, kid_of, private_pem, public_pem
from tests.journeys.turns import PAIR

pytestmark = pytest.mark.timeout(600)
KEY_SET = f"aws/key-set/{BUCKET}/keys.json"
ASKING = ("--credentials-requests-dir", "requests")
SOAK = ("--soak", "4s")
DAY = 86400
ELSEWHERE: tuple[tuple[str, type[Ground], tuple[str, ...], dict[str, str]], ...] = (
    ("front", Ground, ("--create-private-s3-bucket",), two_requests()),
    ("mine", Ground, ("--issuer-url", f"https://{HOST}"), two_requests()),
    ("blobs", AzureGround, (), two_azure_requests()),
    ("store", GcpGround, (), two_gcp_requests()),
    ("held", GcpGround, ("--key-storage-method", "pool-jwk-file"), two_gcp_requests()),
)


def test_a_machine_whose_addresses_the_sandbox_refuses_has_none() -> None:
    assert reachable(["127.0.0.1", "169.254.7.7", "10.1.2.3", "10.1.2.4"]) == "10.1.2.3"
    with pytest.raises(Missing, match="has no private address"):
        reachable(["127.0.0.1", "169.254.7.7"])


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Rotating]:
    with skipped_where_missing(), rotating(tmp_path) as found:
        assert found.ground.create_all().code == 0
        found.ground.fresh()
        for name, kind, how, requests in ELSEWHERE:
            found.others.append(found.beside(name, kind, how, requests))
        yield found


def published(running: Rotating) -> list[str]:
    return [
        key["kid"]
        for key in json.loads(
            running.ground.clouds()["buckets"][BUCKET]["objects"]["keys.json"]["body"]
        )["keys"]
    ]


def servers(done: Done) -> list[str]:
    assert "things" in done.data, done.out
    return [how for thing, how in done.things.items() if thing.startswith("k8s/api-server/")]


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Rotating]:
    """One API server, and one cloud."""
    with skipped_where_missing(), rotating(tmp_path, servers=1) as found:
        assert found.ground.create_all().code == 0
        yield found


def test_killed_when_it_has_written_each_stage_is_reached_by_the_next_run(alone: Rotating) -> None:
    at_once = ("--soak", "0s")
    alone.reached("add")
    for stage, more in (("accept", ()), ("sign", (*ASKING, *at_once))):
        assert alone.rotate(stage, *more).code == 3
        alone.bring(stage, 0)
        alone.reached(stage, *more)
    alone.reached("unpublish", *at_once, later=DAY)
    assert alone.rotate("forget", later=DAY).code == 3
    alone.bring("forget", 0)
    alone.reached("forget", later=DAY)
    over = alone.rotate("forget", later=DAY)

    assert "The cluster's pair is the one in out/after-" in over.out
    assert published(alone) == [jwt.get_unverified_header(alone.token(0))["kid"]] != [kid_of(OLD)]


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[Rotating]:
    """Two API servers, of which the cluster names one."""
    with (
        skipped_where_missing(),
        rotating(tmp_path) as found,
        leased(found.cluster.admin, "control-2"),
    ):
        found.cluster.admin.delete(f"{SLICES}/kubernetes-1")
        assert found.ground.create_all().code == 0
        yield found


def test_behind_one_address_each_api_server_is_asked_at_the_one_that_its_administrator_gives(
    hosted: Rotating,
) -> None:
    first, second = (
        ("--api-server", f"https://{hosted.address}:{server.place.port}")
        for server in hosted.cluster.servers
    )
    assert hosted.rotate("add", *first).code == 0

    for given, namer in (
        ((), "the Service kubernetes"),
        (first, "--api-server"),
        ((*first, *first), "--api-server"),
    ):
        refused = hosted.rotate("accept", *given)
        assert refused.code == 2, refused.out
        assert f"and {namer} names 1, so not each could be asked" in refused.out
        assert "give each one's own as --api-server URL" in refused.out

    assert servers(hosted.rotate("accept", *first, *second)) == ["incomplete"] * 2
    for number, found in enumerate((["as wanted", "incomplete"], ["as wanted"] * 2)):
        hosted.bring("accept", number)
        assert sorted(servers(hosted.rotate("accept", *first, *second))) == found
    assert hosted.rotate("sign", *ASKING, "--soak", "0s", *first, *second).code == 3
    (hosted.pki(1) / "sa.pub").write_bytes(public_pem(OLD))
    hosted.restart(1)
    assert (
        f"the API server {second[1].removeprefix('https://')} is not where accept had brought it"
        in hosted.rotate("sign", *ASKING, *first, *second).out
    )


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1:6443",
        "10.0.0.1:6443",
        "https://10.0.0.1:6443/clusters/c",
        "https://me@10.0.0.1",
        "https://10.0.0.1:api",
    ],
)
def test_what_is_no_address_of_an_api_server_is_refused_before_any_is_asked(url: str) -> None:
    with pytest.raises(BadInput, match=r"is not the address of an API server") as refused:
        connecting(None, None, [url])

    assert "https://10.0.0.11:6443" in refused.value.remedy


@pytest.mark.soak
def test_a_key_follows_another_and_nobody_is_refused_on_the_way(running: Rotating) -> None:
    """Wherever keys are published. Each stage that is reached is killed when it has said so, and run again."""
    before = [running.token(number) for number in (0, 1)]

    for each in running.others:
        each.reached("add")
    assert running.rotate("add").code == 0
    accepted(running)
    signed(running, before)
    a_legacy_secret(running, before[0])
    unpublished(running)
    forgotten(running, before)

    again = running.rotate("add", "--dry-run")
    assert (again.code, "that has been rotated away" in again.out) == (2, True)
    assert running.rotate("add", "--dry-run", "--public-key-file", f"{PAIR}.public").code == 0, (
        "the next one begins where this one has ended"
    )


def unasked(running: Rotating, stage: str, *more: str, later: int = 0) -> None:
    """Nothing is handed out or taken away where an API server runs that could not be asked."""
    with leased(running.cluster.admin, "control-2"), leased(running.cluster.admin, "control-3"):
        refused = running.rotate(stage, *more, later=later)
    assert refused.code == 2, refused.out
    assert "give each one's own as --api-server URL" in refused.out
    assert "3 renew their Leases (control-2, control-3, " in refused.out


def accepted(running: Rotating) -> None:
    """Every server is asked at its own address."""
    unasked(running, "accept")
    waiting = running.rotate("accept")
    assert (waiting.code, servers(waiting)) == (3, ["incomplete"] * 2), waiting.out
    assert "do what README.txt says" in waiting.out
    assert (running.ground.folder / "out/kubeadm/rotation/accept/sa.pub").read_text().count(
        "BEGIN PUBLIC KEY"
    ) == 2
    again = running.rotate("accept")
    assert (again.code, again.data["written"]) == (3, [])
    running.bring("accept", 0)
    assert sorted(servers(running.rotate("accept"))) == ["as wanted", "incomplete"]
    early = running.rotate("sign", *ASKING, *SOAK)
    assert (early.code, "sign is not due" in early.out) == (2, True)
    running.bring("accept", 1)
    everywhere(running, "accept")
    told = running.ground.status("--kubeconfig", str(running.cluster.kubeconfig))
    said = [
        thing["problem"]
        for thing in told.data["things"]
        if thing["thing"].startswith("k8s/api-server/")
    ]
    assert len(said) == 2
    assert all(
        each.startswith(f"signs as {ISSUER} with {kid_of(OLD)[:12]}..., accepts ")
        and each.count("...") == 3
        for each in said
    )
    assert "stands at accept since" in told.out


def signed(running: Rotating, before: list[str]) -> None:
    """No private key is handed out before the clouds take what it signs, and the soak has passed. Then nobody minds who has signed."""
    assert running.rotate("sign", *ASKING, *SOAK, "--dry-run").code == 3
    unasked(running, "sign", *ASKING, *SOAK)
    assert not (running.ground.folder / "out/kubeadm/rotation/sign").exists()
    waiting = running.rotate("sign", *ASKING, *SOAK)
    assert (waiting.code, servers(waiting)) == (3, ["incomplete"] * 2), waiting.out
    private = running.ground.folder / "out/kubeadm/rotation/sign/sa.key"
    assert private.stat().st_mode & 0o777 == 0o600
    assert private.read_bytes() == (running.ground.folder / f"{PAIR}.private").read_bytes()
    assert "PRIVATE" not in waiting.out + waiting.err
    for each in running.others:
        assert each.rotate("sign", *ASKING, *SOAK).code == 3
    running.bring("sign", 0)
    mixed = [running.token(number) for number in (0, 1)]
    assert [jwt.get_unverified_header(token)["kid"] == kid_of(OLD) for token in mixed] == [
        False,
        True,
    ]
    assert all(running.takes(number, token) for number in (0, 1) for token in (*before, *mixed))
    assert sorted(servers(running.rotate("sign", *ASKING, *SOAK))) == ["as wanted", "incomplete"]
    running.bring("sign", 1)
    everywhere(running, "sign", *ASKING, *SOAK)
    fallen_back(running)


def fallen_back(running: Rotating) -> None:
    """What it signs with the old key meanwhile lives on from then, and so all that is counted from when none does begins anew."""
    (running.pki(1) / "sa.key").write_bytes(private_pem(OLD))
    running.restart(1)
    refused = running.rotate("unpublish", *SOAK, later=DAY)
    assert (refused.code, "run rotate-keys sign, and bring it there again" in refused.out) == (
        2,
        True,
    ), refused.out
    assert sorted(servers(running.rotate("sign", *ASKING, *SOAK))) == ["as wanted", "incomplete"]
    running.bring("sign", 1)
    unknown = running.rotate("unpublish", *SOAK, later=DAY)
    assert (unknown.code, "since when none does any more is not known" in unknown.out) == (
        2,
        True,
    ), unknown.out
    assert running.rotate("sign", *ASKING, *SOAK, later=100).code == 0
    early = running.rotate("unpublish", *SOAK, later=200)
    assert (early.code, "the last API server was seen to sign with the new key 1" in early.out) == (
        2,
        True,
    ), early.out


def unpublished(running: Rotating) -> None:
    """Not before the last token of the old key has expired, whatever Secrets hold."""
    a_pod(running, DAY)
    early = running.rotate("unpublish", *SOAK, later=4000)
    assert early.code == 2, early.out
    assert (
        "default/patient has tokens that live 86400 seconds, and clouds may keep what they read for 4 more"
        in early.out
    )
    forced = running.rotate("unpublish", *SOAK, "--force", "--dry-run", later=4000)
    assert forced.code == 0, forced.out
    assert (
        "By --force: clouds refuse tokens of the old key from now on; good yet are default/patient (volume token, for sts.amazonaws.com"
        in forced.out
    )
    unasked(running, "unpublish", *SOAK, later=DAY + 300)
    assert kid_of(OLD) in published(running)
    everywhere(running, "unpublish", *SOAK, later=DAY + 300)
    assert kid_of(OLD) not in published(running)


def forgotten(running: Rotating, before: list[str]) -> None:
    """Not while a Secret has a token of the old key."""
    refused = running.rotate("forget", later=DAY + 300)
    assert refused.code == 2, refused.out
    assert (
        "has signed the token of the Secret default/legacy, which would be refused" in refused.out
    )
    assert all(running.takes(number, token) for number in (0, 1) for token in before)
    forced = running.rotate("forget", "--force", "--dry-run", later=DAY + 300)
    assert (forced.code, "By --force: the old key" in forced.out) == (3, True), forced.out
    unasked(running, "forget", "--force", later=DAY + 300)
    running.cluster.admin.delete(f"{SECRETS}/legacy")
    waiting = running.rotate("forget", later=DAY + 300)
    assert (waiting.code, servers(waiting)) == (3, ["incomplete"] * 2), waiting.out
    running.bring("forget", 0)
    assert sorted(servers(running.rotate("forget", later=DAY + 300))) == ["as wanted", "incomplete"]
    running.bring("forget", 1)
    everywhere(running, "forget", later=DAY + 300)
    assert not any(running.takes(number, token) for number in (0, 1) for token in before)
    assert all(running.takes(number, running.token(1 - number)) for number in (0, 1))


def everywhere(running: Rotating, stage: str, *more: str, later: int = 0) -> None:
    for each in (running, *running.others):
        each.reached(stage, *more, later=later)


def a_pod(running: Rotating, seconds: int) -> None:
    source = {
        "serviceAccountToken": {
            "audience": "sts.amazonaws.com",
            "expirationSeconds": seconds,
            "path": "token",
        }
    }
    volume = {"name": "token", "projected": {"sources": [source]}}
    running.cluster.admin.create(
        PODS,
        named(
            "patient", spec={"containers": [{"name": "main", "image": "any"}], "volumes": [volume]}
        ),
    )


def a_legacy_secret(running: Rotating, token: str) -> None:
    """As the controller manager would have made it, in the years before tokens expired."""
    about = {"name": "legacy", "annotations": {"kubernetes.io/service-account.name": "default"}}
    body = {
        "metadata": about,
        "type": "kubernetes.io/service-account-token",
        "data": {"token": base64.b64encode(token.encode()).decode()},
    }
    running.cluster.admin.create(SECRETS, body)
    assert jwt.get_unverified_header(token)["kid"] == kid_of(OLD)
