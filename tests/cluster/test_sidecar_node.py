"""A static pod with the webhook in it, as kubeadm patches one, run by a real kubelet: whatever is wrong with the webhook, the API server's pod is ready."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from cwiictl.actions.authorities import Source
from cwiictl.actions.beside import Beside
from cwiictl.actions.cluster import Installation
from cwiictl.actions.sidecar_files import written
from tests.cluster.imaged import IMAGE, saved
from tests.cluster.kube.client import Object
from tests.cluster.kube.cluster import Cluster
from tests.cluster.kube.node import ADDRESSES
from tests.cluster.kube.node_files import SHELL_IMAGE, STATIC
from tests.cluster.objects import path
from tests.cluster.space import Space, plain, volumes
from tests.cluster.traces import seen_within
from tests.webhook.harness import ACCOUNT_ANNOTATIONS

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]

PODS = "/api/v1/namespaces/kube-system/pods"
WEBHOOK = "cwii-webhook"
Spoil = Callable[[Path, Object], None]  # what is wrong: with the files, or with the container


def nothing(files: Path, container: Object) -> None:
    """Nothing is wrong."""


def no_certificate(files: Path, container: Object) -> None:
    del container
    (files / "tls.crt").unlink()
    (files / "tls.key").unlink()


def no_files(files: Path, container: Object) -> None:
    del container
    for file in files.iterdir():
        file.unlink()
    files.rmdir()


def wrong_kubeconfig(files: Path, container: Object) -> None:
    del container
    (files / "kubeconfig").write_text("no kubeconfig")


def api_server_away(files: Path, container: Object) -> None:
    del container
    told = (files / "kubeconfig").read_text()
    (files / "kubeconfig").write_text(told.replace(":6443", ":6444"))


def unknown_flag(files: Path, container: Object) -> None:
    del files
    container["args"].append("--strange=flag")


WRONG: tuple[Spoil, ...] = (
    no_certificate,
    no_files,
    wrong_kubeconfig,
    api_server_away,
    unknown_flag,
)
PORTS: Mapping[Spoil, int] = {
    spoil: 20100 + 2 * number for number, spoil in enumerate((nothing, *WRONG))
}


def beside(node: Cluster, folder: Path, spoil: Spoil) -> Path:
    """The files that users are given, put where its README says, for a kube-apiserver that does nothing. Gives where guest.yaml is."""
    authority = Source(node.reach.authority.files.certificate)
    order = Installation(output=folder / spoil.__name__, sets=(f"image={IMAGE}",))
    own: dict[str, Any] = {
        "root": authority,
        "client": authority,
        "static": True,
        "namespace": "kube-system",
    }
    told = written(Beside(order, **own, ports=(PORTS[spoil], PORTS[spoil] + 1)), dry=False)
    assert not told.failures
    tree = folder / spoil.__name__ / "static-pod"
    kubeconfig = tree / "files" / "kubeconfig"
    kubeconfig.write_text(
        kubeconfig.read_text().replace("127.0.0.1", ADDRESSES[0])
    )  # where this node's API server listens, and nowhere else
    pod = patched(tree, spoil)
    spoil(
        tree / "files", next(each for each in pod["spec"]["containers"] if each["name"] == WEBHOOK)
    )
    manifests = node.node.folder / STATIC
    (manifests / f"{name(spoil)}.yaml").write_text(json.dumps(pod))
    return tree / "guest.yaml"


def patched(tree: Path, spoil: Spoil) -> Object:
    """As kubeadm does it: lists of things with names are merged by these."""
    (file,) = (tree / "patches").iterdir()
    patch: Mapping[str, Any] = yaml.safe_load(file.read_text())["spec"]
    stand_in = {
        "name": "kube-apiserver",
        "image": SHELL_IMAGE,
        "args": ["sleep 100000"],
        "readinessProbe": {"exec": {"command": ["/bin/true"]}},
    }
    (volume,) = patch["volumes"]
    volumes = [{**volume, "hostPath": {**volume["hostPath"], "path": str(tree / "files")}}]
    spec = {
        "hostNetwork": True,
        "terminationGracePeriodSeconds": 0,
        "containers": [stand_in, *patch["containers"]],
        "volumes": volumes,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name(spoil), "namespace": "kube-system"},
        "spec": spec,
    }


def name(spoil: Spoil) -> str:
    return f"kas-{spoil.__name__.replace('_', '-')}"


def status(node: Cluster, spoil: Spoil) -> Object:
    found = [
        pod
        for pod in node.admin.list(PODS)
        if pod["metadata"]["name"].startswith(f"{name(spoil)}-")
    ]
    return found[0]["status"] if found else {}


def is_ready(node: Cluster, spoil: Spoil) -> bool:
    return any(
        each["type"] == "Ready" and each["status"] == "True"
        for each in status(node, spoil).get("conditions", [])
    )


def permitted(node: Cluster) -> bool:
    asked = {
        "user": "system:serviceaccount:cwii-system:cwii-webhook",
        "resourceAttributes": {"verb": "list", "resource": "serviceaccounts"},
    }
    return node.admin.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", {"spec": asked})[
        "status"
    ]["allowed"]


@pytest.fixture(scope="module")
def pods(node: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("static")
    node.node.load(saved(folder))
    guest = beside(node, folder, nothing)
    for spoil in WRONG:
        beside(node, folder, spoil)
    yield guest
    for file in (node.node.folder / STATIC).iterdir():
        file.unlink()


def test_whatever_is_wrong_with_it_the_api_server_s_pod_is_ready_and_stays_so(
    node: Cluster, pods: Path
) -> None:
    """And though not even the one that nothing else is wrong with may read what it needs."""
    del pods
    assert not permitted(node)
    for spoil in (nothing, *WRONG):
        assert seen_within(180, lambda: is_ready(node, spoil)), (  # noqa: B023  # it is asked at once
            spoil.__name__,
            status(node, spoil),
        )

    assert not seen_within(30, lambda: not all(is_ready(node, spoil) for spoil in WRONG))
    restarts = {
        spoil.__name__: [each["restartCount"] for each in status(node, spoil)["containerStatuses"]]
        for spoil in (nothing, *WRONG)
    }
    assert restarts == {spoil.__name__: [0, 0] for spoil in (nothing, *WRONG)}


def test_the_one_that_nothing_is_wrong_with_serves_as_soon_as_it_may_read(
    node: Cluster, pods: Path
) -> None:
    assert seen_within(180, lambda: is_ready(node, nothing))
    for body in yaml.safe_load_all(pods.read_text()):
        node.admin.create(path(node.admin, body), body)
    assert permitted(node)
    space = Space(node.reach).account(ACCOUNT_ANNOTATIONS["cwii"])
    pod = plain()

    assert seen_within(60, lambda: "cwii-aws-token" in volumes(space.tried(pod)))
    assert is_ready(node, nothing)
