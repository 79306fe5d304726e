"""Injections and a pod, as a JSON patch: minimal, in one fixed order, and applicable. Alone knows JSON pointers.

Containers of the pod's come first, while their places are still what they were; then containers of ours, which move them.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, cast

from msgspec import Struct

from cwii_webhook import present, review
from cwii_webhook.injection import Injection, Joining, Mount, Place, Touch, Variable, Volume
from cwii_webhook.review import Container, Pod

_FIELDS: Mapping[Place, str] = {"containers": "containers", "initContainers": "init_containers", "ephemeralContainers": "ephemeral_containers"}


class Op(Struct, frozen=True, gc=False):
    op: Literal["add", "replace"]
    path: str
    value: object


class Patch(Struct, frozen=True):
    ops: list[Op]
    warnings: list[str]


def build(pod: Pod, parts: Sequence[Injection]) -> Patch:
    """Nothing where all is there already."""
    patch = Patch([], [])
    ours = frozenset[str]().union(*[part.ours for part in parts])
    _volumes(pod, parts, ours, patch)
    _touches(pod, parts, ours, patch)
    for place in ("initContainers", "containers"):
        _joining(place, pod, [j for part in parts for j in part.joining if j.place == place], patch)
    _texts("/metadata/annotations", pod.metadata.annotations, [part.annotations for part in parts], patch)
    _texts("/metadata/labels", pod.metadata.labels, [part.labels for part in parts], patch)
    return patch


def _volumes(pod: Pod, parts: Sequence[Injection], ours: Collection[str], patch: Patch) -> None:
    there = {volume.name: i for i, volume in enumerate(pod.spec.volumes or ())}
    new: dict[str, object] = {}
    for volume in (volume for part in parts for volume in part.volumes):
        if volume.name not in there:
            new.setdefault(volume.name, _wire(volume))
        elif volume.name in ours and not present.volume((pod.spec.volumes or ())[there[volume.name]], volume):
            patch.ops.append(Op("replace", f"/spec/volumes/{there[volume.name]}", _wire(volume)))
            patch.warnings.append(f"the pod has a volume {volume.name}, which is replaced: the name is ours")
    _extend("/spec/volumes", pod.spec.volumes, list(new.values()), patch)


def _wire(volume: Volume) -> object:
    return {"name": volume.name, **volume.source}


def _touches(pod: Pod, parts: Sequence[Injection], ours: frozenset[str], patch: Patch) -> None:
    touched: dict[tuple[Place, int], list[Touch]] = {}
    for part in parts:
        for touch in part.touches:
            touched.setdefault((touch.place, touch.index), []).append(touch)
    bundles: dict[tuple[int, ...], _Bundle] = {}
    for (place, index), touches in touched.items():
        alike = tuple([part for touch in touches for part in (id(touch.variables), id(touch.mounts))])
        bundle = bundles.get(alike) or bundles.setdefault(alike, _bundle(touches))
        container: Container = getattr(pod.spec, _FIELDS[place])[index]
        pointer = f"/spec/{place}/{index}"
        if bundle.beside(container.volume_mounts):
            _extend(f"{pointer}/volumeMounts", container.volume_mounts, bundle.mounts, patch)
        else:
            _mounts(pointer, container, bundle.mounts, ours, patch)
        if bundle.names.isdisjoint([variable.name for variable in container.env or ()]):
            _extend(f"{pointer}/env", container.env, bundle.variables, patch)
        else:
            _variables(pointer, container, bundle.variables, ours, patch)


class _Bundle(Struct, frozen=True, gc=False):
    """What one container is given, and mostly the next one too."""

    variables: list[Variable]
    mounts: list[Mount]
    names: frozenset[str]
    volumes: frozenset[str]
    paths: frozenset[str]

    def beside(self, there: Sequence[review.Mount] | None) -> bool:
        """Whether nothing of it is in the way of what is mounted, nor of itself."""
        if min(len(self.paths), len(self.volumes)) < len(self.mounts):
            return False
        return not there or (self.volumes.isdisjoint([m.name for m in there]) and self.paths.isdisjoint([normpath(m.mount_path) for m in there]))


def _bundle(touches: Sequence[Touch]) -> _Bundle:
    """Of what two give under one name, the first counts."""
    variables: dict[str, Variable] = {}
    for variable in [variable for touch in touches for variable in touch.variables]:
        variables.setdefault(variable.name, variable)
    mounts = [mount for touch in touches for mount in touch.mounts]
    return _Bundle(
        list(variables.values()),
        mounts,
        frozenset(variables),
        frozenset([mount.name for mount in mounts]),
        frozenset([normpath(mount.mount_path) for mount in mounts]),
    )


@lru_cache(4096)
def normpath(path: str) -> str:
    """Paths are few, and the same in pod after pod."""
    return posixpath.normpath(path)


def _mounts(pointer: str, container: Container, mounts: Collection[Mount], ours: frozenset[str], patch: Patch) -> None:
    """Two mounts at one path are what the API server refuses: there, what the user has mounted stays."""
    there = {mount.name: i for i, mount in enumerate(container.volume_mounts or ())}
    paths = {normpath(mount.mount_path): (mount.name, i) for i, mount in enumerate(container.volume_mounts or ())}
    new: list[Mount] = []
    for mount in _movable(mounts, paths, ours) if there and ours else mounts:
        path = normpath(mount.mount_path)
        name, at = paths.get(path, (mount.name, there.get(mount.name)))
        if name != mount.name:
            patch.warnings.append(f"container {container.name} has its volume {name} at {mount.mount_path}: what lies there is used, not {mount.name}")
        elif at is None:
            new.append(mount)
            there[mount.name], paths[path] = -1, (mount.name, -1)
        elif mount.name in ours and at >= 0 and _differs(container, at, mount):
            patch.ops.append(Op("replace", f"{pointer}/volumeMounts/{at}", mount))
            patch.warnings.append(f"container {container.name} mounts {mount.name}, which is mounted at {mount.mount_path} instead: the name is ours")
            paths.pop(normpath((container.volume_mounts or ())[at].mount_path), None)
            paths[path] = (mount.name, at)
    _extend(f"{pointer}/volumeMounts", container.volume_mounts, new, patch)


def _movable(mounts: Collection[Mount], paths: Mapping[str, tuple[str, int]], ours: frozenset[str]) -> Iterable[Mount]:
    """Who finds another of ours at his path comes last: that one moves away first."""
    return sorted(mounts, key=lambda mount: paths.get(normpath(mount.mount_path), (mount.name,))[0] in ours - {mount.name})


def _differs(container: Container, at: int, mount: Mount) -> bool:
    there = (container.volume_mounts or ())[at]
    return (there.mount_path, bool(there.read_only)) != (mount.mount_path, mount.read_only)


def _variables(pointer: str, container: Container, variables: Iterable[Variable], ours: Collection[str], patch: Patch) -> None:
    there = {variable.name: i for i, variable in enumerate(container.env or ())}
    new: list[Variable] = []
    for variable in variables:
        at = there.get(variable.name)
        if at is None:
            new.append(variable)
            there[variable.name] = -1
        elif variable.name in ours and at >= 0 and (container.env or ())[at].value != variable.value:
            patch.ops.append(Op("replace", f"{pointer}/env/{at}", variable))
    _extend(f"{pointer}/env", container.env, new, patch)


def _joining(place: Place, pod: Pod, joining: Sequence[Joining], patch: Patch) -> None:
    """The first of those that go first is the very first: they are put at the head from behind."""
    if not joining:
        return
    containers: list[Container] | None = getattr(pod.spec, _FIELDS[place])
    there = {container.name: i for i, container in enumerate(containers or ())}
    head: list[object] = []
    tail: list[object] = []
    for one in joining:
        at = there.get(one.name)
        if at is None:
            there[one.name] = -1
            (head if one.first else tail).append(one.body)
        elif one.renewed and at >= 0 and not present.container((containers or ())[at], one.body):
            patch.ops.append(Op("replace", f"/spec/{place}/{at}", one.body))
            patch.warnings.append(f"the pod has a container {one.name}, which is replaced: the name is ours")
    if containers is None:
        head, tail = [], head + tail
    _extend(f"/spec/{place}", containers, tail, patch)
    patch.ops.extend(Op("add", f"/spec/{place}/0", body) for body in reversed(head))


def _extend(pointer: str, present: Sequence[object] | None, new: Sequence[object], patch: Patch) -> None:
    """A list that is not there yet is added whole; one that is there gets each at its end."""
    if not new:
        return
    if present is None:
        patch.ops.append(Op("add", pointer, new))
    else:
        end = f"{pointer}/-"
        patch.ops.extend([Op("add", end, value) for value in new])


def _texts(pointer: str, present: Mapping[str, str] | None, parts: Iterable[Mapping[str, str]], patch: Patch) -> None:
    new: dict[str, str] = {}
    for part in parts:
        new.update(part)
    if not new:
        return
    if present is None:
        patch.ops.append(Op("add", pointer, new))
    else:
        patch.ops.extend(Op("add", f"{pointer}/{_escaped(key)}", text) for key, text in new.items() if present.get(key) != text)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def applied(pod: Any, ops: Iterable[Op]) -> Any:
    """The pod as the API server makes it of the patch: the same object, changed. What it would refuse is a ValueError."""
    for op in ops:
        *way, last = [token.replace("~1", "/").replace("~0", "~") for token in op.path.split("/")[1:]]
        parent = pod
        for token in way:
            parent = _child(parent, token, op.path)
        _set(parent, last, op)
    return pod


def _child(parent: Any, token: str, path: str) -> Any:
    try:
        return cast("list[Any]", parent)[int(token)] if isinstance(parent, list) else parent[token]
    except (KeyError, IndexError, TypeError, ValueError) as e:
        raise ValueError(f"there is nothing at {path}") from e


def _set(parent: Any, last: str, op: Op) -> None:
    if isinstance(parent, dict):
        if op.op == "replace" and last not in parent:
            raise ValueError(f"there is nothing to replace at {op.path}")
        parent[last] = op.value
        return
    if not isinstance(parent, list):
        raise ValueError(f"there is nothing that could hold {op.path}")  # noqa: TRY004 - the API server's answer is one and the same
    items = cast("list[Any]", parent)
    at = len(items) if last == "-" else int(last)
    if at > len(items) or (op.op == "replace" and at == len(items)):
        raise ValueError(f"{op.path} is beyond its list")
    items[at : at + (op.op == "replace")] = [op.value]
