"""What a dialect heeds besides annotations: where it stands, and who understands it."""

from __future__ import annotations

from typing import Literal, Protocol, get_args, runtime_checkable

from msgspec import Struct

from cwii_webhook.admission.cluster_view import ObjectRef

Name = Literal["config-map", "identities", "instance"]
NAMES: tuple[Name, ...] = get_args(Name)


class ConfigMapKey(Struct, frozen=True):
    """One of a ConfigMap's, which is watched."""

    ref: ObjectRef
    key: str


class LocalFile(Struct, frozen=True):
    """Read again whenever it changes."""

    path: str


class InstanceMetadata(Struct, frozen=True):
    """What a cloud's machine is told of itself. It stays the same: it is asked for until it has answered once, before anything is decided."""


class ExternalConfig(Protocol):
    @property
    def name(self) -> Name: ...
    @property
    def location(self) -> ConfigMapKey | LocalFile | InstanceMetadata: ...
    def update(self, text: str | None, /) -> str:
        """Heed what stands there, or that nothing does. Gives why it cannot be heeded, as far as it cannot: then what was good last still is."""
        ...


@runtime_checkable
class HasExternalConfig(Protocol):
    """A mutator that has such sources."""

    @property
    def external_config(self) -> tuple[ExternalConfig, ...]: ...
