"""An installation in a cluster where all controllers run: what they add is nobody's drift, and all of it goes in the end."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from cwiictl.errors import Conflict
from cwiictl.kubernetes import Place, connect
from tests.cluster.installation import Installation, an_installation, told, verbs
from tests.cluster.kube.cluster import Cluster
from tests.cluster.kube.node_files import SHELL_IMAGE
from tests.cluster.traces import seen_within

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]


@pytest.fixture
def place(node: Cluster) -> Iterator[Place]:
    place = connect(Path(node.kubeconfig))
    yield place
    place.close()


@pytest.fixture
def installed(place: Place) -> Installation:
    """With pods that run."""
    one = an_installation(place)
    for body in one.bodies:
        if body["kind"] == "Deployment":
            pod = body["spec"]["template"]["spec"]
            running = {
                "image": SHELL_IMAGE,
                "args": ["echo hello; sleep 600"],
                "resources": {"requests": {"cpu": "10m"}},
            }
            pod["containers"] = [
                {**container, **running, "securityContext": {}} for container in pod["containers"]
            ]
            pod["terminationGracePeriodSeconds"] = 1
    outcome = one.apply()
    assert outcome.whole, outcome.failed
    return one


def test_what_controllers_add_is_no_drift_and_goes_with_what_it_was_made_for(
    installed: Installation, node: Cluster
) -> None:
    api, name = installed.place.api, installed.name

    def ready() -> bool:
        return (api.get("Deployment", name, name) or {})["status"].get("readyReplicas") == 2

    assert seen_within(90, ready), api.get("Deployment", name, name)
    assert set(verbs(installed.apply()).values()) == {"keep"}
    pod = api.list("Pod", name)[0]["metadata"]["name"]
    assert api.logs(name, pod, "webhook") == "hello\n"
    node.admin.create(
        f"/api/v1/namespaces/{name}/configmaps",
        {"metadata": {"name": "theirs"}, "data": {"a": base64.b64encode(b"a").decode()}},
    )

    refused = installed.remove()
    assert "holds what is not ours: ConfigMap/theirs" in str(
        refused.failed[installed.address("Namespace")]
    )
    node.admin.delete(f"/api/v1/namespaces/{name}/configmaps/theirs")
    removal = installed.remove()

    assert removal.whole, removal.failed
    assert not node.admin.exists(installed.path("Namespace"))
    assert not node.admin.exists(installed.path("ClusterRole"))


def test_an_autoscaler_is_not_fought_with(installed: Installation, node: Cluster) -> None:
    scale = f"{installed.path('Deployment')}/scale"
    node.admin.patch(f"{scale}?fieldManager=kubectl", {"spec": {"replicas": 3}})
    assert told(installed.apply()) == {f"{installed.address('Deployment')} spec.replicas": (3, 2)}
    node.admin.patch(f"{scale}?fieldManager=kube-controller-manager", {"spec": {"replicas": 1}})

    conflict = installed.apply().failed[installed.address("Deployment")]

    assert isinstance(conflict, Conflict)
    assert "spec.replicas held by kube-controller-manager (by scale)" in conflict.problem
    assert installed.remove().whole
