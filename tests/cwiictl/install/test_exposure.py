"""`Fail` everywhere is refused until nothing that a cluster starts with has to wait for it."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.errors import BadInput
from cwiictl.install.exposure import check, exposed
from tests.cwiictl.install.installed import some


def a_pod(image: str = "shop", path: str = "", **spec: Any) -> dict[str, Any]:
    volumes = [{"name": "v", "hostPath": {"path": path}}] if path else []
    return {"spec": {"containers": [{"name": "c", "image": image}], "volumes": volumes, **spec}}


EMPTY: dict[str, Any] = {
    "spec": {"containers": [{"name": "c"}], "volumes": [{"name": "e", "emptyDir": {}}]}
}


@pytest.mark.parametrize(
    ("pod", "why"),
    [
        (a_pod(), ()),
        (a_pod(path="/var/log"), ()),
        (a_pod(path="/etc/cnix"), ()),
        (a_pod(priorityClassName="high"), ()),
        (EMPTY, ()),
        (a_pod(hostNetwork=True), ("hostNetwork",)),
        (a_pod(priorityClassName="system-node-critical"), ("system-node-critical",)),
        (a_pod(path="/opt/cni/bin/"), ("CNI",)),
        (a_pod(path="/etc/cni/net.d"), ("CNI",)),
        (a_pod(path="/var/lib/kubelet/plugins/csi.example.com"), ("CSI",)),
        (a_pod(image="quay.io/jetstack/cert-manager-controller:v1"), ("certificates",)),
        (a_pod(path="/etc/cni/net.d", hostNetwork=True), ("hostNetwork", "CNI")),
    ],
)
def test_a_pod_that_must_not_wait_is_known(pod: dict[str, Any], why: tuple[str, ...]) -> None:
    assert exposed(some(), {"infra": [a_pod(), pod]}) == ({"infra": why} if why else {})


def test_namespaces_that_are_never_looked_at_need_not_be_named() -> None:
    pods = {
        name: [a_pod(hostNetwork=True)]
        for name in ("kube-system", "openshift-sdn", "cwii-system", "calico-system")
    }

    assert exposed(some(excludedNamespaces=["calico-system"]), pods) == {}


def test_they_are_listed_and_the_remedy_excludes_them_all() -> None:
    values = some(failurePolicy="Fail", excludedNamespaces=["storage"])
    pods = {
        "calico-system": [a_pod(hostNetwork=True)],
        "cert-manager": [a_pod("cert-manager")],
        "shop": [a_pod()],
        "storage": [a_pod(hostNetwork=True)],
    }

    with pytest.raises(BadInput) as refused:
        check(values, pods)

    assert "calico-system (hostNetwork); cert-manager (certificates)" in refused.value.problem
    assert "excludedNamespaces={storage,calico-system,cert-manager}" in refused.value.remedy
    check(
        some(failurePolicy="Fail", excludedNamespaces=["storage", "calico-system", "cert-manager"]),
        pods,
    )


def test_otherwise_nobody_minds() -> None:
    check(some(), {"calico-system": [a_pod(hostNetwork=True)]})
