"""`Fail` everywhere can keep a cluster from coming up: what has to start before the webhook does must not wait for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cwiictl.errors import BadInput
from cwiictl.install.conditions import spared
from cwiictl.install.values import Values

Pod = Mapping[str, Any]

_CNI = ("/etc/cni", "/opt/cni", "/var/lib/cni")
_CSI = (
    "/var/lib/kubelet/plugins",
    "/var/lib/kubelet/plugins_registry",
    "/var/lib/kubelet/csi-plugins",
)
_CERTIFICATES = ("cert-manager", "cainjector", "trust-manager")


def exposed(values: Values, pods: Mapping[str, Sequence[Pod]]) -> Mapping[str, tuple[str, ...]]:
    """Namespaces whose pods would have to wait, and why they must not; by their pods."""
    found = {
        namespace: tuple(dict.fromkeys(reason for pod in those for reason in _reasons(pod)))
        for namespace, those in pods.items()
    }
    return {
        namespace: why
        for namespace, why in sorted(found.items())
        if why and not spared(values, namespace)
    }


def check(values: Values, pods: Mapping[str, Sequence[Pod]]) -> None:
    if values.failure_policy == "Fail" and (found := exposed(values, pods)):
        told = "; ".join(f"{namespace} ({', '.join(why)})" for namespace, why in found.items())
        raise BadInput(
            f"failurePolicy is Fail, and a cluster that starts anew needs pods of these namespaces before the webhook: {told}",
            remedy=f"add --set excludedNamespaces={{{','.join([*values.excluded_namespaces, *found])}}}, or leave failurePolicy as shipped",
        )


def _reasons(pod: Pod) -> Iterator[str]:
    spec: Mapping[str, Any] = pod.get("spec") or {}
    if spec.get("hostNetwork"):
        yield "hostNetwork"
    if str(spec.get("priorityClassName") or "").startswith("system-"):
        yield str(spec["priorityClassName"])
    hosts: list[Pod] = [
        volume["hostPath"] for volume in spec.get("volumes") or () if volume.get("hostPath")
    ]
    for what, folders in (("CNI", _CNI), ("CSI", _CSI)):
        if any(_within(str(host.get("path", "")).rstrip("/"), folders) for host in hosts):
            yield what
    images = [str(container.get("image", "")) for container in spec.get("containers") or ()]
    if any(word in image for image in images for word in _CERTIFICATES):
        yield "certificates"


def _within(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)
