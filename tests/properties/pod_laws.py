"""What holds between a pod and what the webhook made of it: all that a user wrote is there, and nothing is there twice."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from typing import Any

from cwii_webhook.admission.admit import Decision

Json = dict[str, Any]

CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
MARKER = "cwii.dev/injected"


def some(holder: Json, key: str) -> list[Json]:
    """A list that may be null, or missing."""
    return holder.get(key) or []


def containers(pod: Json) -> Iterator[Json]:
    for place in CONTAINERS:
        yield from some(pod["spec"], place)


def lost(before: Json, after: Json, decision: Decision) -> Iterator[str]:
    """All that a user wrote and that is not there as he wrote it, but for what a dialect's contract replaces by its name."""
    ours = frozenset[str]().union(*(injection.replaces for injection in decision.injections))
    renewed = {
        joining.name
        for injection in decision.injections
        for joining in injection.helpers
        if joining.replaces_existing
    }
    written = {key for injection in decision.injections for key in injection.annotations} | {MARKER}
    yield from _other(before, after, {"spec", "metadata"})
    yield from _other(before["metadata"], after["metadata"], {"annotations", "labels"})
    yield from _other(
        before["metadata"].get("annotations") or {},
        after["metadata"].get("annotations") or {},
        written,
    )
    yield from _other(
        before["metadata"].get("labels") or {}, after["metadata"].get("labels") or {}, set()
    )
    yield from _other(before["spec"], after["spec"], {*CONTAINERS, "volumes"})
    yield from _changed(
        "volumes", some(before["spec"], "volumes"), some(after["spec"], "volumes"), ours
    )
    for place in CONTAINERS:
        yield from _lost_containers(
            some(before["spec"], place), some(after["spec"], place), ours, renewed
        )


def _lost_containers(
    before: list[Json], after: list[Json], ours: frozenset[str], renewed: set[str]
) -> Iterator[str]:
    there = {str(container["name"]): container for container in after}
    names = [str(container["name"]) for container in before]
    if [name for name in there if name in names] != names:
        yield f"{names} are {list(there)}"
    for own in before:
        name, now = str(own["name"]), there[own["name"]]
        if name not in renewed:
            yield from _other(own, now, {"env", "volumeMounts"})
            yield from _changed(f"{name}: env", some(own, "env"), some(now, "env"), ours)
            yield from _changed(
                f"{name}: volumeMounts", some(own, "volumeMounts"), some(now, "volumeMounts"), ours
            )


def _other(before: Json, after: Json, but: set[str]) -> Iterator[str]:
    yield from (
        f"{key}: {before[key]} is {after.get(key)}"
        for key in before
        if key not in but and before[key] != after.get(key)
    )


def _changed(
    what: str, before: list[Json], after: list[Json], ours: frozenset[str]
) -> Iterator[str]:
    """Theirs come first, in their order."""
    for own, now in zip(before, after[: len(before)], strict=True):
        if own != now and not (own["name"] == now["name"] and own["name"] in ours):
            yield f"{what}: {own} is {now}"


def doubled(before: Json, after: Json) -> Iterator[str]:
    """Two of one name, or at one path, where there were no two before; and mounts of what is not there."""
    volumes = [str(volume["name"]) for volume in some(after["spec"], "volumes")]
    yield from (f"volume {name}" for name in _twice(volumes))
    there = {str(container["name"]): container for container in containers(before)}
    for container in containers(after):
        yield from (
            f"{container['name']}: {what}"
            for what in _doubled(there.get(container["name"], {}), container, volumes)
        )


def _doubled(own: Json, container: Json, volumes: list[str]) -> Iterator[str]:
    mounts, before = some(container, "volumeMounts"), some(own, "volumeMounts")
    taken = {
        posixpath.normpath(mount["mountPath"]) for mount in mounts[: len(before)]
    }  # one that is called as ours is may have moved away
    yield from _twice(str(mount["mountPath"]) for mount in mounts)
    for mount in mounts[len(before) :]:
        if mount["name"] not in volumes:
            yield f"there is no {mount['name']}"
        if posixpath.normpath(mount["mountPath"]) in taken:
            yield f"{mount} is in the way"
    known = {str(variable["name"]) for variable in some(own, "env")}
    yield from _twice(str(variable["name"]) for variable in some(container, "env")) - known


def _twice(names: Iterable[str]) -> set[str]:
    seen, found = set[str](), set[str]()
    for name in names:
        (found if name in seen else seen).add(name)
    return found
