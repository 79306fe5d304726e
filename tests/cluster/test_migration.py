"""A cluster that exists: trusted by the keys that it has, and brought from an issuer that nobody outside can read to another, without a pod that notices."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
import yaml

from cwiictl import files
from cwiictl.installers import kubeadm
from cwiictl.model import Handover
from cwiictl.sandbox import Sandbox
from cwiictl.sandbox import Settings as Clouds
from cwiictl.sandbox.azure.world import SUBSCRIPTION
from cwiictl.sandbox.gcp.world import PROJECT
from tests.cluster.conftest import skipped_where_missing, started
from tests.cluster.installers import command_lines
from tests.cluster.kube.client import Client, Refused
from tests.cluster.kube.cluster import Cluster, Settings
from tests.cluster.kube.pki import public_half, signing_key, write
from tests.cluster.kube.server import Server
from tests.cluster.objects import ACCOUNTS, named
from tests.examples import ACCOUNT
from tests.journeys.azure.ground import AzureGround
from tests.journeys.gcp import pod
from tests.journeys.gcp.ground import GcpGround
from tests.journeys.ground import Ground
from tests.journeys.test_tokens import assumed, refusal

pytestmark = pytest.mark.soak
ISSUER = "https://prod-oidc.s3.us-east-1.amazonaws.com"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/prod-default-billing"
BILLING = "system:serviceaccount:default:billing"
AWS = {"aws": {"region": "us-east-1"}}
AZURE = {"azure": {"region": "eastus", "subscriptionId": SUBSCRIPTION}}
GOOGLE = {"gcp": {"project": PROJECT, "keyStorageMethod": "pool-jwk-file"}}
ASKS = {
    "aws": {"managedPolicyArns": ["arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"]},
    "azure": {
        "roleAssignments": [
            {"role": "Reader", "scopes": [f"/subscriptions/{SUBSCRIPTION}/resourceGroups/prod"]}
        ]
    },
    "gcp": {"predefinedRoles": ["roles/dns.admin"], "serviceAccount": False},
}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """It takes the tokens of a key that it does not sign with any more, as in the middle of a rotation."""
    other = write(tmp_path / "other.pub", public_half(signing_key()))
    private = signing_key()
    own = write(tmp_path / "own.pub", public_half(private))
    flags = (f"--service-account-key-file={other}", f"--service-account-key-file={own}")
    with started(Settings(signing_key=private, flags=flags)) as cluster:
        for account in ("default", "billing"):
            cluster.admin.create(ACCOUNTS, named(account))
        yield cluster


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Clouds()) as sandbox:
        yield sandbox


def token(admin: Client, *audiences: str) -> str:
    spec = {"audiences": list(audiences), "expirationSeconds": 3600}
    return admin.create(f"{ACCOUNTS}/billing/token", {"spec": spec})["status"]["token"]


def who(cluster: Cluster, token: str, server: int = 0) -> str:
    kind = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    return cluster.reach.bearer(token, server).create(
        "/apis/authentication.k8s.io/v1/selfsubjectreviews", kind
    )["status"]["userInfo"]["username"]


def described(ground: Ground, clouds: dict[str, Any], output: str = "out") -> None:
    (cloud,) = clouds
    billing = {
        "name": "billing",
        "namespace": "default",
        "serviceAccounts": ["billing"],
        cloud: ASKS[cloud],
    }
    head = {
        "apiVersion": "cwii.dev/v1",
        "kind": "Cluster",
        "name": "prod",
        "outputDir": output,
        "installer": ["kubeadm"],
    }
    ground.write("cluster.yaml", yaml.safe_dump({**head, "clouds": clouds, "workloads": [billing]}))


def run(ground: Ground, cluster: Cluster, command: str = "create-all") -> Any:
    return ground.cwiictl(
        command,
        "--file",
        "cluster.yaml",
        "--issuer-from-cluster",
        "--kubeconfig",
        cluster.kubeconfig,
        "-o",
        "json",
    )


def agree(cluster: Cluster) -> bool:
    """Whether each API server takes what each signs."""
    tokens = [token(admin) for admin in cluster.admins]
    try:
        return {
            who(cluster, one, server) for one in tokens for server in range(len(cluster.servers))
        } == {BILLING}
    except Refused as e:
        if e.status != 401:
            raise
        return False


def restarted(cluster: Cluster, flags: list[str]) -> None:
    (server,) = cluster.servers
    keys = [
        flag for flag in cluster.settings.flags if flag.startswith("--service-account-key-file")
    ]
    server.stop()
    server.start([*keys, *flags])
    server.wait()


def test_its_keys_are_published_at_a_new_issuer_and_no_pod_notices(
    cluster: Cluster, sandbox: Sandbox, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    ground = Ground(sandbox, tmp_path / "work")
    described(ground, AWS)
    before, before_here = token(cluster.admin, "sts.amazonaws.com"), token(cluster.admin)

    done = run(ground, cluster)
    assert done.code == 0, done.out
    assert not any(b"PRIVATE" in text for _, text in ground.tree().values())
    with ground.aws("s3") as s3:
        published = yaml.safe_load(
            s3.get_object(Bucket="prod-oidc", Key="keys.json")["Body"].read()
        )["keys"]
    assert {key["kid"] for key in published} == {
        key["kid"] for key in cluster.admin.get("/openid/v1/jwks")["keys"]
    }
    assert len(published) == 2
    assert refusal(ground, before, ROLE) == "InvalidIdentityToken"

    with skipped_where_missing():
        flags = command_lines.lines(
            "kubeadm",
            {path: text for path, (_, text) in ground.tree().items()},
            tmp_path / "work" / "out",
        )[kubeadm.NEW]
    restarted(cluster, flags)
    after, after_here = token(cluster.admin, "sts.amazonaws.com"), token(cluster.admin)

    assert [who(cluster, one) for one in (before_here, after_here)] == [BILLING, BILLING]
    assert jwt.decode(after, options={"verify_signature": False})["iss"] == ISSUER
    assert assumed(ground, after, ROLE)["Credentials"]
    assert refusal(ground, before, ROLE) == "InvalidIdentityToken"

    files = ground.times()
    again = run(ground, cluster)
    assert (again.but("as wanted"), again.data["written"]) == ({}, [])
    assert {path: files[path] for path in ground.times()} == files
    assert run(ground, cluster, "status").code == 0


def test_another_cloud_trusts_it_as_it_is_once_clouds_can_read_it(
    cluster: Cluster, sandbox: Sandbox, tmp_path: Path
) -> None:
    """Of what another has published nothing is written, nor anything for the installer: the cluster signs for it already."""
    (tmp_path / "work").mkdir()
    ground = AzureGround(sandbox, tmp_path / "work")
    described(ground, AWS)
    assert run(ground, cluster).code == 0
    restarted(
        cluster,
        [
            f"--service-account-issuer={ISSUER}",
            f"--service-account-issuer={command_lines.IN_CLUSTER}",
        ],
    )
    described(ground, AZURE, "azure")
    ground.fresh()

    done = run(ground, cluster)

    assert done.code == 0, done.out
    identity = ground.identity("prod-default-billing").replace("/demo-oidc/", "/prod-oidc/")
    (credential,) = ground.listed(f"{identity}/federatedIdentityCredentials")
    assert credential["properties"]["issuer"] == ISSUER
    assert set(ground.tree("azure")) == {
        ".cwiictl-cluster",
        "webhook.yaml",
        "kubeadm/serviceaccounts.yaml",
    }
    assert not any(action.startswith("s3:") for action in ground.mutating())


def test_google_is_given_the_keys_of_an_issuer_that_nobody_can_read(
    cluster: Cluster, sandbox: Sandbox, tmp_path: Path
) -> None:
    """And the cluster stays as it is."""
    (tmp_path / "work").mkdir()
    ground = GcpGround(sandbox, tmp_path / "work")
    described(ground, GOOGLE)

    done = run(ground, cluster)

    assert done.code == 0, done.out
    (provider,) = ground.providers("prod")
    assert provider["oidc"]["issuerUri"] == command_lines.IN_CLUSTER
    assert set(ground.tree()) == {
        ".cwiictl-cluster",
        "webhook.yaml",
        "kubeadm/serviceaccounts.yaml",
        "kubeadm/credentials/default-billing.json",
    }
    access = pod.access(
        ground,
        token(cluster.admin, "sts.googleapis.com"),
        "out/kubeadm/credentials/default-billing.json",
    )
    assert pod.may(ground, access, "dns.changes.create") == {"dns.changes.create"}
    assert run(ground, cluster).but("as wanted") == {}


def test_in_two_passes_no_api_server_refuses_what_another_signs(tmp_path: Path) -> None:
    """As README.txt has it for several: each is told first whom it is to believe, and then whom it is to speak for. In one pass they would disagree."""
    handover = Handover(
        ISSUER,
        f"{ISSUER}/keys.json",
        former=command_lines.IN_CLUSTER,
        audiences=(command_lines.IN_CLUSTER,),
    )
    found = kubeadm.render(handover, files.template)
    files.write(tmp_path, found)
    passes = (
        found
        | {path.replace("/first/", "/"): text for path, text in found.items() if "/first/" in path},
        found,
    )
    with skipped_where_missing():
        first_pass, second_pass = (
            command_lines.lines("kubeadm", each, tmp_path)[kubeadm.NEW] for each in passes
        )
    before = [
        f"--{flag}={command_lines.IN_CLUSTER}"
        for flag in ("api-audiences", "service-account-issuer")
    ]
    with started(Settings(servers=2)) as cluster:
        cluster.admin.create(ACCOUNTS, named("billing"))
        first, second = cluster.servers

        def told(server: Server, flags: list[str]) -> bool:
            server.stop()
            server.start(flags)
            server.wait()
            return agree(cluster)

        assert [told(server, before) for server in (first, second)][1]
        assert not told(first, second_pass)
        assert told(first, before)

        assert [told(server, first_pass) for server in (first, second)] == [True, True]
        assert [told(server, second_pass) for server in (first, second)] == [True, True]
        assert (
            jwt.decode(token(cluster.admin), options={"verify_signature": False})["iss"] == ISSUER
        )
