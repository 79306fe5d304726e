"""In-memory store of the fake API server, with resource versions and a log of events."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]


class VersionExpired(Exception):
    """The log was compacted after this version."""


@dataclass(frozen=True)
class StoreEvent:
    """A change of an object."""

    version: int
    collection: str  # path of the collection
    type: str
    object: Object


class Store:
    """Objects by the path of their collection, namespace and name."""

    def __init__(self) -> None:
        self.version = 100
        self._objects: dict[str, dict[tuple[str, str], Object]] = {}
        self._log: list[StoreEvent] = []
        self._compacted_version = 0  # the log has no events up to this version
        self._uids = itertools.count(1)
        self.listeners: list[Callable[[StoreEvent], None]] = []

    def list_objects(self, collection: str) -> list[Object]:
        return [item for _, item in sorted(self._objects.get(collection, {}).items())]

    def get(self, collection: str, namespace: str, name: str) -> Object | None:
        return self._objects.get(collection, {}).get((namespace, name))

    def put(self, collection: str, item: Object) -> Object:
        metadata = item["metadata"]
        key = (metadata.get("namespace", ""), metadata["name"])
        objects = self._objects.setdefault(collection, {})
        self.version += 1
        metadata_with_version = {
            "uid": f"uid-{next(self._uids)}",
            **metadata,
            "resourceVersion": str(self.version),
        }
        event_type = "MODIFIED" if key in objects else "ADDED"
        objects[key] = {**item, "metadata": metadata_with_version}
        self._notify(StoreEvent(self.version, collection, event_type, objects[key]))
        return objects[key]

    def delete(self, collection: str, namespace: str, name: str) -> Object | None:
        deleted = self._objects.get(collection, {}).pop((namespace, name), None)
        if deleted:
            self.version += 1
            deleted = {
                **deleted,
                "metadata": {**deleted["metadata"], "resourceVersion": str(self.version)},
            }
            self._notify(StoreEvent(self.version, collection, "DELETED", deleted))
        return deleted

    def since(self, collection: str, version: int) -> Iterator[StoreEvent]:
        if version < self._compacted_version:
            raise VersionExpired
        return iter(
            [
                event
                for event in self._log
                if event.collection == collection and event.version > version
            ]
        )

    def compact(self) -> None:
        self.version += 1
        self._compacted_version = self.version
        self._log.clear()

    def _notify(self, event: StoreEvent) -> None:
        self._log.append(event)
        for listener in list(self.listeners):
            listener(event)
