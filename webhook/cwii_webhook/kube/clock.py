"""Time and chance as a parameter: whoever judges time is given a clock, so that tests wait for nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from random import uniform
from typing import Any, Protocol, TypeVar

_Done = TypeVar("_Done")


class TimedOut(Exception):
    """What was waited for did not come in time."""


class Clock(Protocol):
    def now(self) -> float: ...
    async def sleep(self, seconds: float, /) -> None: ...
    def jitter(self, low: float, high: float, /) -> float: ...


class RealClock:
    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float, /) -> None:
        await asyncio.sleep(seconds)

    def jitter(self, low: float, high: float, /) -> float:
        return uniform(low, high)  # noqa: S311 - nobody gains by guessing it


async def within(clock: Clock, seconds: float, doing: Coroutine[Any, Any, _Done]) -> _Done:
    """What `doing` gives, or TimedOut; by this clock, which asyncio's own time-outs do not know."""
    task, sleeper = asyncio.ensure_future(doing), asyncio.ensure_future(clock.sleep(seconds))
    try:
        await asyncio.wait({task, sleeper}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise TimedOut
    finally:
        task.cancel()
        sleeper.cancel()
        await asyncio.gather(task, sleeper, return_exceptions=True)


SHORTEST = 0.2  # seconds
LONGEST = 30.0


@dataclass
class Backoff:
    clock: Clock
    failures: int = 0

    def well(self) -> None:
        self.failures = 0

    def failed(self, after: float | None = None) -> float:
        """Seconds to wait; never less than the API server asked for."""
        top = min(SHORTEST * 2 ** min(self.failures, 16), LONGEST)
        self.failures += 1
        return (
            self.clock.jitter(top / 2, top) if after is None else after + self.clock.jitter(0, top)
        )
