"""Time that passes when a test says so, for what waits in an event loop."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable

TIMEOUT = 10.0  # real seconds for what happens over real sockets
POLL_INTERVAL = 0.002


class FakeClock:
    def __init__(self) -> None:
        self.time = 1000.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float, /) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.time + seconds, next(self._numbers), future))
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
    """Waits, in real time, for what comes over a socket."""
    for _ in range(int(TIMEOUT / POLL_INTERVAL)):
        if condition():
            return
        await asyncio.sleep(POLL_INTERVAL)
    raise AssertionError("what was waited for did not happen")


async def advance_until(clock: FakeClock, step: float, condition: Callable[[], object]) -> None:
    """Lets time pass, a step for each turn, until it is so."""

    def stepped() -> object:
        if done := condition():
            return done
        clock.advance(step)
        return None

    await wait_until(stepped)
