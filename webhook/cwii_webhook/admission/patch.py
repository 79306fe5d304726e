"""Injections and a pod, as a JSON patch: minimal, in one fixed order, and applicable. Alone knows JSON pointers.

Containers of the pod's come first, while their places are still what they were; then containers of ours, which move them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, cast

from msgspec import Struct

from cwii_webhook.admission import already_injected as present
from cwii_webhook.admission.injection import HelperContainer, Mount, Variable, Volume
from cwii_webhook.admission.memo import Memo
from cwii_webhook.admission.merge import GIFTS, Gift, normpath, wire
from cwii_webhook.admission.pieces import Op, Piece, piece
from cwii_webhook.admission.review import Container, ContainerList, Pod


class Patch(Struct, frozen=True):
    pieces: list[Piece]
    warnings: list[str]

    def add(self, ops: Sequence[Op]) -> None:
        if ops:
            self.pieces.append(piece(ops))


def build(pod: Pod, gift: Gift, variables: frozenset[str]) -> Patch:
    """Nothing where all is there already. `variables` are the names of those that the pod's own containers set."""
    patch = Patch([], [])
    lists = _lists(pod)
    containers = [lists[place][index] for place, index in gift.places]
    if gift.beside(pod.spec.volumes, containers, variables):
        _usual(pod, gift, containers, patch)
    else:
        patch.add(_given(pod, gift, containers, gift.ours, patch.warnings))
    if gift.joining:
        for place in ("initContainers", "containers"):
            _joining(
                place, pod, [one for one in gift.joining if one.container_list == place], patch
            )
    if gift.annotations:
        _texts("/metadata/annotations", pod.metadata.annotations, gift.annotations, patch)
    if gift.labels:
        _texts("/metadata/labels", pod.metadata.labels, gift.labels, patch)
    return patch


def _lists(pod: Pod) -> Mapping[ContainerList, Sequence[Container]]:
    spec = pod.spec
    return {
        "containers": spec.containers or (),
        "initContainers": spec.init_containers or (),
        "ephemeralContainers": spec.ephemeral_containers or (),
    }


def _usual(pod: Pod, gift: Gift, containers: Sequence[Container], patch: Patch) -> None:
    """Where nothing is in the way, the ops follow from the gift, and from which lists are there already."""
    shape = (
        pod.spec.volumes is None,
        *[(container.volume_mounts is None, container.env is None) for container in containers],
    )
    pieces = gift.pieces.get(shape)
    if pieces is None:
        made = Patch([], patch.warnings)
        made.add(_given(pod, gift, containers, frozenset(), patch.warnings))
        pieces = gift.pieces.keep(shape, made.pieces, gift.weight)
    patch.pieces.extend(pieces)


def _given(
    pod: Pod, gift: Gift, containers: Sequence[Container], ours: frozenset[str], warnings: list[str]
) -> list[Op]:
    ops = _volumes(pod, gift.volumes, ours, warnings)
    for (place, index), container, each in zip(gift.places, containers, gift.each, strict=True):
        pointer = f"/spec/{place}/{index}"
        ops += _mounts(f"{pointer}/volumeMounts", container, each.mounts, ours, warnings)
        ops += _variables(f"{pointer}/env", container, each.variables, ours)
    return ops


def _volumes(
    pod: Pod, volumes: Collection[Volume], ours: Collection[str], warnings: list[str]
) -> list[Op]:
    there = {volume.name: i for i, volume in enumerate(pod.spec.volumes or ())}
    ops: list[Op] = []
    for volume in volumes:
        at = there.get(volume.name)
        if (
            at is not None
            and volume.name in ours
            and not present.volume((pod.spec.volumes or ())[at], volume)
        ):
            ops.append(Op("replace", f"/spec/volumes/{at}", wire(volume)))
            warnings.append(
                f"the pod has a volume {volume.name}, which is replaced: the name is ours"
            )
    new = [wire(volume) for volume in volumes if volume.name not in there]
    return ops + _extended("/spec/volumes", pod.spec.volumes, new)


def _mounts(
    pointer: str,
    container: Container,
    mounts: Collection[Mount],
    ours: frozenset[str],
    warnings: list[str],
) -> list[Op]:
    """Two mounts at one path are what the API server refuses: there, what the user has mounted stays."""
    there = {mount.name: i for i, mount in enumerate(container.volume_mounts or ())}
    paths = _paths(container)
    ops: list[Op] = []
    new: list[Mount] = []
    for mount in _movable(mounts, paths, ours) if there and ours else mounts:
        path = normpath(mount.mount_path)
        name, at = paths.get(path, (mount.name, there.get(mount.name)))
        if name != mount.name:
            warnings.append(
                f"container {container.name} has its volume {name} at {mount.mount_path}: what lies there is used, not {mount.name}"
            )
        elif at is None:
            new.append(mount)
            there[mount.name], paths[path] = -1, (mount.name, -1)
        elif mount.name in ours and at >= 0 and _differs(container, at, mount):
            ops.append(Op("replace", f"{pointer}/{at}", mount))
            warnings.append(
                f"container {container.name} mounts {mount.name}, which is mounted at {mount.mount_path} instead: the name is ours"
            )
            paths.pop(normpath((container.volume_mounts or ())[at].mount_path), None)
            paths[path] = (mount.name, at)
    return ops + _extended(pointer, container.volume_mounts, new)


def _paths(container: Container) -> dict[str, tuple[str, int]]:
    """Which mount is where. Of two that the API server tells apart by their spelling alone, the plainly spelt one, which ours would be like."""
    every = [
        (normpath(mount.mount_path), i, mount)
        for i, mount in enumerate(container.volume_mounts or ())
    ]
    return {
        path: (mount.name, i)
        for path, i, mount in sorted(every, key=lambda one: one[0] == one[2].mount_path)
    }


def _movable(
    mounts: Iterable[Mount], paths: Mapping[str, tuple[str, int]], ours: frozenset[str]
) -> Iterable[Mount]:
    """Who finds another of ours at his path comes last: that one moves away first."""
    return sorted(
        mounts,
        key=lambda mount: (
            paths.get(normpath(mount.mount_path), (mount.name,))[0] in ours - {mount.name}
        ),
    )


def _differs(container: Container, at: int, mount: Mount) -> bool:
    there = (container.volume_mounts or ())[at]
    return (normpath(there.mount_path), bool(there.read_only)) != (
        normpath(mount.mount_path),
        mount.read_only,
    )


def _variables(
    pointer: str, container: Container, variables: Iterable[Variable], ours: Collection[str]
) -> list[Op]:
    there = {variable.name: i for i, variable in enumerate(container.env or ())}
    ops: list[Op] = []
    new: list[Variable] = []
    for variable in variables:
        at = there.get(variable.name)
        if at is None:
            new.append(variable)
            there[variable.name] = -1
        elif (
            variable.name in ours and at >= 0 and (container.env or ())[at].value != variable.value
        ):
            ops.append(Op("replace", f"{pointer}/{at}", variable))
    return ops + _extended(pointer, container.env, new)


def _extended(pointer: str, present: Sequence[object] | None, new: Sequence[object]) -> list[Op]:
    """A list that is not there yet is added whole; one that is there gets each at its end."""
    if not new:
        return []
    return (
        [Op("add", pointer, new)]
        if present is None
        else [Op("add", f"{pointer}/-", value) for value in new]
    )


def _joining(
    place: ContainerList, pod: Pod, joining: Sequence[HelperContainer], patch: Patch
) -> None:
    """The first of those that go first is the very first: they are put at the head from behind."""
    containers = pod.spec.containers if place == "containers" else pod.spec.init_containers
    there = {container.name: i for i, container in enumerate(containers or ())}
    new = tuple([one for one in joining if one.name not in there])
    ops: list[Op] = []
    for one in joining:
        at = there.get(one.name)
        if (
            at is not None
            and one.replaces_existing
            and not present.container((containers or ())[at], one.body)
        ):
            ops.append(Op("replace", f"/spec/{place}/{at}", one.body))
            patch.warnings.append(
                f"the pod has a container {one.name}, which is replaced: the name is ours"
            )
    patch.add(ops)
    if new:
        patch.pieces.append(_joined(place, containers, new))


_joined_known: Memo[tuple[ContainerList, bool, tuple[HelperContainer, ...]], Piece] = Memo(GIFTS)


def _joined(
    place: ContainerList, containers: Sequence[Container] | None, new: tuple[HelperContainer, ...]
) -> Piece:
    """They go with what is given too."""
    key = place, containers is None, new
    known = _joined_known.get(key)
    if known is None:
        head, tail = (
            [one.body for one in new if one.first],
            [one.body for one in new if not one.first],
        )
        if containers is None:
            head, tail = [], head + tail
        ops = _extended(f"/spec/{place}", containers, tail)
        known = piece([*ops, *(Op("add", f"/spec/{place}/0", body) for body in reversed(head))])
        _joined_known.keep(key, known, len(known.wire))
    return known


def _texts(
    pointer: str, present: Mapping[str, str] | None, new: Mapping[str, str], patch: Patch
) -> None:
    if present is None:
        patch.add([Op("add", pointer, new)])
    else:
        patch.pieces.extend(
            [_text(pointer, key, text) for key, text in new.items() if present.get(key) != text]
        )


_texts_known: Memo[tuple[str, str, str], Piece] = Memo(GIFTS)


def _text(pointer: str, key: str, text: str) -> Piece:
    """They go with what is given, and are the same as often."""
    said = pointer, key, text
    return _texts_known.get(said) or _texts_known.keep(
        said, piece([Op("add", f"{pointer}/{_escaped(key)}", text)]), len(text)
    )


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def applied(pod: Any, ops: Iterable[Op]) -> Any:
    """The pod as the API server makes it of the patch: the same object, changed. What it would refuse is a ValueError."""
    for op in ops:
        *way, last = [
            token.replace("~1", "/").replace("~0", "~") for token in op.path.split("/")[1:]
        ]
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
