"""The same chain where no node can run: a real API server and the real webhook, real SDKs, and a stand-in for what the kubelet does for a token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cwiictl.issuer.stores.mint import Mint
from cwiictl.sandbox.azure.world import TENANT
from tests.cluster.calling import called
from tests.cluster.conftest import started
from tests.cluster.kube.client import Object
from tests.cluster.kube.cluster import Cluster
from tests.cluster.kube.cluster import Settings as ClusterSettings
from tests.cluster.space import Space
from tests.cluster.webhook import Line, running
from tests.federation import kubelet
from tests.federation.world import ASKING, WORDS, WORKLOADS, World

LINES: tuple[Line, ...] = (
    ("cwii", "--aws-default-region=us-east-1"),
    ("eks", "--aws-default-region=us-east-1"),
    ("gcpwif",),
    ("azwi", f"--tenant-id={TENANT}"),
)


@pytest.fixture(scope="module")
def cluster(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """With the webhook called for the namespace of each dialect, and the ServiceAccounts that create-all has annotated."""
    with ExitStack() as stack:
        cluster = stack.enter_context(
            started(ClusterSettings(flags=world.flags, signing_key=world.key))
        )
        webhook = stack.enter_context(
            running(cluster.reach, tmp_path_factory.mktemp("webhook"), *LINES)
        )
        for dialect in WORDS:
            Space(cluster.reach, hook=stack.enter_context(called(webhook, dialect)), name=dialect)
        for account in world.accounts:
            cluster.admin.create(
                f"/api/v1/namespaces/{account['metadata']['namespace']}/serviceaccounts", account
            )
        yield cluster


@pytest.mark.parametrize(("namespace", "account"), list(WORKLOADS))
def test_a_pod_is_who_its_service_account_was_promised_to_be(
    cluster: Cluster, world: World, tmp_path: Path, namespace: str, account: str
) -> None:
    clouds, pod = WORKLOADS[namespace, account], admitted(cluster, namespace, account)

    said = kubelet.run(
        pod, partial(kubelet.requested, cluster.admin), tmp_path, world.outside() | ASKING
    )

    assert {cloud: line.get("error") for cloud, line in said.items()} == dict.fromkeys(clouds)
    assert {line["answer"] for line in said.values()} == {200}


@pytest.mark.parametrize(
    ("forged", "told"),
    [
        (
            {"sub": "mallory"},
            {
                "aws": "AccessDenied",
                "azure": "AADSTS700213",
                "gcp": "iam.serviceAccounts.getAccessToken",
            },
        ),
        (
            {"aud": "vault"},
            {
                "aws": "InvalidIdentityToken",
                "azure": "AADSTS700212",
                "gcp": "does not match the expected audience",
            },
        ),
        (
            {"iss": "https://another.example.org"},
            {
                "aws": "InvalidIdentityToken",
                "azure": "AADSTS700211",
                "gcp": "does not match the expected ones",
            },
        ),
        (
            {"exp": -60},
            {"aws": "ExpiredToken", "azure": "AADSTS700024", "gcp": "The ID Token has expired"},
        ),
    ],
)
def test_any_other_token_is_refused_by_each_cloud_as_its_sdk_shows_it(
    cluster: Cluster,
    world: World,
    tmp_path: Path,
    forged: Mapping[str, Any],
    told: Mapping[str, str],
) -> None:
    """Of another ServiceAccount, for somebody else, of another issuer, and of yesterday; all but that they are as they should be."""

    def forge(_pod: Object, asked: Object) -> str:
        mint = Mint(world.key, "the key", forged.get("iss", world.issuer))
        return mint.token(
            "cwii",
            forged.get("sub", "all"),
            forged.get("aud", asked.get("audience", "kubernetes")),
            forged.get("exp", 600),
        )

    said = kubelet.run(admitted(cluster, "cwii", "all"), forge, tmp_path, world.outside() | ASKING)

    assert {
        cloud: told[cloud] in line.get("error", "") for cloud, line in said.items()
    } == dict.fromkeys(told, True), said


def admitted(cluster: Cluster, namespace: str, account: str) -> Object:
    """A pod as the API server keeps it."""
    metadata = {
        "generateName": f"{account}-",
        "labels": {"azure.workload.identity/use": "true"} if namespace == "azwi" else {},
    }
    spec = {"serviceAccountName": account, "containers": [{"name": "sdks", "image": "sdks"}]}

    return cluster.admin.create(
        f"/api/v1/namespaces/{namespace}/pods", {"metadata": metadata, "spec": spec}
    )
