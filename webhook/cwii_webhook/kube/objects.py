"""What the API server sends, decoded no further than we read, and stripped to what is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import Raw, Struct

from cwii_webhook.admission.cluster_view import ObjectMetadata, OwnerReference

MOST_WORDS = 4096
INITIAL_EVENTS_END = "k8s.io/initial-events-end"

Reads = Callable[[str], bool]  # is this annotation's key read by any dialect?


class Metadata(Struct, gc=False, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    annotations: dict[str, str] | None = None
    owner_references: tuple[OwnerReference, ...] | None = None


class Item(Struct, gc=False):
    metadata: Metadata
    data: Raw = Raw()  # of a ConfigMap


class PageMetadata(Struct, gc=False, rename={"version": "resourceVersion", "rest": "continue"}):
    version: str = ""
    rest: str = ""


class Page(Struct, gc=False):
    metadata: PageMetadata
    items: list[Item] | None = None


class Event(Struct, gc=False):
    type: str
    object: Raw = Raw()


class StatusDetails(Struct, gc=False):
    retry_after_seconds: int = msgspec.field(default=0, name="retryAfterSeconds")


class Status(Struct, gc=False):
    """What went wrong, in the API server's words."""

    code: int = 0
    message: str = ""
    reason: str = ""
    details: StatusDetails | None = None


class Resource(Struct, gc=False):
    name: str


class Resources(Struct, gc=False):
    """What an API group holds."""

    resources: list[Resource] = []


item_of: Final = msgspec.json.Decoder(Item).decode
page_of: Final = msgspec.json.Decoder(Page).decode
event_of: Final = msgspec.json.Decoder(Event).decode
status_of: Final = msgspec.json.Decoder(Status).decode
_data_of: Final = msgspec.json.Decoder(dict[str, str] | None).decode
resources_of: Final = msgspec.json.Decoder(Resources).decode

_NO_ANNOTATIONS: Final[dict[str, str]] = {}
_NO_OWNERS: Final[tuple[OwnerReference, ...]] = ()


class Words:
    """Words that come again and again are kept once. So many and no more: strangers choose some of them."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def one(self, word: str) -> str:
        return (
            self._known.setdefault(word, word)
            if len(self._known) < MOST_WORDS
            else self._known.get(word, word)
        )


class MetadataReader:
    """Metadata → what is kept of it. Thirty thousand of these are in memory."""

    def __init__(self, reads: Reads) -> None:
        self._reads = reads
        self._words = Words()

    def key(self, metadata: Metadata) -> tuple[str, str]:
        return self._words.one(metadata.namespace), metadata.name

    def seen(self, metadata: Metadata) -> ObjectMetadata:
        return ObjectMetadata(
            self._annotations(metadata.annotations),
            self._owners(metadata.owner_references),
            metadata.uid,
        )

    def whole(self, item: Item) -> ObjectMetadata:
        """A ConfigMap's data stand where others have annotations."""
        return ObjectMetadata(
            _data_of(item.data) or {} if bytes(item.data) else {}, (), item.metadata.uid
        )

    def _annotations(self, found: dict[str, str] | None) -> dict[str, str]:
        one = self._words.one
        return (
            {one(key): value for key, value in found.items() if self._reads(key)} or _NO_ANNOTATIONS
            if found
            else _NO_ANNOTATIONS
        )

    def _owners(self, found: tuple[OwnerReference, ...] | None) -> tuple[OwnerReference, ...]:
        one = self._words.one
        return (
            tuple(
                OwnerReference(one(o.api_version), one(o.kind), o.name, o.uid, o.controller)
                for o in found
            )
            if found
            else _NO_OWNERS
        )
