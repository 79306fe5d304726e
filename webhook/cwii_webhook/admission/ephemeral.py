"""Injects identities into ephemeral containers, which join a running pod.

They get what the pod's other containers have, whatever the annotations say by now. The API server
refuses new volumes in a running pod, so a pod that was admitted without this webhook stays as it
is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Protocol

from cwii_webhook.admission.injection import ContainerInjection, EnvVar, Injection, VolumeMount
from cwii_webhook.admission.review import Container, Pod


class Injector(Protocol):
    """The part of a mutator that names what it injects."""

    @property
    def provider(self) -> str: ...
    @property
    def volume_names(self) -> frozenset[str]:
        """Names of the volumes that it adds, or prefixes that end in a star."""
        ...

    @property
    def env_names(self) -> frozenset[str]:
        """Names of the variables that it sets."""
        ...

    def skipped_containers(self, pod: Pod, /) -> Collection[str]:
        """Returns names of containers that the pod excludes."""
        ...


def ephemeral_injections(
    pod: Pod, old_pod: Pod | None, injectors: Iterable[Injector]
) -> tuple[Injection, ...]:
    """Returns an injection for each identity of the pod, if there are new containers."""
    old = {c.name for c in (old_pod.spec.ephemeral_containers or ())} if old_pod else set[str]()
    new = [(i, c) for i, c in enumerate(pod.spec.ephemeral_containers or ()) if c.name not in old]
    injections = (_injection(pod, new, injector) for injector in injectors)
    return tuple([injection for injection in injections if injection])


def _injection(
    pod: Pod, new: Iterable[tuple[int, Container]], injector: Injector
) -> Injection | None:
    volumes = {volume.name for volume in pod.spec.volumes or ()}
    injected = frozenset(name for name in volumes if _matches(name, injector.volume_names))
    model = next((c for c in pod.spec.containers or () if _mounts_any(c, injected)), None)
    skipped = injector.skipped_containers(pod)
    joining = [(i, container) for i, container in new if container.name not in skipped]
    if model is None or not joining:
        return None
    env, mounts = _env(model, injector.env_names), _mounts(model, injected)
    return Injection(
        provider=injector.provider,
        containers=tuple(
            [ContainerInjection("ephemeralContainers", i, env, mounts) for i, _ in joining]
        ),
        warnings=tuple([text for _, container in joining for text in _conflicts(container, env)]),
        summary=f"as container {model.name} has it",
    )


def _matches(name: str, patterns: Collection[str]) -> bool:
    """Matches a name against names, and prefixes that end in a star."""
    prefixes = [pattern[:-1] for pattern in patterns if pattern.endswith("*")]
    return name in patterns or name.startswith(tuple(prefixes))


def _mounts_any(container: Container, volumes: Collection[str]) -> bool:
    return any(mount.name in volumes for mount in container.volume_mounts or ())


def _env(model: Container, names: Collection[str]) -> tuple[EnvVar, ...]:
    """Copies variables as they are: `env_var` has escaped their values already."""
    return tuple(
        EnvVar(variable.name, variable.value)
        for variable in model.env or ()
        if variable.name in names and variable.value is not None
    )


def _conflicts(container: Container, env: Iterable[EnvVar]) -> Iterator[str]:
    existing = {variable.name: variable.value for variable in container.env or ()}
    names = [v.name for v in env if v.name in existing and existing[v.name] != v.value]
    if names:
        yield f"container {container.name} sets {', '.join(names)} itself: that is left as it is"


def _mounts(model: Container, volumes: Collection[str]) -> tuple[VolumeMount, ...]:
    return tuple(
        VolumeMount(mount.name, mount.mount_path, bool(mount.read_only))
        for mount in model.volume_mounts or ()
        if mount.name in volumes
    )
