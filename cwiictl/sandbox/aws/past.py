"""What things were before they were changed: readers see that for as long as the sandbox lags."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Generator, Mapping
from typing import Any, Generic, TypeVar, cast

from cwiictl.sandbox.faults import Faults

T = TypeVar("T")


class Past(Generic[T]):
    """The earlier states of things of one kind, by name. None is a thing that was not there."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._kept: dict[str, list[tuple[float, T | None]]] = {}

    def keep(self, name: str, before: T | None) -> None:
        """Called before every write."""
        if self._faults.lag > 0:
            self._kept.setdefault(name, []).append(
                (self._faults.clock() + self._faults.lag, before)
            )

    def seen(self, name: str, now: T | None) -> T | None:
        """What a reader sees of a thing that is `now`: the state before the oldest write that has not arrived yet."""
        if name not in self._kept:
            return now
        waiting = [
            (due, state) for due, state in self._kept.get(name, ()) if due > self._faults.clock()
        ]
        self._kept[name] = waiting
        if not waiting:
            del self._kept[name]
        return waiting[0][1] if waiting else now

    def world(self, now: Mapping[str, T]) -> dict[str, T]:
        if not self._kept:
            return dict(now)
        names = [*now, *(name for name in self._kept if name not in now)]
        seen = {name: self.seen(name, now.get(name)) for name in names}
        return {name: state for name, state in seen.items() if state is not None}

    def forget(self) -> None:
        self._kept.clear()


def snapshot(thing: T) -> T:
    """A copy as deep as moto changes things: one level of lists and dicts."""
    copied = copy.copy(thing)
    for name, value in vars(thing).items():
        if isinstance(value, list | dict):
            setattr(copied, name, copy.copy(cast("Any", value)))
    return copied


@contextlib.contextmanager
def instead(thing: Any, **fields: Any) -> Generator[None]:
    """Its fields for a moment, under moto's lock."""
    kept = {name: getattr(thing, name) for name in fields}
    try:
        for name, value in fields.items():
            setattr(thing, name, value)
        yield
    finally:
        for name, value in kept.items():
            setattr(thing, name, value)
