"""What is true of a pod as a whole, and containers of ours must not change: its QoS class, its user, its operating system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from cwii_webhook.review import Container, Pod, Requirement, Security

Quality = Literal["Guaranteed", "Burstable", "BestEffort"]
Amounts = Mapping[str, str | int | float]

OS_LABELS = frozenset({"kubernetes.io/os", "beta.kubernetes.io/os"})


def quality(pod: Pod) -> Quality:
    """As the API server judges it, of requests and limits as they are written."""
    if pod.spec.resources and (pod.spec.resources.requests or pod.spec.resources.limits):
        return "Guaranteed" if _guaranteed(pod.spec.resources.requests, pod.spec.resources.limits) else "Burstable"
    every = [c.resources for c in (*(pod.spec.init_containers or ()), *(pod.spec.containers or ()))]
    if not any(r and (_counted(r.requests) or _counted(r.limits)) for r in every):
        return "BestEffort"
    return "Guaranteed" if all(r and _guaranteed(r.requests, r.limits) for r in every) else "Burstable"


def _counted(amounts: Amounts | None) -> bool:
    return bool(amounts and ("cpu" in amounts or "memory" in amounts))


def _guaranteed(requests: Amounts | None, limits: Amounts | None) -> bool:
    """What is not requested is requested as it is limited."""
    if not limits or "cpu" not in limits or "memory" not in limits:
        return False
    return all((requests or {}).get(name, limits[name]) == limits[name] for name in ("cpu", "memory"))


def resources(pod: Pod, cpu: str, memory: str) -> dict[str, object]:
    """For a container of ours: what it needs, said so that the pod's QoS class stays what it is."""
    need = {"cpu": cpu, "memory": memory}
    match quality(pod):
        case "BestEffort":
            return {}
        case "Guaranteed":
            return {"requests": need, "limits": need}
        case "Burstable":
            return {"requests": need, "limits": {"memory": memory}}


def common_user(pod: Pod) -> int | None:
    """The user that all containers of the pod's run as. One of another would cost the others their tokens: only a pod of one user gets them as its own."""
    users = {user(c, pod.spec.security_context) for c in (*(pod.spec.init_containers or ()), *(pod.spec.containers or ()))}
    return users.pop() if len(users) == 1 else None


def user(container: Container, pods: Security | None) -> int | None:
    """None where the image decides."""
    own = container.security_context.run_as_user if container.security_context else None
    return (pods.run_as_user if pods else None) if own is None else own


def on_windows(pod: Pod) -> bool:
    """By what the pod says of itself, or by where alone it may run."""
    spec = pod.spec
    if spec.os and spec.os.name:
        return spec.os.name == "windows"
    if spec.node_selector and any(spec.node_selector.get(label) == "windows" for label in OS_LABELS):
        return True
    required = spec.affinity.node_affinity.required if spec.affinity and spec.affinity.node_affinity else None
    terms = (required.node_selector_terms or []) if required else []
    return bool(terms) and all(any(_windows(r) for r in term.match_expressions or ()) for term in terms)


def _windows(requirement: Requirement) -> bool:
    return requirement.key in OS_LABELS and requirement.operator == "In" and requirement.values == ["windows"]
