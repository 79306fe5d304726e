"""Clock, timeouts and backoff, as parameters that tests replace."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from random import uniform
from typing import Any, Protocol, TypeVar

_Result = TypeVar("_Result")


class TimedOut(Exception):
    """An operation took longer than its timeout."""


class Clock(Protocol):
    """Source of time and randomness. Tests pass a fake one, so that they do not sleep."""

    def now(self) -> float: ...
    async def sleep(self, seconds: float, /) -> None: ...
    def jitter(self, low: float, high: float, /) -> float: ...


class RealClock:
    """The monotonic clock of the system."""

    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float, /) -> None:
        await asyncio.sleep(seconds)

    def jitter(self, low: float, high: float, /) -> float:
        return uniform(low, high)  # noqa: S311 - not used for security


async def with_timeout(
    clock: Clock, seconds: float, operation: Coroutine[Any, Any, _Result]
) -> _Result:
    """Returns the result of `operation`, or raises TimedOut.

    `asyncio.timeout` uses the event loop's time, so it ignores a fake clock.
    """
    task, sleeper = asyncio.ensure_future(operation), asyncio.ensure_future(clock.sleep(seconds))
    try:
        await asyncio.wait({task, sleeper}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise TimedOut
    finally:
        task.cancel()
        sleeper.cancel()
        await asyncio.gather(task, sleeper, return_exceptions=True)


MIN_DELAY = 0.2  # seconds
MAX_DELAY = 30.0


@dataclass
class Backoff:
    """Exponential backoff with jitter."""

    clock: Clock
    failures: int = 0

    def reset(self) -> None:
        self.failures = 0

    def next_delay(self, retry_after: float | None = None) -> float:
        """Counts a failure. Returns the seconds to wait, at least `retry_after` if it is given."""
        limit = min(MIN_DELAY * 2 ** min(self.failures, 16), MAX_DELAY)
        self.failures += 1
        return (
            self.clock.jitter(limit / 2, limit)
            if retry_after is None
            else retry_after + self.clock.jitter(0, limit)
        )
