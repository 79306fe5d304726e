"""What is true of a pod as a whole, and containers of ours must not change: its QoS class, its user, its operating system."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil
from typing import Literal

from msgspec import Struct

from cwii_webhook.admission.memo import Memo
from cwii_webhook.admission.review import (
    Container,
    Pod,
    Requirement,
    Resources,
    SecurityContext,
    containers,
)
from cwii_webhook.settings.formats import QUANTITY

QosClass = Literal["Guaranteed", "Burstable", "BestEffort"]
Amounts = Mapping[str, str | int | float]

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
_amounts: Memo[str, int] = Memo()

_COUNTED = ("cpu", "memory")  # what a quota may ask of every container, and what makes a class

OS_LABELS = frozenset({"kubernetes.io/os", "beta.kubernetes.io/os"})


def qos_class(pod: Pod) -> QosClass:
    """As the API server judges it: nothing of something is as good as nothing said."""
    every = (
        [pod.spec.resources]
        if has_pod_resources(pod)
        else [
            c.resources for c in (*(pod.spec.init_containers or ()), *(pod.spec.containers or ()))
        ]
    )
    amounts = [(_counted(r and r.requests), _counted(r and r.limits)) for r in every]
    if not any(requests or limits for requests, limits in amounts):
        return "BestEffort"
    return (
        "Guaranteed"
        if all(_guaranteed(requests, limits) for requests, limits in amounts)
        else "Burstable"
    )


def has_pod_resources(pod: Pod) -> bool:
    """Whether requests and limits are those of the pod as a whole: what a container requests beyond that, the API server refuses."""
    of_all = pod.spec.resources
    return bool(of_all and (of_all.requests or of_all.limits))


class DeclaredResources(Struct, frozen=True, gc=False):
    """Of what all of a pod's containers request, and limit: a quota may ask it of each of them, and the pod's class may hang on it."""

    requests: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    qos_class: QosClass = "BestEffort"


def declared_resources(pod: Pod) -> DeclaredResources:
    """Where requests and limits are those of the pod as a whole, nobody asks them of a container."""
    if has_pod_resources(pod):
        return DeclaredResources()
    every = [container.resources or Resources() for container in containers(pod)]
    limits = [name for name in _COUNTED if all(name in (said.limits or ()) for said in every)]
    requests = [
        name
        for name in _COUNTED
        if all(name in (said.limits or ()) or name in (said.requests or ()) for said in every)
    ]
    return DeclaredResources(tuple(requests), tuple(limits), qos_class(pod))


def _counted(amounts: Amounts | None) -> Mapping[str, int]:
    counted = (
        {name: parse_quantity(amounts[name]) for name in _COUNTED if name in amounts}
        if amounts
        else {}
    )
    return {name: number for name, number in counted.items() if number > 0}


def _guaranteed(requests: Mapping[str, int], limits: Mapping[str, int]) -> bool:
    """What is not requested is requested as it is limited."""
    return len(limits) == 2 and all(
        requests.get(name, limits[name]) == limits[name] for name in limits
    )


def parse_quantity(written: str | float) -> int:
    """A quantity of Kubernetes', in its smallest parts. One that is none is something: the API server will say what it is not."""
    text = str(written)
    known = _amounts.get(text)
    return _amounts.keep(text, _amount(text), len(text)) if known is None else known


def _amount(text: str) -> int:
    found = QUANTITY.pattern.fullmatch(text)
    if found is None:
        return 1
    return ceil(
        Fraction(found[1])
        * _UNITS[found[2] or ""]
        * (Fraction(10) ** int(found[3]) if found[3] else 1)
        / _UNITS["n"]
    )


def least_resources(
    asking: DeclaredResources, cpu: str, memory: str
) -> dict[str, dict[str, object]]:
    """What a container of ours has to say so that the pod stays what it is and is taken as it was. What is not limited is requested as nothing."""
    need: dict[str, str] = (
        dict.fromkeys(_COUNTED, "0")
        if asking.qos_class == "BestEffort"
        else {"cpu": cpu, "memory": memory}
    )
    requests: dict[str, object] = {
        name: need[name] if name in asking.limits else "0" for name in asking.requests
    }
    limits: dict[str, object] = {name: need[name] for name in asking.limits}
    return {
        key: amounts for key, amounts in (("requests", requests), ("limits", limits)) if amounts
    }


def helper_resources(
    asking: DeclaredResources, cpu: str, memory: str
) -> dict[str, dict[str, object]]:
    """What it needs, wherever the pod stays what it is."""
    if asking.qos_class != "Burstable":
        return least_resources(asking, cpu, memory)
    need: dict[str, object] = {"cpu": cpu, "memory": memory}
    return {
        "requests": need,
        "limits": {
            name: need[name] for name in _COUNTED if name == "memory" or name in asking.limits
        },
    }


def common_user(pod: Pod) -> int | None:
    """The user that all containers of the pod's run as. One of another would cost the others their tokens: only a pod of one user gets them as its own."""
    users = {
        container_user(c, pod.spec.security_context)
        for c in (*(pod.spec.init_containers or ()), *(pod.spec.containers or ()))
    }
    return users.pop() if len(users) == 1 else None


def container_user(container: Container, pods: SecurityContext | None) -> int | None:
    """None where the image decides."""
    own = container.security_context.run_as_user if container.security_context else None
    return (pods.run_as_user if pods else None) if own is None else own


def declares_windows(pod: Pod) -> bool:
    """By what the pod says of itself: the API server refuses whatever only Linux knows in any of its containers."""
    return bool(pod.spec.os and pod.spec.os.name == "windows")


def runs_on_windows(pod: Pod) -> bool:
    """By what the pod says of itself, or by where alone it may run."""
    spec = pod.spec
    if spec.os and spec.os.name:
        return declares_windows(pod)
    if spec.node_selector and any(
        spec.node_selector.get(label) == "windows" for label in OS_LABELS
    ):
        return True
    required = (
        spec.affinity.node_affinity.required
        if spec.affinity and spec.affinity.node_affinity
        else None
    )
    terms = (required.node_selector_terms or []) if required else []
    return bool(terms) and all(
        any(_windows(r) for r in term.match_expressions or ()) for term in terms
    )


def _windows(requirement: Requirement) -> bool:
    return (
        requirement.key in OS_LABELS
        and requirement.operator == "In"
        and requirement.values == ["windows"]
    )
