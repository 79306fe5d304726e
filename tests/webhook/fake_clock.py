"""A clock that tests advance, and functions that wait for a condition."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable

TIMEOUT = 10.0  # seconds of real time
POLL_INTERVAL = 0.002


class FakeClock:
    """A clock for code in an event loop. Its time only changes with `advance`."""

    def __init__(self) -> None:
        self.time = 1000.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._sequence = itertools.count()

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float, /) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.time + seconds, next(self._sequence), future))
        await future

    def jitter(self, _low: float, high: float, /) -> float:
        return high

    def advance(self, seconds: float) -> None:
        self.time += seconds
        while self._sleepers and self._sleepers[0][0] <= self.time:
            future = heapq.heappop(self._sleepers)[2]
            if not future.done():
                future.set_result(None)


async def wait_until(condition: Callable[[], object]) -> None:
    """Waits in real time, for events from sockets and other threads."""
    for _ in range(int(TIMEOUT / POLL_INTERVAL)):
        if condition():
            return
        await asyncio.sleep(POLL_INTERVAL)
    raise AssertionError("what was waited for did not happen")


async def advance_until(clock: FakeClock, step: float, condition: Callable[[], object]) -> None:
    """Advances the clock step by step until the condition is true."""

    def check_and_advance() -> object:
        if result := condition():
            return result
        clock.advance(step)
        return None

    await wait_until(check_and_advance)
