"""Types of the API server's responses, decoded only as far as the webhook reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import Raw, Struct

from cwii_webhook.admission.cluster_view import ObjectMetadata, OwnerReference

MAX_INTERNED_STRINGS = 4096
INITIAL_EVENTS_END = "k8s.io/initial-events-end"

AnnotationFilter = Callable[[str], bool]  # whether any dialect reads the annotation with this key


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


class PageMetadata(
    Struct, gc=False, rename={"resource_version": "resourceVersion", "continue_token": "continue"}
):
    resource_version: str = ""
    continue_token: str = ""


class Page(Struct, gc=False):
    metadata: PageMetadata
    items: list[Item] | None = None


class Event(Struct, gc=False):
    type: str
    object: Raw = Raw()


class StatusDetails(Struct, gc=False):
    retry_after_seconds: int = msgspec.field(default=0, name="retryAfterSeconds")


class Status(Struct, gc=False):
    """The API server's description of an error."""

    code: int = 0
    message: str = ""
    reason: str = ""
    details: StatusDetails | None = None


class ResourceName(Struct, gc=False):
    name: str


class ResourceList(Struct, gc=False):
    """The resources that a version of an API group serves."""

    resources: list[ResourceName] = []


decode_item: Final = msgspec.json.Decoder(Item).decode
decode_page: Final = msgspec.json.Decoder(Page).decode
decode_event: Final = msgspec.json.Decoder(Event).decode
decode_status: Final = msgspec.json.Decoder(Status).decode
_decode_data: Final = msgspec.json.Decoder(dict[str, str] | None).decode
decode_resource_list: Final = msgspec.json.Decoder(ResourceList).decode

_NO_ANNOTATIONS: Final[dict[str, str]] = {}
_NO_OWNERS: Final[tuple[OwnerReference, ...]] = ()


class StringInterner:
    """Keeps one copy of each frequent string.

    The number of strings is limited, because users of the cluster choose some of them.
    """

    def __init__(self) -> None:
        self._strings: dict[str, str] = {}

    def intern(self, text: str) -> str:
        return (
            self._strings.setdefault(text, text)
            if len(self._strings) < MAX_INTERNED_STRINGS
            else self._strings.get(text, text)
        )


class MetadataReader:
    """Reduces metadata to what the cache keeps. The cache holds up to 30,000 objects."""

    def __init__(self, annotation_filter: AnnotationFilter) -> None:
        self._annotation_filter = annotation_filter
        self._strings = StringInterner()

    def key(self, metadata: Metadata) -> tuple[str, str]:
        return self._strings.intern(metadata.namespace), metadata.name

    def read(self, metadata: Metadata) -> ObjectMetadata:
        return ObjectMetadata(
            self._annotations(metadata.annotations),
            self._owners(metadata.owner_references),
            metadata.uid,
        )

    def read_config_map(self, item: Item) -> ObjectMetadata:
        """Returns the ConfigMap's data in the place of annotations."""
        return ObjectMetadata(
            _decode_data(item.data) or {} if bytes(item.data) else {}, (), item.metadata.uid
        )

    def _annotations(self, annotations: dict[str, str] | None) -> dict[str, str]:
        intern = self._strings.intern
        return (
            {
                intern(key): value
                for key, value in annotations.items()
                if self._annotation_filter(key)
            }
            or _NO_ANNOTATIONS
            if annotations
            else _NO_ANNOTATIONS
        )

    def _owners(self, owners: tuple[OwnerReference, ...] | None) -> tuple[OwnerReference, ...]:
        intern = self._strings.intern
        return (
            tuple(
                OwnerReference(intern(o.api_version), intern(o.kind), o.name, o.uid, o.controller)
                for o in owners
            )
            if owners
            else _NO_OWNERS
        )
