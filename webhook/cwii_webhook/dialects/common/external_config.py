"""Defines the configuration that a dialect reads besides annotations."""

from __future__ import annotations

from typing import Literal, Protocol, get_args

from msgspec import Struct

from cwii_webhook.admission.cluster_view import ObjectRef

Name = Literal["config-map", "identities", "instance"]
NAMES: tuple[Name, ...] = get_args(Name)


class ConfigMapKey(Struct, frozen=True):
    """A key of a ConfigMap, which is watched."""

    ref: ObjectRef
    key: str


class LocalFile(Struct, frozen=True):
    """A file, which is read again when it changes."""

    path: str


class InstanceMetadata(Struct, frozen=True):
    """The metadata service of the cloud instance.

    Its answer does not change. The webhook asks until it has one, and decides nothing before.
    """


class ExternalConfig(Protocol):
    """A source of configuration, and the parsed content of it."""

    @property
    def name(self) -> Name: ...
    @property
    def location(self) -> ConfigMapKey | LocalFile | InstanceMetadata: ...
    def update(self, text: str | None, /) -> str:
        """Takes new content, or None if the source does not exist.

        Returns an error text if the content is invalid. The last valid content then stays in force.
        """
        ...
