"""Pods that run without what they would be given now, or with something else: the webhook's own deciding, on all that a cluster has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cwii_webhook.admission.admit import Route
from cwii_webhook.admission.cluster_view import ObjectRef, namespace_ref
from cwii_webhook.admission.review import MIRROR_ANNOTATION

from cwiictl.engine.resource import Difference
from cwiictl.explain import Explanation, explained
from cwiictl.explain.bare import stripped, templated
from cwiictl.explain.objects import Objects, Pod
from cwiictl.explain.parts import Part, differences, given, listed, parts, within
from cwiictl.explain.selection import paths

Body = Mapping[str, Any]
OVER = frozenset({"Succeeded", "Failed"})


@dataclass(frozen=True)
class Shortfall:
    """Of one pod."""

    owner: ObjectRef  # whoever is to be told to make it anew: the pod itself, if it has none
    pod: str
    lacks: tuple[str, ...] = ()
    differs: tuple[Difference, ...] = ()
    why: tuple[str, ...] = ()  # who asks for it
    refusal: str = ""  # it would not be let in now
    unheard: tuple[
        str, ...
    ] = ()  # it is given nothing, though somebody asks for it by halves, or in words that are none
    anew: Body = field(default_factory=dict[str, Any], repr=False)  # as it would be sent
    wanted: Mapping[Part, Any] = field(default_factory=dict[Part, Any], repr=False)

    def __bool__(self) -> bool:
        return bool(self.lacks or self.differs or self.refusal or self.unheard)

    def lacking(self, answered: Body) -> tuple[str, ...]:
        """What one that was let in anew comes without."""
        return _compared(self.wanted, parts(answered))[0]


@dataclass(frozen=True)
class Cluster:
    """All that bears on what pods are given, as it is now."""

    picture: Objects
    bodies: Mapping[ObjectRef, Body]  # of Namespaces, and of whoever makes pods
    configuration: Body
    routes: Mapping[str, Route]  # by their paths
    spared: tuple[str, ...] = ()  # how the names of namespaces begin that nobody is asked about


def shortfalls(pods: Iterable[Body], cluster: Cluster) -> Iterator[Shortfall]:
    """One for each pod that asks for something, also where it has all that it asks for."""
    for pod in pods:
        if _running(pod) and (routes := _routes(pod, cluster)):
            yield from _judged(pod, routes, cluster)


def owner(pod: Body, bodies: Mapping[ObjectRef, Body]) -> tuple[ObjectRef, ...]:
    """Whoever made it, and who made that: the nearest first. A reference that names another object of that name is nobody's."""
    found: list[ObjectRef] = []
    here: Body | None = pod
    while here and (reference := _controller(here)) and len(found) < 3:
        ref = ObjectRef(
            str(reference.get("apiVersion", "")).rpartition("/")[0],
            reference["kind"],
            pod["metadata"]["namespace"],
            reference["name"],
        )
        here = bodies.get(ref)
        if here is not None and here["metadata"].get("uid") != reference.get("uid"):
            break
        found.append(ref)
    return tuple(found)


def _judged(pod: Body, routes: list[Route], cluster: Cluster) -> Iterator[Shortfall]:
    about, made = pod["metadata"], owner(pod, cluster.bodies)
    near = cluster.bodies.get(made[0]) if made else None
    base = (templated(pod, near) if near else None) or stripped(pod, routes)
    told = list(_explained(base, routes, cluster.picture))
    top = made[-1] if made else ObjectRef("", "Pod", about["namespace"], about["name"])
    if refusal := next((each.refusal for each in told if each.outcome == "refused"), ""):
        yield Shortfall(top, about["name"], refusal=refusal)
    elif any(each.outcome == "injected" for each in told):
        markers = {Part(f"annotation {route.marker}") for route in routes if route.marker}
        wanted = {
            part: value
            for part, value in given(base.body, told[-1].after).items()
            if part not in markers
        }
        yield Shortfall(
            top,
            about["name"],
            *_compared(wanted, parts(pod)),
            tuple(_why(told)),
            anew=base.body,
            wanted=wanted,
        )
    elif unheard := tuple(dict.fromkeys(text for each in told for text in each.unheard)):
        yield Shortfall(top, about["name"], unheard=unheard)


def _compared(
    wanted: Mapping[Part, Any], have: Mapping[Part, Any]
) -> tuple[tuple[str, ...], tuple[Difference, ...]]:
    """A mount alone is worth no word where its volume or a variable is lacking, too."""
    lacking = [part for part in wanted if part not in have]
    plain = [part for part in lacking if not part.name.startswith("mount ")]
    differing = (
        each
        for part, value in wanted.items()
        if part in have
        for each in differences(str(part), value, have[part])
    )
    return tuple(dict.fromkeys(part.name for part in plain or lacking)), tuple(differing)


def _explained(pod: Pod, routes: Iterable[Route], picture: Objects) -> Iterator[Explanation]:
    """One after another, as API servers ask."""
    for route in routes:
        told = explained(pod, route, picture)
        pod = Pod(pod.namespace, told.after)
        yield told


def _why(told: Iterable[Explanation]) -> Iterator[str]:
    """Of each thing that is given, who is the first to ask."""
    asked: dict[str, str] = {}
    for value in (value for each in told for value in each.values if value.whose):
        asked.setdefault(value.gives, f"{value.key} of {value.whose}")
    return (f"{gives}: {by}" for gives, by in asked.items())


def _routes(pod: Body, cluster: Cluster) -> list[Route]:
    name = pod["metadata"]["namespace"]
    around = cluster.bodies.get(namespace_ref(name))
    if around is None or name.startswith(cluster.spared):
        return []
    asked = paths(
        cluster.configuration,
        within(around, "metadata", "labels"),
        within(pod, "metadata", "labels"),
    )
    return [cluster.routes[path] for path in asked if path in cluster.routes]


def _running(pod: Body) -> bool:
    """What shows a node's own pod, has ended, or is on its way out is nobody's to make anew."""
    about = pod["metadata"]
    return (
        MIRROR_ANNOTATION not in within(about, "annotations")
        and "deletionTimestamp" not in about
        and within(pod, "status").get("phase") not in OVER
    )


def _controller(body: Body) -> Body | None:
    return next(
        (each for each in listed(body["metadata"], "ownerReferences") if each.get("controller")),
        None,
    )
