"""The tests' own ground: the API server is as strict as kubeadm's, and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from tests.cluster.conftest import started
from tests.cluster.kube.client import Client, Refused
from tests.cluster.kube.cluster import Cluster, Settings
from tests.cluster.kube.pki import public_half, signing_key
from tests.cluster.kube.reach import Reach
from tests.cluster.objects import ACCOUNTS, CONFIGS, PODS, SECRETS, named
from tests.cluster.traces import processes_in, seen_within

SCRIPT = Path(__file__).parents[2] / "scripts" / "cluster"
ISSUER = "https://oidc.example.org"


def readable(client: Client, path: str) -> bool:
    try:
        return client.exists(path)
    except Refused:
        return False


def token(admin: Client, account: str, audience: str, seconds: int = 600) -> str:
    body = {"spec": {"audiences": [audience], "expirationSeconds": seconds}}
    return admin.create(f"{ACCOUNTS}/{account}/token", body)["status"]["token"]


@pytest.fixture(scope="module")
def pair() -> Iterator[Cluster]:
    """Two API servers, with a key and an issuer that are not theirs by default."""
    with started(
        Settings(
            servers=2,
            signing_key=signing_key(),
            flags=(f"--service-account-issuer={ISSUER}", f"--api-audiences={ISSUER}"),
        )
    ) as cluster:
        yield cluster


@pytest.mark.soak
def test_a_service_account_gets_a_token_of_the_given_key_and_issuer(pair: Cluster) -> None:
    pair.admin.create(ACCOUNTS, named("billing"))
    given = pair.settings.signing_key
    assert given
    key: Any = load_pem_public_key(public_half(given))

    claims = jwt.decode(
        token(pair.admin, "billing", "sts.amazonaws.com"),
        key,
        algorithms=["RS256"],
        audience="sts.amazonaws.com",
        issuer=ISSUER,
    )

    assert claims["sub"] == "system:serviceaccount:default:billing"
    assert pair.admin.get("/.well-known/openid-configuration")["issuer"] == ISSUER


def test_two_api_servers_see_the_same_objects(reach: Reach) -> None:
    one, two = reach.admins

    one.create(CONFIGS, named("shared", data={"a": "1"}))
    two.patch(f"{CONFIGS}/shared", {"data": {"b": "2"}})

    assert one.get(f"{CONFIGS}/shared")["data"] == {"a": "1", "b": "2"}


@pytest.mark.soak
def test_one_api_server_stops_and_starts_with_other_flags_while_the_other_serves(
    pair: Cluster,
) -> None:
    first, second = pair.servers

    first.stop()
    assert not first.ready()
    assert second.ready()
    first.start([*pair.settings.flags, "--service-account-max-token-expiration=2h"])
    first.wait()

    pair.admin.create(ACCOUNTS, named("patient"))
    claims = jwt.decode(
        token(pair.admin, "patient", "sts.amazonaws.com", 20000),
        options={"verify_signature": False},
    )
    assert claims["exp"] - claims["iat"] == 7200


def test_a_kubelet_may_not_read_the_secret_of_another_nodes_pod(reach: Reach) -> None:
    for node in ("here", "there"):
        reach.client(f"system:node:{node}", "system:nodes").create("/api/v1/nodes", named(node))
        reach.admin.create(SECRETS, named(f"of-{node}"))
        reach.admin.create(ACCOUNTS, named(f"on-{node}"))
        volumes = [{"name": "secret", "secret": {"secretName": f"of-{node}"}}]
        spec = {
            "serviceAccountName": f"on-{node}",
            "nodeName": node,
            "volumes": volumes,
            "containers": [{"name": "c", "image": "c"}],
        }
        reach.admin.create(PODS, named(f"on-{node}", spec=spec))
    kubelet = reach.client("system:node:here", "system:nodes")

    assert seen_within(5, lambda: readable(kubelet, f"{SECRETS}/of-here"))
    with pytest.raises(
        Refused, match="no relationship found between node 'here' and this object"
    ) as refused:
        kubelet.get(f"{SECRETS}/of-there")

    assert refused.value.status == 403


def test_a_kubelet_may_not_call_itself_another_node(reach: Reach) -> None:
    with pytest.raises(Refused, match=r"node .one. is not allowed to modify node .two."):
        reach.client("system:node:one", "system:nodes").create("/api/v1/nodes", named("two"))


def test_a_pod_needs_its_service_account(reach: Reach) -> None:
    with pytest.raises(Refused, match='serviceaccount "nobody" not found'):
        reach.admin.create(
            PODS,
            named(
                "a",
                spec={"serviceAccountName": "nobody", "containers": [{"name": "c", "image": "c"}]},
            ),
        )


def test_who_has_neither_certificate_nor_token_may_do_nothing(reach: Reach) -> None:
    with pytest.raises(Refused) as refused:
        reach.bearer("").get(SECRETS)

    assert refused.value.status == 403


def test_every_request_is_in_the_audit_log_and_in_the_metrics(reach: Reach) -> None:
    for _ in range(3):
        assert not reach.admin.exists(f"{CONFIGS}/counted")

    def counted() -> int:
        return sum(
            seen["requestURI"] == f"{CONFIGS}/counted" and seen["verb"] == "get"
            for seen in reach.requests()
        )

    assert seen_within(5, lambda: counted() == 3)
    assert 'apiserver_request_total{code="404"' in reach.admin.text("/metrics")


@pytest.mark.soak
def test_what_is_stopped_comes_back_with_all_it_had(pair: Cluster) -> None:
    pair.admin.create(CONFIGS, named("kept", data={"a": "1"}))

    pair.servers[0].kill()
    with pytest.raises(OSError, match="refused"):
        pair.admin.get(f"{CONFIGS}/kept")
    pair.servers[0].start(pair.settings.flags)
    pair.servers[0].wait()

    assert pair.admin.get(f"{CONFIGS}/kept")["data"] == {"a": "1"}


@pytest.mark.soak
def test_nothing_is_left_of_a_cluster_that_has_ended() -> None:
    with started(Settings()) as cluster:
        folder = cluster.folder
        assert processes_in(folder)

    assert not folder.exists()
    assert not processes_in(folder)


@pytest.mark.soak
@pytest.mark.usefixtures("reach")
def test_nothing_is_left_when_whoever_started_it_is_killed() -> None:
    program = "from tests.cluster.kube.cluster import Cluster\nwith Cluster() as cluster:\n    print(cluster.folder, flush=True)\n    input()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout
        folder = Path(owner.stdout.readline().strip())
        assert processes_in(folder)
        owner.kill()

    assert seen_within(20, lambda: not folder.exists() and not processes_in(folder))


@pytest.mark.usefixtures("reach")
def test_by_hand_a_command_runs_with_the_kubeconfig_and_its_exit_code_is_told() -> None:
    command = ["sh", "-c", 'grep -c "127.0.0.1" "$KUBECONFIG"; exit 7']

    done = subprocess.run(
        [SCRIPT, "run", "--", *command], capture_output=True, text=True, timeout=120, check=False
    )

    assert (done.returncode, done.stdout) == (7, "1\n"), done.stderr


def test_by_hand_an_image_without_a_node_for_it_is_refused(tmp_path: Path) -> None:
    (image := tmp_path / "image.tar").touch()

    done = subprocess.run(
        [SCRIPT, "--image", image], capture_output=True, text=True, timeout=60, check=False
    )

    assert (done.returncode, done.stderr) == (
        2,
        "scripts/cluster: `--image` is for a node: scripts/cluster node --image FILE\n",
    )


def test_by_hand_what_is_missing_is_told_in_a_sentence(tmp_path: Path) -> None:
    environment = {**os.environ, "KUBEBUILDER_ASSETS": str(tmp_path)}

    done = subprocess.run(
        [SCRIPT], env=environment, capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 2
    assert (
        done.stderr
        == f"scripts/cluster: KUBEBUILDER_ASSETS names {tmp_path}, which has no kube-apiserver and no etcd: put it there, or unset it to have all built\n"
    )
