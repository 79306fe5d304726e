"""How many at once, and how long to wait. A worker never sleeps: who must wait goes back to a heap with its due time."""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from queue import Empty, SimpleQueue
from random import uniform
from typing import Protocol

from cwiictl.engine.resource import Event, Phase, Report, What, silent
from cwiictl.engine.workers import Ear, Ended, News, Workers, listening
from cwiictl.errors import BadInput, NotYet, Throttled

SLICE = 0.2  # seconds: how late a signal may be heard
SHORTEST = 0.1  # seconds between two tries, however short the patience is
TRIES = 15  # at least so many have room in the patience with a thing
REPORT = "report"  # where a report that broke is found among the failures


class Clock(Protocol):
    def now(self) -> float: ...
    def listen(self, news: News, seconds: float | None, *, running: bool) -> None: ...


class RealClock:
    def now(self) -> float:
        return time.monotonic()

    def listen(self, news: News, seconds: float | None, *, running: bool) -> None:  # noqa: ARG002 - tests' clocks want to know
        """Until there is news, or the seconds have passed. What came is put back: the queue's only reader is this thread.

        Never for long: a signal that comes while we wait is heard after it.
        """
        with suppress(Empty):
            news.put(news.get(timeout=SLICE if seconds is None else min(seconds, SLICE)))


@dataclass(frozen=True)
class Pace:
    width: int = 16  # calls at once; lowered by itself when a cloud throttles
    longest: float = 20.0  # between two tries; less where patience is short
    clock: Clock = field(default_factory=RealClock)
    jitter: Callable[[float, float], float] = uniform

    def __post_init__(self) -> None:
        if self.width < 1:
            raise BadInput(f"{self.width} calls at once would never end", remedy="choose 1 or more")

    def delay(self, tried: int, e: NotYet, patience: float) -> float:
        if e.after is not None:
            return max(e.after, SHORTEST)  # clouds do say 0, and mean soon
        top = min(2.0 ** min(tried, 16) / 4, self.longest, max(patience / TRIES, SHORTEST))
        return self.jitter(top / 2, top)


@dataclass
class Ran:
    failed: dict[str, Exception] = field(default_factory=dict[str, Exception])
    skipped: set[str] = field(default_factory=set[str])
    interrupted: bool = False

    def checked(self) -> None:
        """For who acts outside of any plan, and has nothing to go on with."""
        for e in self.failed.values():
            raise e
        if self.interrupted:
            raise KeyboardInterrupt


@dataclass
class Job:
    """What to run: each node of the graph once, what it needs first."""

    graph: Mapping[str, Collection[str]]
    do: Callable[
        [str, int], str
    ]  # in a worker; the second argument counts the tries from 1; says in a word what it did
    skip: Callable[[str, Collection[str]], str] = lambda _address, _bad: (
        ""
    )  # why, seeing what failed or was skipped
    failed: Mapping[str, Exception] = field(
        default_factory=dict[str, Exception]
    )  # already, before they are tried
    patience: Callable[[str], float] = lambda _address: 120.0
    report: Report = silent
    verb: Phase = "writing"


def run(job: Job, pace: Pace) -> Ran:
    news: News = SimpleQueue()
    workers = Workers(job.do, news)
    try:
        with listening() as ear:
            return _Turn(job, pace, news, workers, ear).run()
    finally:
        workers.close()


class _Turn:
    """One run of a job: the heap of who is ready, the calls under way, and how wide we are."""

    def __init__(self, job: Job, pace: Pace, news: News, workers: Workers, ear: Ear) -> None:
        self.job, self.pace, self.news, self.workers, self.ear = job, pace, news, workers, ear
        self.sorter = TopologicalSorter(job.graph)
        self.height = _heights(job.graph)
        self.waiting: list[tuple[float, str, int]] = []  # until when
        self.ready: list[
            tuple[int, float, int, str, int]
        ] = []  # the longest way behind it first, and since when, and of each kind one in turn
        self.turn = _turns(job.graph)
        self.running: set[str] = set()
        self.until: dict[str, float] = {}  # when the patience with it ends
        self.width = pace.width
        self.ran = Ran()
        self.ended: set[str] = set()
        self.fatal: BaseException | None = None

    @property
    def stopping(self) -> bool:
        """Nothing more is started: we were asked to stop, nobody can be told any more, or a call wants the whole program to end."""
        return bool(self.ear.told or self.fatal or REPORT in self.ran.failed)

    def run(self) -> Ran:
        self.sorter.prepare()
        while self.running or (self.sorter.is_active() and not self.stopping):
            if not self.stopping:
                self.release()
                self.submit()
            self.listen()
        for address in sorted(self.job.graph.keys() - self.ended):
            self.skip(address, "interrupted")
        self.ran.interrupted = self.stopping
        if self.fatal:
            raise self.fatal
        return self.ran

    def tell(self, what: What, address: str, why: str = "") -> None:
        if REPORT not in self.ran.failed:
            try:
                self.job.report(
                    Event(what, address, why, len(self.ended), len(self.job.graph), self.job.verb)
                )
            except Exception as e:  # noqa: BLE001 - whatever it is, the calls under way are not forgotten for it
                self.ran.failed[REPORT] = e

    def release(self) -> None:
        while batch := self.sorter.get_ready() if self.sorter.is_active() else ():
            now = self.pace.clock.now()
            for address in batch:
                if address in self.job.failed:
                    self.fail(address, self.job.failed[address])
                elif why := self.job.skip(address, self.ran.failed.keys() | self.ran.skipped):
                    self.skip(address, why)
                else:
                    self.until[address] = now + self.job.patience(address)
                    heapq.heappush(self.waiting, (now, address, 1))

    def submit(self) -> None:
        self.wake()
        while self.ready and len(self.running) < self.width:
            now = self.pace.clock.now()
            _, due, _, address, tried = heapq.heappop(self.ready)
            self.until[address] += now - due  # it was ready, only there was no room for it
            if tried == 1 and not self.stopping:
                self.tell(self.job.verb, address)
            if self.stopping:
                return
            self.workers.call(address, tried, len(self.running))
            self.running.add(address)

    def wake(self) -> None:
        while self.waiting and self.waiting[0][0] <= self.pace.clock.now():
            due, address, tried = heapq.heappop(self.waiting)
            heapq.heappush(
                self.ready, (-self.height[address], due, self.turn[address], address, tried)
            )

    def listen(self) -> None:
        """Wait for an ended call, or the next that is due; then take in all that came."""
        if not self.running and (self.stopping or not (self.ready or self.waiting)):
            return
        full = len(self.running) >= self.width
        due = (
            None
            if full or self.stopping or not self.waiting
            else max(0.0, self.waiting[0][0] - self.pace.clock.now())
        )
        self.pace.clock.listen(self.news, due, running=bool(self.running))
        with suppress(Empty):
            while True:
                self.take(self.news.get_nowait())

    def take(self, ended: Ended) -> None:
        self.running.remove(ended.address)
        match ended.error:
            case None:
                self.width = min(self.pace.width, self.width + 1)
                self.end(ended.address, "done", ended.said)
            case NotYet() as e:
                self.later(ended.address, ended.tried, e)
            case Exception() as e:
                self.fail(ended.address, e)
            case e:
                self.fatal = self.fatal or e

    def later(self, address: str, tried: int, e: NotYet) -> None:
        if isinstance(e, Throttled):
            self.width = max(1, self.width // 2)
        now = self.pace.clock.now()
        left = self.until[address] - now
        if left <= 0 or (e.after or 0) > left:
            self.fail(address, e)
        else:
            self.tell("waiting", address, e.problem)
            due = now + min(self.pace.delay(tried, e, self.job.patience(address)), left)
            heapq.heappush(self.waiting, (due, address, tried + 1))

    def fail(self, address: str, e: Exception) -> None:
        self.ran.failed[address] = e
        self.end(address, "failed", str(e) or type(e).__name__)

    def skip(self, address: str, why: str) -> None:
        self.ran.skipped.add(address)
        self.end(address, "skipped", why)

    def end(self, address: str, what: What, why: str) -> None:
        self.ended.add(address)
        if not self.stopping:
            self.sorter.done(address)
        self.tell(what, address, why)


def _heights(graph: Mapping[str, Collection[str]]) -> dict[str, int]:
    """How many must come after each, one after another: whoever has the longest way behind it is begun first."""
    height = dict.fromkeys(graph, 0)
    for address in reversed([*TopologicalSorter(graph).static_order()]):
        for need in graph[address]:
            height[need] = max(height[need], height[address] + 1)
    return height


def _turns(graph: Mapping[str, Collection[str]]) -> dict[str, int]:
    """Which of its kind each is: a hundred of one kind do not keep the only one of another waiting."""
    kinds: Counter[str] = Counter()
    turns: dict[str, int] = {}
    for address in sorted(graph):
        kind = address.rpartition("/")[0]
        turns[address] = kinds[kind]
        kinds[kind] += 1
    return turns
