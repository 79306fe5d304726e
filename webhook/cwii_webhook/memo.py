"""What was worked out once and is wanted again. Strangers choose what is asked, so there is room for so much and no more."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

ROOM = 1024  # things that one memo holds
HEAVY = 16384  # characters of what is not kept: nobody needs so many in earnest

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Memo(Generic[K, V]):
    """The oldest goes where there is no room."""

    __slots__ = ("_kept", "_room", "get")

    def __init__(self, room: int = ROOM) -> None:
        self._kept: dict[K, V] = {}
        self._room = room
        self.get = self._kept.get

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, key: K, value: V, weight: int) -> V:
        if weight <= HEAVY:
            if len(self._kept) >= self._room:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = value
        return value
