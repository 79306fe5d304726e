"""What the double keeps: objects, their versions, and what happened to them since, for as long as it is not compacted."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]


class VersionExpired(Exception):
    """What came after this version is not known any more."""


@dataclass(frozen=True)
class StoreEvent:
    version: int
    path: str  # of all objects of its kind
    type: str
    object: Object


class Store:
    def __init__(self) -> None:
        self.version = 100
        self._objects: dict[str, dict[tuple[str, str], Object]] = {}
        self._log: list[StoreEvent] = []
        self._compacted_version = 0  # the newest version that is compacted away
        self._uids = itertools.count(1)
        self.listeners: list[Callable[[StoreEvent], None]] = []

    def all(self, path: str) -> list[Object]:
        return [thing for _, thing in sorted(self._objects.get(path, {}).items())]

    def get(self, path: str, namespace: str, name: str) -> Object | None:
        return self._objects.get(path, {}).get((namespace, name))

    def put(self, path: str, thing: Object) -> Object:
        metadata = thing["metadata"]
        key = (metadata.get("namespace", ""), metadata["name"])
        collection = self._objects.setdefault(path, {})
        self.version += 1
        metadata_with_version = {
            "uid": f"uid-{next(self._uids)}",
            **metadata,
            "resourceVersion": str(self.version),
        }
        event_type = "MODIFIED" if key in collection else "ADDED"
        collection[key] = {**thing, "metadata": metadata_with_version}
        self._notify(StoreEvent(self.version, path, event_type, collection[key]))
        return collection[key]

    def delete(self, path: str, namespace: str, name: str) -> Object | None:
        deleted = self._objects.get(path, {}).pop((namespace, name), None)
        if deleted:
            self.version += 1
            deleted = {
                **deleted,
                "metadata": {**deleted["metadata"], "resourceVersion": str(self.version)},
            }
            self._notify(StoreEvent(self.version, path, "DELETED", deleted))
        return deleted

    def since(self, path: str, version: int) -> Iterator[StoreEvent]:
        if version < self._compacted_version:
            raise VersionExpired
        return iter([each for each in self._log if each.path == path and each.version > version])

    def compact(self) -> None:
        self.version += 1
        self._compacted_version = self.version
        self._log.clear()

    def _notify(self, event: StoreEvent) -> None:
        self._log.append(event)
        for listener in list(self.listeners):
            listener(event)
