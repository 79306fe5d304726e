"""Who installs a sidecar and may do no more than that takes, in both clusters: in the management cluster only where the control plane is."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.hosted import Hosted
from tests.cluster.kube.client import Object
from tests.cluster.space import a_name

VERBS = ("get", "list", "create", "patch", "delete", "bind", "escalate")
GUEST: Mapping[str, tuple[str, ...]] = {
    "": ("serviceaccounts", "pods"),
    "rbac.authorization.k8s.io": ("clusterroles", "clusterrolebindings"),
    "flowcontrol.apiserver.k8s.io": ("prioritylevelconfigurations", "flowschemas"),
    "admissionregistration.k8s.io": (
        "mutatingwebhookconfigurations",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
    ),
}
MANAGEMENT: Mapping[str, tuple[str, ...]] = {
    "": ("secrets", "pods", "events"),
    "apps": ("deployments",),
}
RBAC = "/apis/rbac.authorization.k8s.io/v1"


@contextmanager
def operator(hosted: Hosted, without: str = "") -> Generator[dict[str, Path]]:
    """Their kubeconfigs. `without` is a right that they lack, as VERB RESOURCE."""
    admin, name, inside = hosted.admin, a_name("operators"), f"{RBAC}/namespaces/{hosted.namespace}"
    admin.create(
        f"{RBAC}/clusterroles", {"metadata": {"name": name}, "rules": rules(GUEST, without)}
    )
    admin.create(
        f"{RBAC}/clusterrolebindings", {"metadata": {"name": name}, **bound("ClusterRole", name)}
    )
    admin.create(
        f"{inside}/roles", {"metadata": {"name": name}, "rules": rules(MANAGEMENT, without)}
    )
    admin.create(f"{inside}/rolebindings", {"metadata": {"name": name}, **bound("Role", name)})
    reach = hosted.cluster.reach
    kubeconfig = reach.authority.kubeconfig(
        hosted.folder / name, reach.urls[0], reach.authority.client("operator", name)
    )
    yield {"kubeconfig": kubeconfig, "guest_kubeconfig": kubeconfig}
    for path in (
        f"{inside}/rolebindings",
        f"{inside}/roles",
        f"{RBAC}/clusterrolebindings",
        f"{RBAC}/clusterroles",
    ):
        admin.delete(f"{path}/{name}")


def rules(of: Mapping[str, tuple[str, ...]], without: str) -> list[Object]:
    every = [(group, plural) for group, plurals in of.items() for plural in plurals]
    return [
        {
            "apiGroups": [group],
            "resources": [plural],
            "verbs": [v for v in VERBS if f"{v} {plural}" != without],
        }
        for group, plural in every
    ]


def bound(kind: str, name: str) -> Object:
    return {"roleRef": {"kind": kind, "name": name}, "subjects": [{"kind": "Group", "name": name}]}
