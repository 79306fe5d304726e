"""What a pod is given of volumes, variables and mounts, worked out once for all pods that are given the same."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Sequence

from msgspec import Struct

from cwii_webhook import review
from cwii_webhook.injection import Json, Mount, Place, Touch, Variable, Volume
from cwii_webhook.memo import Memo
from cwii_webhook.pieces import Piece

GIFTS = 512  # that are remembered
SHAPES = 4  # of the pods that are given one: which of their lists are there

Key = tuple[tuple[tuple[Volume, ...], tuple[Touch, ...]], ...]
Shape = tuple[bool | tuple[bool, bool], ...]


class Each(Struct, frozen=True, gc=False):
    """What one container is given."""

    variables: Collection[Variable]
    mounts: Collection[Mount]


class Gift(Struct, frozen=True):
    places: tuple[tuple[Place, int], ...]  # of containers
    each: tuple[Each, ...]  # beside it
    volumes: Collection[Volume]
    names: frozenset[str]  # of volumes
    variables: frozenset[str]
    mounts: frozenset[str]
    paths: frozenset[str]
    apart: bool  # no mount of it is in another's way
    weight: int
    pieces: Memo[Shape, Sequence[Piece]]

    def beside(self, volumes: Sequence[review.Volume] | None, containers: Sequence[review.Container]) -> bool:
        """Whether nothing that is there has a name or a path of its."""
        mounts = [mount for container in containers if container.volume_mounts for mount in container.volume_mounts]
        return (
            self.apart
            and self.variables.isdisjoint([variable.name for container in containers if container.env for variable in container.env])
            and self.names.isdisjoint([volume.name for volume in volumes or ()])
            and self.mounts.isdisjoint([mount.name for mount in mounts])
            and self.paths.isdisjoint(_paths(mounts))
        )


_remembered: Memo[Key, Gift] = Memo(GIFTS)


def gift_of(key: Key) -> Gift:
    """The volumes and touches of each part."""
    return _remembered.get(key) or _made(key)


def _made(key: Key) -> Gift:
    """Of what two parts give under one name, the first counts."""
    volumes: dict[str, Volume] = {}
    for volume in [volume for part, _ in key for volume in part]:
        volumes.setdefault(volume.name, volume)
    touched: dict[tuple[Place, int], list[Touch]] = {}
    for touch in [touch for _, touches in key for touch in touches]:
        touched.setdefault((touch.place, touch.index), []).append(touch)
    each = tuple(map(_each, touched.values()))
    weight = len(review.encode([list(map(wire, volumes.values())), each]))
    made = Gift(
        places=tuple(touched),
        each=each,
        volumes=tuple(volumes.values()),
        names=frozenset(volumes),
        variables=frozenset([variable.name for one in each for variable in one.variables]),
        mounts=frozenset([mount.name for one in each for mount in one.mounts]),
        paths=frozenset([normpath(mount.mount_path) for one in each for mount in one.mounts]),
        apart=all(map(_apart, each)),
        weight=weight,
        pieces=Memo(SHAPES),
    )
    return _remembered.keep(key, made, weight)


def _each(touches: Sequence[Touch]) -> Each:
    variables: dict[str, Variable] = {}
    for variable in [variable for touch in touches for variable in touch.variables]:
        variables.setdefault(variable.name, variable)
    return Each(tuple(variables.values()), tuple([mount for touch in touches for mount in touch.mounts]))


def _apart(each: Each) -> bool:
    paths, names = {normpath(mount.mount_path) for mount in each.mounts}, {mount.name for mount in each.mounts}
    return min(len(paths), len(names)) == len(each.mounts)


def wire(volume: Volume) -> Json:
    return {"name": volume.name, **volume.source}


# Paths that are known to be written as they should be. They are few, and the same in pod after pod.
_straight: set[str] = set()


def normpath(path: str) -> str:
    """Two slashes at the beginning mean something to POSIX, and nothing to a container."""
    made = posixpath.normpath(path)
    if made.startswith("//"):
        made = made[1:]
    if made == path and len(path) <= 256:
        if len(_straight) >= 1024:
            _straight.clear()
        _straight.add(path)
    return made


def _paths(mounts: Sequence[review.Mount]) -> Sequence[str]:
    paths = [mount.mount_path for mount in mounts]
    return paths if _straight.issuperset(paths) else list(map(normpath, paths))
