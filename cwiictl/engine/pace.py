"""How many at once, and how long to wait. A worker never sleeps: who must wait goes back to a heap with its due time.

The queue of news is the one thing that the calling thread waits for: ended calls and signals both come in by it
(`SimpleQueue.put` may be called from a signal handler; a condition or an event may not).
"""

from __future__ import annotations

import heapq
import signal
import threading
import time
from collections.abc import Callable, Collection, Generator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from queue import Empty, SimpleQueue
from random import uniform
from types import FrameType
from typing import Protocol

from cwiictl.engine.resource import Event, Report, What, silent
from cwiictl.errors import NotYet, Throttled

News = SimpleQueue["Future[None] | None"]  # an ended call, or None for a signal


class Clock(Protocol):
    def now(self) -> float: ...
    def listen(self, news: News, seconds: float | None, *, running: bool) -> None: ...


class RealClock:
    def now(self) -> float:
        return time.monotonic()

    def listen(self, news: News, seconds: float | None, *, running: bool) -> None:  # noqa: ARG002 - tests' clocks want to know
        """Until there is news, or the seconds have passed. What came is put back: the queue's only reader is this thread."""
        with suppress(Empty):
            news.put(news.get(timeout=seconds))


@dataclass(frozen=True)
class Pace:
    width: int = 16  # calls at once; lowered by itself when a cloud throttles
    longest: float = 20.0  # between two tries
    clock: Clock = field(default_factory=RealClock)
    jitter: Callable[[float, float], float] = uniform

    def delay(self, tried: int, e: NotYet) -> float:
        if e.after is not None:
            return e.after
        top = min(2.0 ** min(tried, 16) / 4, self.longest)
        return self.jitter(top / 2, top)


@dataclass
class Ran:
    failed: dict[str, Exception] = field(default_factory=dict[str, Exception])
    skipped: set[str] = field(default_factory=set[str])
    interrupted: bool = False


@dataclass
class Job:
    """What to run: each node of the graph once, what it needs first."""

    graph: Mapping[str, Collection[str]]
    do: Callable[[str, int], None]  # in a worker; the second argument counts the tries from 1
    skip: Callable[[str, Collection[str]], bool] = lambda _address, _bad: False
    patience: Callable[[str], float] = lambda _address: 120.0
    report: Report = silent
    verb: What = "writing"


def run(job: Job, pace: Pace) -> Ran:
    with ThreadPoolExecutor(pace.width) as pool:
        turn = _Turn(job, pace, pool)
        with _signals(turn.news):
            try:
                return turn.run()
            except KeyboardInterrupt:  # the second one: who asked twice does not wait
                pool.shutdown(wait=False, cancel_futures=True)
                raise


@contextmanager
def _signals(news: News) -> Generator[None]:
    """The first SIGINT or SIGTERM is news; the second raises. Only a main thread may listen to signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    told: list[int] = []

    def hear(number: int, _frame: FrameType | None) -> None:
        told.append(number)
        if len(told) > 1:
            raise KeyboardInterrupt
        news.put(None)

    before = {number: signal.signal(number, hear) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Turn:
    """One run of a job: the heap of who is ready, the calls under way, and how wide we are."""

    def __init__(self, job: Job, pace: Pace, pool: ThreadPoolExecutor) -> None:
        self.job, self.pace, self.pool = job, pace, pool
        self.sorter = TopologicalSorter(job.graph)
        self.news: News = SimpleQueue()
        self.ready: list[tuple[float, str, int]] = []
        self.running: dict[Future[None], tuple[str, int]] = {}
        self.began: dict[str, float] = {}
        self.width = pace.width
        self.ran = Ran()
        self.ended = 0

    def run(self) -> Ran:
        self.sorter.prepare()
        while self.sorter.is_active() or self.running:
            self.release()
            self.submit()
            if self.ran.interrupted and not self.running:
                break
            self.listen()
        return self.ran

    def tell(self, what: What, address: str, why: str = "") -> None:
        self.job.report(Event(what, address, why, self.ended, len(self.job.graph)))

    def release(self) -> None:
        while batch := self.sorter.get_ready() if self.sorter.is_active() else ():
            for address in batch:
                if self.job.skip(address, self.ran.failed.keys() | self.ran.skipped):
                    self.ran.skipped.add(address)
                    self.end(address, "skipped", "what it needs is not there")
                else:
                    heapq.heappush(self.ready, (self.pace.clock.now(), address, 1))

    def submit(self) -> None:
        while self.ready and not self.ran.interrupted and len(self.running) < self.width and self.ready[0][0] <= self.pace.clock.now():
            _, address, tried = heapq.heappop(self.ready)
            self.began.setdefault(address, self.pace.clock.now())
            if tried == 1:
                self.tell(self.job.verb, address)
            future = self.pool.submit(self.job.do, address, tried)
            self.running[future] = (address, tried)
            future.add_done_callback(self.news.put)

    def listen(self) -> None:
        """Wait for an ended call, a signal, or the next that is due; then take in all that came."""
        if not (self.running or self.ready):
            return
        full = len(self.running) >= self.width
        due = None if full or self.ran.interrupted or not self.ready else max(0.0, self.ready[0][0] - self.pace.clock.now())
        self.pace.clock.listen(self.news, due, running=bool(self.running))
        while True:
            try:
                news = self.news.get_nowait()
            except Empty:
                return
            if news is None:
                self.ran.interrupted = True
            else:
                self.take(news)

    def take(self, future: Future[None]) -> None:
        address, tried = self.running.pop(future)
        e = future.exception()
        if isinstance(e, Throttled):
            self.width = max(1, self.width // 2)
        if isinstance(e, NotYet) and self.patient(address):
            self.tell("waiting", address, e.problem)
            heapq.heappush(self.ready, (self.pace.clock.now() + self.pace.delay(tried, e), address, tried + 1))
        elif isinstance(e, Exception):
            self.ran.failed[address] = e
            self.end(address, "failed", str(e))
        elif e is not None:
            raise e
        else:
            self.width = min(self.pace.width, self.width + 1)
            self.end(address, "done")

    def patient(self, address: str) -> bool:
        return self.pace.clock.now() - self.began[address] < self.job.patience(address)

    def end(self, address: str, what: What, why: str = "") -> None:
        self.ended += 1
        self.sorter.done(address)
        self.tell(what, address, why)
