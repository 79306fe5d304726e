"""Containers that join a running pod: they are given what its others have, never what the voices say by now.

A volume cannot be added to a running pod, so a pod that was admitted without us stays as it is: touching it would make this update,
and each later one, fail.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Protocol

from cwii_webhook.admission.injection import ContainerInjection, Injection, Mount, Variable
from cwii_webhook.admission.review import Container, Pod


class Giver(Protocol):
    @property
    def provider(self) -> str: ...
    @property
    def volumes(self) -> frozenset[str]: ...
    @property
    def variables(self) -> frozenset[str]: ...
    def skipped(self, pod: Pod, /) -> Collection[str]: ...


def ephemeral_injections(
    pod: Pod, before: Pod | None, givers: Iterable[Giver]
) -> tuple[Injection, ...]:
    """None where there is nothing to give, or nobody to give it to."""
    known = {c.name for c in (before.spec.ephemeral_containers or ())} if before else set[str]()
    new = [(i, c) for i, c in enumerate(pod.spec.ephemeral_containers or ()) if c.name not in known]
    volumes = {volume.name for volume in pod.spec.volumes or ()}
    given: list[Injection] = []
    for giver in givers:
        mine = frozenset(name for name in volumes if _named(name, giver.volumes))
        model = next((c for c in pod.spec.containers or () if _has(c, mine)), None)
        skipped = giver.skipped(pod)
        joining = [(i, c) for i, c in new if c.name not in skipped]
        if mine and model and joining:
            variables, mounts = _variables(model, giver.variables), _mounts(model, mine)
            touches = tuple(
                [
                    ContainerInjection("ephemeralContainers", i, variables, mounts)
                    for i, _ in joining
                ]
            )
            warnings = tuple([warning for _, c in joining for warning in _own(c, variables)])
            given.append(
                Injection(
                    provider=giver.provider,
                    containers=touches,
                    warnings=warnings,
                    summary=f"as container {model.name} has it",
                )
            )
    return tuple(given)


def _named(name: str, patterns: Collection[str]) -> bool:
    return name in patterns or any(name.startswith(p[:-1]) for p in patterns if p.endswith("*"))


def _has(container: Container, volumes: Collection[str]) -> bool:
    return any(mount.name in volumes for mount in container.volume_mounts or ())


def _variables(model: Container, names: Collection[str]) -> tuple[Variable, ...]:
    """As they stand there, already safe from the kubelet's expansion."""
    return tuple(
        Variable(v.name, v.value)
        for v in model.env or ()
        if v.name in names and v.value is not None
    )


def _own(container: Container, variables: Iterable[Variable]) -> Iterator[str]:
    there = {v.name: v.value for v in container.env or ()}
    if names := [v.name for v in variables if v.name in there and there[v.name] != v.value]:
        yield f"container {container.name} sets {', '.join(names)} itself: that is left as it is"


def _mounts(model: Container, volumes: Collection[str]) -> tuple[Mount, ...]:
    return tuple(
        Mount(m.name, m.mount_path, bool(m.read_only))
        for m in model.volume_mounts or ()
        if m.name in volumes
    )
