"""A pod of a real cluster, explained with what the cluster has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cwiictl.cli.explain import explain
from cwiictl.errors import BadInput, Failed
from tests.cluster.kube.reach import Reach
from tests.cluster.space import ACCOUNT, Space, plain

ROLE = "arn:aws:iam::123456789012:role/shop"
FLAGS = (
    "--",
    "--aws-default-region=eu-west-1",
)  # whoever gives some is told by them, whatever others have installed
EKS = {"eks.amazonaws.com/role-arn": ROLE}


@pytest.fixture
def space(reach: Reach) -> Space:
    return Space(reach).account(EKS)


@pytest.fixture
def kubeconfig(reach: Reach, tmp_path: Path) -> Path:
    return reach.authority.kubeconfig(
        tmp_path / "kubeconfig", reach.urls[0], reach.authority.client("admin", "system:masters")
    )


@pytest.fixture
def asked(space: Space, kubeconfig: Path) -> Any:
    def ask(*words: str) -> Result:
        return CliRunner().invoke(
            explain,
            ["--kubeconfig", str(kubeconfig), "-n", space.name, *words],
            catch_exceptions=False,
        )

    return ask


def named(name: str, **metadata: Any) -> dict[str, Any]:
    return {**plain(), "metadata": {"name": name, **metadata}}


def test_a_pod_of_the_cluster_is_explained_with_what_the_cluster_has(
    space: Space, asked: Any
) -> None:
    space.create(named("web"))

    told = asked("pod/web", "--dialect", "eks", *FLAGS)

    assert told.exit_code == 0
    assert f"eks.amazonaws.com/role-arn of ServiceAccount {space.name}/{ACCOUNT}" in told.stdout
    assert "AWS_REGION" in told.stdout


@pytest.mark.parametrize(
    "word", ["deployment/web", "deploy/web", "deployments/web", "Deployment.apps/web"]
)
def test_a_workload_is_called_as_kubectl_calls_it(space: Space, asked: Any, word: str) -> None:
    labels = {"app": "web"}
    spec = {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": plain()["spec"]},
    }
    space.admin.create(
        space.path("deployments", "apps"), {"metadata": {"name": "web"}, "spec": spec}
    )

    assert f"AWS_ROLE_ARN                 {ROLE}" in asked(word, "--dialect", "eks", *FLAGS).stdout


def test_azures_proxy_is_of_the_kind_that_the_clusters_api_server_knows(
    space: Space, asked: Any
) -> None:
    words = {
        "labels": {"azure.workload.identity/use": "true"},
        "annotations": {"azure.workload.identity/inject-proxy-sidecar": "true"},
    }
    space.create(named("web", **words))

    assert (
        "restartPolicy: Always"
        in asked("pod/web", "--dialect", "azwi", "--", "--tenant-id=t").stdout
    )


def test_what_the_cluster_has_not_is_said(space: Space, asked: Any) -> None:
    space.create(named("web"))
    space.admin.delete(f"{space.path('serviceaccounts')}/{ACCOUNT}")

    assert (
        f"Looked for, and not there: ServiceAccount {space.name}/{ACCOUNT}"
        in asked("pod/web", *FLAGS).stdout
    )
    with pytest.raises(Failed, match=f"there is no pod/other in namespace {space.name}"):
        asked("pod/other")
    with pytest.raises(BadInput, match="does not serve a kind pot"):
        asked("pot/web")
    with pytest.raises(BadInput, match="can be no object"):
        asked("pod/../../secrets")


def test_a_pods_owner_says_nothing_to_the_api_server(
    space: Space, asked: Any, reach: Reach
) -> None:
    """Its name is its author's to write."""
    owners = [
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "name": "../../../nodes",
            "uid": "u",
            "controller": True,
        },
        {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "name": "web", "uid": "u"},
    ]
    space.create(named("web", ownerReferences=owners))

    told = asked("pod/web", *FLAGS).stdout

    assert f"ReplicaSet {space.name}/../../../nodes" in told
    assert not [
        one
        for one in reach.requests()
        if "nodes" in one["requestURI"] and "cwiictl" in one.get("userAgent", "")
    ]
