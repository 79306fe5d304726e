"""install-webhook --mode sidecar --apply, on a real node: an API server's Deployment rolls out, its sidecar serves, and what hinders it is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cwiictl.cli.webhook import install_webhook, uninstall_webhook
from cwiictl.errors import NotYet
from tests.cluster.hosted import coded
from tests.cluster.imaged import IMAGE, saved
from tests.cluster.kube.client import Object
from tests.cluster.kube.cluster import Cluster
from tests.cluster.kube.node import ADDRESSES
from tests.cluster.kube.node_files import SHELL_IMAGE
from tests.cluster.space import Space, a_name, plain, volumes
from tests.cluster.traces import seen_within
from tests.webhook.harness import ACCOUNT_ANNOTATIONS

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]

NAMESPACE, PORT = a_name("clusters"), 16443
DEPLOYMENT = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/kube-apiserver"
SIDECAR = "azure-workload-identity-webhook"


def kube_apiserver() -> Object:
    """One that hands on to the node's own, which asks it on the loopback that both have."""
    relay = f"exec nc -ll -p {PORT} -e nc {ADDRESSES[0]} 6443"
    container = {
        "name": "kube-apiserver",
        "image": SHELL_IMAGE,
        "args": [relay],
        "readinessProbe": {"exec": {"command": ["/bin/true"]}},
    }
    pod = {
        "hostNetwork": True,
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "containers": [container],
    }
    labels = {"app": "kube-apiserver"}
    template = {"metadata": {"labels": labels}, "spec": pod}
    return {
        "metadata": {"name": "kube-apiserver"},
        "spec": {
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": labels},
            "template": template,
        },
    }


@pytest.fixture(scope="module")
def hosted(node: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A hosted control plane in the cluster that it serves."""
    node.node.load(saved(tmp_path_factory.mktemp("image")))
    node.admin.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    authority = {
        "ca.crt": coded(node.reach.authority.pem),
        "ca.key": coded(node.reach.authority.files.key.read_bytes()),
    }
    for name in ("root-ca", "cluster-signer-ca"):
        node.admin.create(
            f"/api/v1/namespaces/{NAMESPACE}/secrets",
            {"metadata": {"name": name}, "data": authority},
        )
    node.admin.create(DEPLOYMENT.rpartition("/")[0], kube_apiserver())
    yield node
    run(node, uninstall_webhook, "--yes")
    node.admin.delete(f"/api/v1/namespaces/{NAMESPACE}")


def run(node: Cluster, command: object, *words: str) -> Result:
    kubeconfig = str(node.kubeconfig)
    where = [
        "--mode",
        "sidecar",
        "--flavour",
        "azure",
        "-n",
        NAMESPACE,
        "--kubeconfig",
        kubeconfig,
        "--guest-kubeconfig",
        kubeconfig,
    ]
    assert command in {install_webhook, uninstall_webhook}
    return CliRunner().invoke(command, [*where, *words], catch_exceptions=False)  # pyright: ignore[reportArgumentType]


def install(node: Cluster, folder: Path, *words: str) -> Result:
    told = [
        "--apply",
        "--kas-port",
        str(PORT),
        "--set",
        "azure.tenantId=tenant",
        "--output-dir",
        str(folder),
    ]
    return run(node, install_webhook, *told, *words)


def restarts(node: Cluster) -> int:
    """Of the sidecar."""
    (pod,) = node.admin.list(f"/api/v1/namespaces/{NAMESPACE}/pods")
    return next(
        each["restartCount"]
        for each in pod["status"]["containerStatuses"]
        if each["name"] == SIDECAR
    )


def test_what_hinders_the_rollout_is_said_and_nobody_is_asked(
    hosted: Cluster, tmp_path: Path
) -> None:
    done = install(hosted, tmp_path, "--image", "localhost/nothing:1", "--timeout", "1m")

    assert done.exit_code == NotYet.code, done.output
    assert "cannot get the image localhost/nothing:1" in done.output
    assert not hosted.admin.exists(
        f"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/{SIDECAR}"
    )


def test_it_goes_on_from_there_until_a_pod_has_shown_that_it_works(
    hosted: Cluster, tmp_path: Path
) -> None:
    done = install(hosted, tmp_path, "--image", IMAGE, "--timeout", "3m")

    assert done.exit_code == 0, done.output
    assert "not tried" not in done.output
    space = Space(hosted.reach).account(ACCOUNT_ANNOTATIONS["azwi"])
    pod = plain()
    pod["metadata"]["labels"] = {"azure.workload.identity/use": "true"}
    assert seen_within(20, lambda: "azure-identity-token" in volumes(space.tried(pod)))
    assert restarts(hosted) == 0


def test_a_second_time_nothing_is_written_and_nothing_rolls(
    hosted: Cluster, tmp_path: Path
) -> None:
    generation = hosted.admin.get(DEPLOYMENT)["metadata"]["generation"]

    done = install(hosted, tmp_path, "--image", IMAGE)

    assert done.exit_code == 0, done.output
    assert "created" not in done.output
    assert hosted.admin.get(DEPLOYMENT)["metadata"]["generation"] == generation
