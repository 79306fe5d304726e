"""What the double keeps: objects, their versions, and what happened to them since, for as long as it is not compacted."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]


class Expired(Exception):
    """What came after this version is not known any more."""


@dataclass(frozen=True)
class Happened:
    version: int
    path: str  # of all objects of its kind
    type: str
    object: Object


class Store:
    def __init__(self) -> None:
        self.version = 100
        self._things: dict[str, dict[tuple[str, str], Object]] = {}
        self._log: list[Happened] = []
        self._oldest = 0  # the newest version that is compacted away
        self._uids = itertools.count(1)
        self.listeners: list[Callable[[Happened], None]] = []

    def all(self, path: str) -> list[Object]:
        return [thing for _, thing in sorted(self._things.get(path, {}).items())]

    def get(self, path: str, namespace: str, name: str) -> Object | None:
        return self._things.get(path, {}).get((namespace, name))

    def put(self, path: str, thing: Object) -> Object:
        metadata = thing["metadata"]
        key = (metadata.get("namespace", ""), metadata["name"])
        shelf = self._things.setdefault(path, {})
        self.version += 1
        kept = {"uid": f"uid-{next(self._uids)}", **metadata, "resourceVersion": str(self.version)}
        what = "MODIFIED" if key in shelf else "ADDED"
        shelf[key] = {**thing, "metadata": kept}
        self._happened(Happened(self.version, path, what, shelf[key]))
        return shelf[key]

    def drop(self, path: str, namespace: str, name: str) -> Object | None:
        gone = self._things.get(path, {}).pop((namespace, name), None)
        if gone:
            self.version += 1
            gone = {**gone, "metadata": {**gone["metadata"], "resourceVersion": str(self.version)}}
            self._happened(Happened(self.version, path, "DELETED", gone))
        return gone

    def since(self, path: str, version: int) -> Iterator[Happened]:
        if version < self._oldest:
            raise Expired
        return iter([each for each in self._log if each.path == path and each.version > version])

    def compact(self) -> None:
        self.version += 1
        self._oldest = self.version
        self._log.clear()

    def _happened(self, what: Happened) -> None:
        self._log.append(what)
        for listener in list(self.listeners):
            listener(what)
