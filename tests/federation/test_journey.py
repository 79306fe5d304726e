"""From nothing to pods that are somebody in three clouds, and back to nothing: a real API server, a real kubelet, real SDKs, and clouds that check."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.federation.peopled import peopled
from tests.federation.world import STRANGERS, WORKLOADS, Pods, World

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]
LEFT = (
    "/api/v1/namespaces",
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
    "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
    "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
)


@pytest.fixture(scope="module")
def pods(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pods]:
    """The cluster that they trust."""
    with peopled(world, tmp_path_factory.mktemp("images")) as pods:
        yield pods


@pytest.mark.parametrize(("namespace", "account"), list(WORKLOADS))
def test_a_pod_is_who_its_service_account_was_promised_to_be(
    pods: Pods, namespace: str, account: str
) -> None:
    clouds = WORKLOADS[namespace, account]

    said = pods.said(namespace, account, len(clouds))

    assert sorted(said) == sorted(clouds)
    assert {cloud: line.get("error") for cloud, line in said.items()} == dict.fromkeys(clouds)
    assert {line["answer"] for line in said.values()} == {200}
    if "gcp" in clouds:
        assert said["gcp"]["may"] == ["dns.changes.create"]
    if "aws" in clouds:
        assert f"assumed-role/demo-{namespace}-{namespace}-{account}/" in said["aws"]["who"]


def test_a_pod_whose_service_account_nobody_trusts_is_refused_in_each_clouds_own_words(
    pods: Pods,
) -> None:
    pods.strangers()

    told = {cloud: pods.said("cwii", name, 1)[cloud]["error"] for name, cloud in STRANGERS.items()}

    assert "AccessDenied" in told["aws"]
    assert "AADSTS700213" in told["azure"]
    assert "iam.serviceAccounts.getAccessToken" in told["gcp"]


def test_nothing_is_left_anywhere(world: World, pods: Pods) -> None:
    """Last of all: the cluster and the clouds are as if nobody had ever been there."""
    world.cwiictl("uninstall-webhook", "--yes", KUBECONFIG=str(pods.cluster.kubeconfig))
    world.cwiictl("delete", *world.where, "--delete-oidc-resource-group", "--yes")

    left = [
        name
        for path in LEFT
        for each in pods.cluster.admin.list(path)
        if "cwii-" in (name := each["metadata"]["name"])
    ]
    assert left == []
    again = world.cwiictl("delete", *world.where, "--delete-oidc-resource-group", "--dry-run")
    assert "Nothing of this cluster is there" in again
