"""Compares a pod before and after a patch: finds lost members and duplicates."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from cwii_webhook.admission.admit import Decision

Json = dict[str, Any]

CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")
MARKER = "cwii.dev/injected"


def get_list(parent: Json, key: str) -> list[Json]:
    """Returns a list that may be null or missing."""
    return parent.get(key) or []


def all_containers(pod: Json) -> Iterator[Json]:
    for name in CONTAINER_LISTS:
        yield from get_list(pod["spec"], name)


def find_lost(before: Json, after: Json, decision: Decision) -> Iterator[str]:
    """Yields what the user wrote and the patch changed.

    What the dialect replaces by its name is not reported.
    """
    replaced = frozenset[str]().union(
        *(injection.replaced_names for injection in decision.injections)
    )
    replaced_helpers = {
        helper.name
        for injection in decision.injections
        for helper in injection.helpers
        if helper.replaces_existing
    }
    annotations = {key for injection in decision.injections for key in injection.annotations}
    old_meta, new_meta = before["metadata"], after["metadata"]
    old_spec, new_spec = before["spec"], after["spec"]
    yield from _changed_members(before, after, {"spec", "metadata"})
    yield from _changed_members(old_meta, new_meta, {"annotations", "labels"})
    yield from _changed_members(
        old_meta.get("annotations") or {},
        new_meta.get("annotations") or {},
        annotations | {MARKER},
    )
    yield from _changed_members(old_meta.get("labels") or {}, new_meta.get("labels") or {}, set())
    yield from _changed_members(old_spec, new_spec, {*CONTAINER_LISTS, "volumes"})
    yield from _changed_entries(
        "volumes", get_list(old_spec, "volumes"), get_list(new_spec, "volumes"), replaced
    )
    for name in CONTAINER_LISTS:
        yield from _lost_containers(
            get_list(old_spec, name), get_list(new_spec, name), replaced, replaced_helpers
        )


def _lost_containers(
    before: list[Json], after: list[Json], replaced: frozenset[str], replaced_helpers: set[str]
) -> Iterator[str]:
    by_name = {str(container["name"]): container for container in after}
    names = [str(container["name"]) for container in before]
    if [name for name in by_name if name in names] != names:
        yield f"{names} are {list(by_name)}"
    for old in before:
        name, new = str(old["name"]), by_name[old["name"]]
        if name not in replaced_helpers:
            yield from _changed_members(old, new, {"env", "volumeMounts"})
            for key in ("env", "volumeMounts"):
                yield from _changed_entries(
                    f"{name}: {key}", get_list(old, key), get_list(new, key), replaced
                )


def _changed_members(before: Json, after: Json, excluded: Collection[str]) -> Iterator[str]:
    yield from (
        f"{key}: {before[key]} is {after.get(key)}"
        for key in before
        if key not in excluded and before[key] != after.get(key)
    )


def _changed_entries(
    title: str, before: list[Json], after: list[Json], replaced: frozenset[str]
) -> Iterator[str]:
    """Compares entry by entry: the user's entries stay first, in their order."""
    for old, new in zip(before, after[: len(before)], strict=True):
        if old != new and not (old["name"] == new["name"] and old["name"] in replaced):
            yield f"{title}: {old} is {new}"


def find_duplicates(before: Json, after: Json) -> Iterator[str]:
    """Yields names and mount paths that the patch duplicates, and mounts of missing volumes."""
    volumes = [str(volume["name"]) for volume in get_list(after["spec"], "volumes")]
    yield from (f"volume {name}" for name in _repeated(volumes))
    by_name = {str(container["name"]): container for container in all_containers(before)}
    for container in all_containers(after):
        yield from (
            f"{container['name']}: {problem}"
            for problem in _container_duplicates(
                by_name.get(container["name"], {}), container, volumes
            )
        )


def _container_duplicates(old: Json, new: Json, volumes: list[str]) -> Iterator[str]:
    mounts, old_mounts = get_list(new, "volumeMounts"), get_list(old, "volumeMounts")
    # Read from the new container: the patch may move a mount whose volume has an injected name.
    occupied = {posixpath.normpath(mount["mountPath"]) for mount in mounts[: len(old_mounts)]}
    yield from _repeated(str(mount["mountPath"]) for mount in mounts)
    for mount in mounts[len(old_mounts) :]:
        if mount["name"] not in volumes:
            yield f"there is no volume {mount['name']}"
        if posixpath.normpath(mount["mountPath"]) in occupied:
            yield f"{mount} conflicts"
    old_env = {str(variable["name"]) for variable in get_list(old, "env")}
    yield from _repeated(str(variable["name"]) for variable in get_list(new, "env")) - old_env


def _repeated(names: Iterable[str]) -> set[str]:
    seen, repeated = set[str](), set[str]()
    for name in names:
        (repeated if name in seen else seen).add(name)
    return repeated
