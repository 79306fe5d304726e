"""Computes traits of a pod that injection must not change: QoS class, user, operating system."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil
from typing import Literal

from msgspec import Struct

from cwii_webhook.admission.review import (
    Container,
    Pod,
    Requirement,
    Resources,
    SecurityContext,
    init_and_main_containers,
)
from cwii_webhook.settings.formats import QUANTITY

QosClass = Literal["Guaranteed", "Burstable", "BestEffort"]
Quantities = Mapping[str, str | int | float]

_UNITS = (
    {
        "": Fraction(1),
        "n": Fraction(1, 10**9),
        "u": Fraction(1, 10**6),
        "m": Fraction(1, 1000),
        "k": Fraction(1000),
    }
    | {unit: Fraction(1000**power) for power, unit in enumerate("MGTPE", 2)}
    | {f"{unit}i": Fraction(1024**power) for power, unit in enumerate("KMGTPE", 1)}
)

# The resources that decide on the QoS class, and that a ResourceQuota can require of containers.
_COMPUTE = ("cpu", "memory")

OS_LABELS = frozenset({"kubernetes.io/os", "beta.kubernetes.io/os"})


class DeclaredResources(Struct, frozen=True, gc=False):
    """Resources that all containers of a pod request or limit.

    A ResourceQuota may require them of every container, and the QoS class may depend on them.
    """

    requests: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    qos_class: QosClass = "BestEffort"


def qos_class(pod: Pod) -> QosClass:
    """Computes the class as the API server does, which takes zero for absent."""
    resources = (
        [pod.spec.resources]
        if has_pod_resources(pod)
        else [container.resources for container in init_and_main_containers(pod)]
    )
    amounts = [(_positive(r and r.requests), _positive(r and r.limits)) for r in resources]
    if not any(requests or limits for requests, limits in amounts):
        return "BestEffort"
    if all(_is_guaranteed(requests, limits) for requests, limits in amounts):
        return "Guaranteed"
    return "Burstable"


def has_pod_resources(pod: Pod) -> bool:
    """Reports whether the pod as a whole has requests or limits.

    The API server refuses containers that request more than the pod.
    """
    resources = pod.spec.resources
    return bool(resources and (resources.requests or resources.limits))


def declared_resources(pod: Pod) -> DeclaredResources:
    if has_pod_resources(pod):
        return DeclaredResources()
    resources = [c.resources or Resources() for c in init_and_main_containers(pod)]
    limits = [name for name in _COMPUTE if all(name in (r.limits or ()) for r in resources)]
    requests = [
        name
        for name in _COMPUTE
        if all(name in (r.limits or ()) or name in (r.requests or ()) for r in resources)
    ]
    return DeclaredResources(tuple(requests), tuple(limits), qos_class(pod))


def _positive(quantities: Quantities | None) -> Mapping[str, int]:
    if not quantities:
        return {}
    parsed = {name: parse_quantity(quantities[name]) for name in _COMPUTE if name in quantities}
    return {name: number for name, number in parsed.items() if number > 0}


def _is_guaranteed(requests: Mapping[str, int], limits: Mapping[str, int]) -> bool:
    """A missing request defaults to the limit."""
    return len(limits) == 2 and all(
        requests.get(name, limits[name]) == limits[name] for name in limits
    )


def parse_quantity(quantity: str | float) -> int:
    """Parses a quantity into billionths.

    An invalid one counts as positive: the API server reports it.
    """
    match = QUANTITY.pattern.fullmatch(str(quantity))
    if match is None:
        return 1
    exponent = Fraction(10) ** int(match[3]) if match[3] else 1
    return ceil(Fraction(match[1]) * _UNITS[match[2] or ""] * exponent / _UNITS["n"])


def least_resources(
    declared: DeclaredResources, cpu: str, memory: str
) -> dict[str, dict[str, object]]:
    """Returns the least resources that keep the pod's QoS class and fit its quota.

    A helper requests its limits, or zero where the pod has no limits.
    """
    if declared.qos_class == "BestEffort":
        cpu = memory = "0"
    amounts = {"cpu": cpu, "memory": memory}
    requests: dict[str, object] = {
        name: amounts[name] if name in declared.limits else "0" for name in declared.requests
    }
    limits: dict[str, object] = {name: amounts[name] for name in declared.limits}
    return {key: value for key, value in (("requests", requests), ("limits", limits)) if value}


def helper_resources(
    declared: DeclaredResources, cpu: str, memory: str
) -> dict[str, dict[str, object]]:
    """Returns what a helper container needs, or the least where more would change the QoS class."""
    if declared.qos_class != "Burstable":
        return least_resources(declared, cpu, memory)
    limits: dict[str, object] = {"memory": memory}
    if "cpu" in declared.limits:
        limits = {"cpu": cpu, **limits}
    return {"requests": {"cpu": cpu, "memory": memory}, "limits": limits}


def common_user(pod: Pod) -> int | None:
    """Returns the user that all containers run as, or None.

    The kubelet makes token files readable for one user only if all containers run as that user. A
    helper container with another user would take the token from the others.
    """
    pod_context = pod.spec.security_context
    users = {container_user(c, pod_context) for c in init_and_main_containers(pod)}
    return users.pop() if len(users) == 1 else None


def container_user(container: Container, pod_context: SecurityContext | None) -> int | None:
    """Returns the user of a container, or None if the image decides."""
    user = container.security_context.run_as_user if container.security_context else None
    if user is None and pod_context:
        return pod_context.run_as_user
    return user


def declares_windows(pod: Pod) -> bool:
    """Reports whether spec.os is Windows.

    The API server then refuses Linux-only fields in containers.
    """
    return bool(pod.spec.os and pod.spec.os.name == "windows")


def runs_on_windows(pod: Pod) -> bool:
    """Reports whether the pod can run on Windows nodes only."""
    spec = pod.spec
    if spec.os and spec.os.name:
        return declares_windows(pod)
    if any((spec.node_selector or {}).get(label) == "windows" for label in OS_LABELS):
        return True
    affinity = spec.affinity.node_affinity if spec.affinity else None
    terms = (affinity.required.node_selector_terms or []) if affinity and affinity.required else []
    return bool(terms) and all(
        any(_requires_windows(r) for r in term.match_expressions or ()) for term in terms
    )


def _requires_windows(requirement: Requirement) -> bool:
    return (
        requirement.key in OS_LABELS
        and requirement.operator == "In"
        and requirement.values == ["windows"]
    )
