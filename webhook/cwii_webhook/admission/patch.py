"""Builds the JSON patch for one pod from the injections of all mutators.

The patch is minimal, and its order is fixed: volumes, the pod's containers while their indexes
still hold, helper containers, annotations, labels.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from cwii_webhook.admission import review
from cwii_webhook.admission.already_injected import has_same_source, is_same_container
from cwii_webhook.admission.injection import (
    ContainerInjection,
    EnvVar,
    HelperContainer,
    Injection,
    Volume,
    VolumeMount,
)
from cwii_webhook.admission.review import Container, ContainerList, Pod

ContainerRef = tuple[ContainerList, int]


class Op(Struct, frozen=True, gc=False):
    """An operation of a JSON patch (RFC 6902)."""

    op: Literal["add", "replace"]
    path: str
    value: object


class Patch(Struct, frozen=True):
    """The operations for one pod, and warnings about conflicts with what the pod has."""

    ops: list[Op]
    warnings: list[str]


def build_patch(pod: Pod, injections: Sequence[Injection]) -> Patch:
    """Builds the patch. It has no operations if the pod has everything already."""
    patch = Patch([], [])
    replaces = frozenset[str]().union(*[injection.replaced_names for injection in injections])
    _add_volumes(pod, [v for i in injections for v in i.volumes], replaces, patch)
    lists = _container_lists(pod)
    for (name, index), additions in _by_container(injections).items():
        pointer = f"/spec/{name}/{index}"
        container = lists[name][index]
        mounts = [mount for addition in additions for mount in addition.volume_mounts]
        _add_mounts(f"{pointer}/volumeMounts", container, mounts, replaces, patch)
        env = [variable for addition in additions for variable in addition.env]
        _add_env(f"{pointer}/env", container, env, replaces, patch)
    helpers = [helper for injection in injections for helper in injection.helpers]
    for name, containers in (
        ("initContainers", pod.spec.init_containers),
        ("containers", pod.spec.containers),
    ):
        chosen = [helper for helper in helpers if helper.container_list == name]
        _add_helpers(f"/spec/{name}", containers, chosen, patch)
    annotations = {key: text for i in injections for key, text in i.annotations.items()}
    _add_map_entries("/metadata/annotations", pod.metadata.annotations, annotations, patch)
    labels = {key: text for i in injections for key, text in i.labels.items()}
    _add_map_entries("/metadata/labels", pod.metadata.labels, labels, patch)
    return patch


def _container_lists(pod: Pod) -> Mapping[ContainerList, Sequence[Container]]:
    return {
        "containers": pod.spec.containers or (),
        "initContainers": pod.spec.init_containers or (),
        "ephemeralContainers": pod.spec.ephemeral_containers or (),
    }


def _by_container(
    injections: Iterable[Injection],
) -> Mapping[ContainerRef, Sequence[ContainerInjection]]:
    found: dict[ContainerRef, list[ContainerInjection]] = {}
    for injection in injections:
        for addition in injection.containers:
            found.setdefault((addition.container_list, addition.index), []).append(addition)
    return found


def _add_volumes(
    pod: Pod, volumes: Iterable[Volume], replaces: frozenset[str], patch: Patch
) -> None:
    existing = pod.spec.volumes or ()
    indexes = {volume.name: i for i, volume in enumerate(existing)}
    new: dict[str, Volume] = {}
    for volume in volumes:
        index = indexes.get(volume.name)
        if index is None:
            new.setdefault(volume.name, volume)
        elif volume.name in replaces and not has_same_source(existing[index], volume):
            patch.ops.append(Op("replace", f"/spec/volumes/{index}", volume.manifest))
            patch.warnings.append(
                f"the pod has a volume {volume.name}, which is replaced: the name is ours"
            )
    manifests = [volume.manifest for volume in new.values()]
    patch.ops.extend(_append("/spec/volumes", pod.spec.volumes, manifests))


def _add_mounts(
    pointer: str,
    container: Container,
    mounts: Sequence[VolumeMount],
    replaces: frozenset[str],
    patch: Patch,
) -> None:
    """Adds mounts.

    The API server refuses two mounts at one path, so a user's mount at the path stays.
    """
    existing = container.volume_mounts or ()
    indexes = {mount.name: i for i, mount in enumerate(existing)}
    paths = _mounts_by_path(container)
    new: list[VolumeMount] = []
    for mount in _blocked_mounts_last(mounts, paths, replaces) if existing else mounts:
        path = clean_path(mount.mount_path)
        name, index = paths.get(path, (mount.name, indexes.get(mount.name)))
        if name != mount.name:
            patch.warnings.append(
                f"container {container.name} has its volume {name} at {mount.mount_path}: "
                f"what lies there is used, not {mount.name}"
            )
        elif index is None:
            new.append(mount)
            # This patch adds the mount, so it has no index yet.
            indexes[mount.name], paths[path] = -1, (mount.name, -1)
        elif index >= 0 and mount.name in replaces and _differs(existing[index], mount):
            patch.ops.append(Op("replace", f"{pointer}/{index}", mount))
            patch.warnings.append(
                f"container {container.name} mounts {mount.name}, which is mounted at "
                f"{mount.mount_path} instead: the name is ours"
            )
            paths.pop(clean_path(existing[index].mount_path), None)
            paths[path] = (mount.name, index)
    patch.ops.extend(_append(pointer, container.volume_mounts, new))


def _mounts_by_path(container: Container) -> dict[str, tuple[str, int]]:
    """Maps a clean path to the volume and the index of the mount.

    The API server takes /a and /a/ for two paths. If a container has both, the clean spelling wins:
    it is the one that an injected mount would collide with.
    """
    mounts = [
        (clean_path(mount.mount_path), i, mount)
        for i, mount in enumerate(container.volume_mounts or ())
    ]
    mounts.sort(key=lambda entry: entry[0] == entry[2].mount_path)
    return {path: (mount.name, i) for path, i, mount in mounts}


def _blocked_mounts_last(
    mounts: Iterable[VolumeMount], paths: Mapping[str, tuple[str, int]], replaces: frozenset[str]
) -> Sequence[VolumeMount]:
    """Puts mounts last whose path is taken by a volume that this patch moves away first."""

    def is_blocked(mount: VolumeMount) -> bool:
        name, _ = paths.get(clean_path(mount.mount_path), (mount.name, 0))
        return name in replaces and name != mount.name

    return sorted(mounts, key=is_blocked)


def _differs(existing: review.VolumeMount, mount: VolumeMount) -> bool:
    have = clean_path(existing.mount_path), bool(existing.read_only)
    return have != (clean_path(mount.mount_path), mount.read_only)


def _add_env(
    pointer: str,
    container: Container,
    env: Iterable[EnvVar],
    replaces: frozenset[str],
    patch: Patch,
) -> None:
    existing = container.env or ()
    indexes = {variable.name: i for i, variable in enumerate(existing)}
    new: dict[str, EnvVar] = {}
    for variable in env:
        index = indexes.get(variable.name)
        if index is None:
            new.setdefault(variable.name, variable)
        elif variable.name in replaces and existing[index].value != variable.value:
            patch.ops.append(Op("replace", f"{pointer}/{index}", variable))
    patch.ops.extend(_append(pointer, container.env, list(new.values())))


def _add_helpers(
    pointer: str,
    containers: Sequence[Container] | None,
    helpers: Sequence[HelperContainer],
    patch: Patch,
) -> None:
    """Adds helper containers.

    Those that run first are inserted at index 0 in reverse, so their order is kept.
    """
    existing = containers or ()
    indexes = {container.name: i for i, container in enumerate(existing)}
    new: list[HelperContainer] = []
    for helper in helpers:
        index = indexes.get(helper.name)
        if index is None:
            new.append(helper)
        elif helper.replaces_existing and not is_same_container(existing[index], helper.manifest):
            patch.ops.append(Op("replace", f"{pointer}/{index}", helper.manifest))
            patch.warnings.append(
                f"the pod has a container {helper.name}, which is replaced: the name is ours"
            )
    head = [helper.manifest for helper in new if helper.runs_first]
    tail = [helper.manifest for helper in new if not helper.runs_first]
    if containers is None:
        head, tail = [], head + tail
    patch.ops.extend(_append(pointer, containers, tail))
    patch.ops.extend(Op("add", f"{pointer}/0", manifest) for manifest in reversed(head))


def _add_map_entries(
    pointer: str, existing: Mapping[str, str] | None, new: Mapping[str, str], patch: Patch
) -> None:
    if existing is None:
        patch.ops.extend([Op("add", pointer, new)] if new else [])
        return
    for key, text in new.items():
        if existing.get(key) != text:
            escaped = key.replace("~", "~0").replace("/", "~1")
            patch.ops.append(Op("add", f"{pointer}/{escaped}", text))


def _append(pointer: str, existing: Sequence[object] | None, new: Sequence[object]) -> Iterator[Op]:
    """Adds a missing list as a whole; appends to an existing list one by one."""
    if existing is not None:
        yield from (Op("add", f"{pointer}/-", value) for value in new)
    elif new:
        yield Op("add", pointer, new)


def clean_path(path: str) -> str:
    """Normalizes a path. POSIX gives two leading slashes a meaning; containers do not."""
    clean = posixpath.normpath(path)
    return clean[1:] if clean.startswith("//") else clean
