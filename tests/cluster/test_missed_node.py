"""On a real node: while the webhook is away `Ignore` admits all; status finds them, and heals them by a restart of whoever made them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cwiictl.cli.status import status
from cwiictl.cli.webhook import install_webhook, uninstall_webhook
from tests.cluster.imaged import IMAGE, saved
from tests.cluster.kube.client import Object
from tests.cluster.kube.cluster import Cluster
from tests.cluster.kube.node_files import SHELL_IMAGE
from tests.cluster.space import ACCOUNT, Space, volumes
from tests.cluster.traces import seen_within

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]

SAYS = {
    "cwii.dev/aws-inject": "true",
    "cwii.dev/aws-role-arn": "arn:aws:iam::123456789012:role/shop",
}
PODS = "/api/v1/namespaces/cwii-system/pods"
WEBHOOK = "/apis/apps/v1/namespaces/cwii-system/deployments/cwii-webhook"


@pytest.fixture(scope="module")
def kubeconfig(node: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("missed")
    node.node.load(saved(folder))
    config = node.reach.authority.kubeconfig(
        folder / "kubeconfig",
        node.reach.urls[0],
        node.reach.authority.client("admin", "system:masters"),
    )
    done = CliRunner().invoke(
        install_webhook,
        ["--kubeconfig", str(config), "--image", IMAGE, "--output-dir", str(folder)],
        catch_exceptions=False,
    )
    assert done.exit_code == 0, done.output
    yield config
    CliRunner().invoke(
        uninstall_webhook, ["--kubeconfig", str(config), "--yes"], catch_exceptions=False
    )


def asked(kubeconfig: Path, *words: str) -> Result:
    return CliRunner().invoke(
        status, ["--kubeconfig", str(kubeconfig), "-o", "json", *words], catch_exceptions=False
    )


def things(result: Result) -> dict[str, dict[str, Any]]:
    return {each["thing"]: each for each in json.loads(result.stdout)["things"]}


def a_deployment(name: str) -> Object:
    labels = {"app": name}
    spec = {
        "serviceAccountName": ACCOUNT,
        "containers": [{"name": "c", "image": SHELL_IMAGE, "args": ["sleep 1000"]}],
    }
    return {
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {**spec, "terminationGracePeriodSeconds": 1},
            },
        },
    }


def test_the_webhook_is_told_whole_while_it_is(kubeconfig: Path) -> None:
    told = asked(kubeconfig, "--pods")

    found = things(told)
    assert told.exit_code == 0, told.stdout
    assert found["k8s/Deployment/cwii-system/cwii-webhook"]["remarks"][:2] == [
        f"image {IMAGE}",
        f"version {version('cwii-webhook')}",
    ]
    assert any(
        text.startswith("of the CA ")
        for text in found["k8s/Secret/cwii-system/cwii-webhook-serving"]["remarks"]
    )
    ages = [
        each["remarks"] for thing, each in found.items() if thing.startswith("k8s/Pod/cwii-system/")
    ]
    assert len(ages) == 2
    assert all("its picture of the cluster is" in text for (text,) in ages)


def test_pods_that_it_has_missed_are_found_and_healed(node: Cluster, kubeconfig: Path) -> None:
    admin = node.admin
    shop = Space(node.reach).account(SAYS)
    name = f"k8s/Deployment/{shop.name}/late"

    def scaled(replicas: int) -> bool:
        """One that is on its way out still answers."""
        admin.patch(WEBHOOK, {"spec": {"replicas": replicas}})
        left = seen_within(
            120,
            lambda: (
                len(admin.list(f"{PODS}?labelSelector=app.kubernetes.io%2Fname%3Dcwii-webhook"))
                == replicas
            ),
        )
        return left and seen_within(
            120, lambda: admin.get(WEBHOOK)["status"].get("readyReplicas", 0) == replicas
        )

    def given() -> list[bool]:
        living = [
            pod
            for pod in admin.list(shop.path("pods"))
            if "deletionTimestamp" not in pod["metadata"]
        ]
        return ["cwii-aws-token" in volumes(pod) for pod in living]

    assert scaled(0)
    admin.create(shop.path("deployments", "apps"), a_deployment("late"))
    assert seen_within(60, lambda: given() == [False])

    away = asked(kubeconfig, "--pods")
    assert away.exit_code == 1, "the webhook itself has failed"
    assert things(away)[name]["condition"] == "missing"
    assert "has no replica that is ready" in asked(kubeconfig, "--restart", "--yes").stdout

    assert scaled(2)
    assert asked(kubeconfig, "--pods").exit_code == 3
    assert things(asked(kubeconfig, "--restart", "--yes"))[name]["condition"] == "restarted"
    assert seen_within(180, lambda: given() == [True]), given()
    assert asked(kubeconfig, "--pods").exit_code == 0
