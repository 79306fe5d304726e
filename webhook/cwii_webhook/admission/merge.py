"""What a pod is given by all its mutators together, worked out once for all pods that are given the same."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from cwii_webhook.admission import review
from cwii_webhook.admission.injection import (
    ContainerInjection,
    HelperContainer,
    Injection,
    Json,
    Mount,
    Variable,
    Volume,
    describe_origins,
    weight,
)
from cwii_webhook.admission.memo import Memo
from cwii_webhook.admission.pieces import Piece
from cwii_webhook.admission.review import ContainerList, ContainerRefs

GIFTS = 512  # that are remembered
SHAPES = 4  # of the pods that are given one: which of their lists are there

Shape = tuple[bool | tuple[bool, bool], ...]


class Each(Struct, frozen=True, gc=False):
    """What one container is given."""

    variables: Collection[Variable]
    mounts: Collection[Mount]


class Gift(Struct, frozen=True):
    places: ContainerRefs
    each: tuple[Each, ...]  # beside it
    volumes: Collection[Volume]
    names: frozenset[str]  # of volumes
    variables: frozenset[str]
    mounts: frozenset[str]
    paths: frozenset[str]
    apart: bool  # no mount of it is in another's way
    ours: frozenset[str]
    joining: tuple[HelperContainer, ...]
    annotations: Mapping[str, str]
    labels: Mapping[str, str]
    letters: int  # of its annotations
    audit: Mapping[str, str]
    weight: int
    pieces: Memo[Shape, Sequence[Piece]]

    def beside(
        self,
        volumes: Sequence[review.Volume] | None,
        containers: Sequence[review.Container],
        variables: frozenset[str],
    ) -> bool:
        """Whether nothing that is there has a name or a path of its. `variables` are those of these containers, and may be more."""
        mounts = [
            mount
            for container in containers
            if container.volume_mounts
            for mount in container.volume_mounts
        ]
        return (
            self.apart
            and self.variables.isdisjoint(variables)
            and self.names.isdisjoint([volume.name for volume in volumes or ()])
            and self.mounts.isdisjoint([mount.name for mount in mounts])
            and self.paths.isdisjoint(_paths(mounts))
        )


_remembered: Memo[tuple[Injection, ...], Gift] = Memo(GIFTS)


def gift_of(parts: tuple[Injection, ...]) -> Gift:
    known = _remembered.get(parts)
    if known is None:
        known = made(parts)
        _remembered.keep(parts, known, known.weight)
    return known


def made(parts: tuple[Injection, ...]) -> Gift:
    """Of what two parts give under one name, the first counts; of annotations and labels the last."""
    volumes: dict[str, Volume] = {}
    for volume in [volume for part in parts for volume in part.volumes]:
        volumes.setdefault(volume.name, volume)
    touched: dict[tuple[ContainerList, int], list[ContainerInjection]] = {}
    for touch in [touch for part in parts for touch in part.containers]:
        touched.setdefault((touch.container_list, touch.index), []).append(touch)
    each = tuple(map(_each, touched.values()))
    annotations = {key: text for part in parts for key, text in part.annotations.items()}
    return Gift(
        places=tuple(touched),
        each=each,
        volumes=tuple(volumes.values()),
        names=frozenset(volumes),
        variables=frozenset([variable.name for one in each for variable in one.variables]),
        mounts=frozenset([mount.name for one in each for mount in one.mounts]),
        paths=frozenset([normpath(mount.mount_path) for one in each for mount in one.mounts]),
        apart=all(map(_apart, each)),
        ours=frozenset[str]().union(*[part.replaces for part in parts]),
        joining=tuple([one for part in parts for one in part.helpers]),
        annotations=annotations,
        letters=letters(annotations),
        labels={key: text for part in parts for key, text in part.labels.items()},
        audit=_audit([part for part in parts if part.provider]),
        weight=sum(map(weight, parts)),
        pieces=Memo(SHAPES),
    )


def _audit(parts: Sequence[Injection]) -> dict[str, str]:
    """Keys are plain words: the API server drops those with a slash."""
    return {
        "injected": ",".join([part.provider for part in parts]),
        **{part.provider: part.summary or describe_origins(part.origins) for part in parts},
    }


def letters(texts: Mapping[str, str]) -> int:
    return len("".join(texts)) + len("".join(texts.values()))


def _each(touches: Sequence[ContainerInjection]) -> Each:
    variables: dict[str, Variable] = {}
    for variable in [variable for touch in touches for variable in touch.variables]:
        variables.setdefault(variable.name, variable)
    return Each(
        tuple(variables.values()), tuple([mount for touch in touches for mount in touch.mounts])
    )


def _apart(each: Each) -> bool:
    paths, names = (
        {normpath(mount.mount_path) for mount in each.mounts},
        {mount.name for mount in each.mounts},
    )
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
