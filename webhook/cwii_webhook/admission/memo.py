"""What was worked out once and is wanted again. Strangers choose what is asked, so there is room for so much and no more."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

ROOM = 1024  # things that one memo holds
HEAVY = 16384  # weight above which nothing is kept, where no other is said: nobody needs so much in earnest
BUDGET = 2 << 20  # weight of all that one memo holds

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Memo(Generic[K, V]):
    """The oldest goes where there is no room."""

    __slots__ = ("_heavy", "_kept", "_room", "_weights", "get", "weight")

    def __init__(self, room: int = ROOM, heavy: int = HEAVY) -> None:
        self._kept: dict[K, V] = {}
        self._weights: dict[K, int] = {}
        self._room = room
        self._heavy = heavy
        self.weight = 0
        self.get = self._kept.get

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, key: K, value: V, weight: int) -> V:
        if weight <= self._heavy:
            self._forget(key)
            while self._kept and (len(self._kept) >= self._room or self.weight + weight > BUDGET):
                self._forget(next(iter(self._kept)))
            self._kept[key] = value
            self._weights[key] = weight
            self.weight += weight
        return value

    def _forget(self, key: K) -> None:
        if key in self._kept:
            del self._kept[key]
            self.weight -= self._weights.pop(key)
