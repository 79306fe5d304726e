"""Being asked to stop: once, twice, from a terminal or by a supervisor; and calls or reports that break a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cwiictl.engine.holdings import holdings, remove
from cwiictl.engine.pace import REPORT, Pace, RealClock
from cwiictl.engine.resource import Event, Known, Mark, Plan, Walk
from cwiictl.engine.run import Outcome, apply, preview
from cwiictl.engine.workers import News
from cwiictl.errors import NotYet
from tests.clock import a_pace
from tests.contracts.shelf import Shelf, Thing, World
from tests.graphs import OURS, Node

SIGNALS = [signal.SIGINT, signal.SIGTERM]


@pytest.fixture(autouse=True)
def as_before() -> Generator[None]:
    """Whatever happens, the signals are handled afterwards as they were before. (The tests themselves may have been started with them ignored.)"""
    usual = [signal.default_int_handler, signal.SIG_DFL]
    outside = [
        signal.signal(number, handler) for number, handler in zip(SIGNALS, usual, strict=True)
    ]
    yield
    after = [
        signal.signal(number, handler) for number, handler in zip(SIGNALS, outside, strict=True)
    ]
    assert after == usual


class Held(Shelf):
    """Its writes come back when they are let go."""

    def __init__(self) -> None:
        super().__init__(World())
        self.begun, self.gate = threading.Semaphore(0), threading.Event()

    def put(self, name: str, want: Thing, have: Thing | None, /) -> Thing:
        self.begun.release()
        self.gate.wait(10)
        return super().put(name, want, have)


class Attentive(RealClock):
    """Counts how often the engine came back to listen: once more for each signal that it heard."""

    listens = 0

    def listen(self, news: News, seconds: float | None, *, running: bool) -> None:
        self.listens += 1
        super().listen(news, seconds, running=running)


@dataclass
class Killer:
    """Waits for so many calls under way, signals, and lets them go."""

    shelf: Held
    calls: int
    number: int
    twice: bool = False
    clock: Attentive = field(default_factory=Attentive)

    def __enter__(self) -> Killer:
        self.thread = threading.Thread(target=self.work)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shelf.gate.set()
        self.thread.join()

    def work(self) -> None:
        for _ in range(self.calls):
            self.shelf.begun.acquire(timeout=10)
        self.signal()
        if self.twice:
            os.kill(os.getpid(), self.number)
        else:
            self.shelf.gate.set()

    def signal(self) -> None:
        """And wait until it was heard: two at once would be one."""
        time.sleep(0.05)
        before, until = self.clock.listens, time.monotonic() + 2
        os.kill(os.getpid(), self.number)
        while self.clock.listens == before and time.monotonic() < until:
            time.sleep(0.01)


def things(shelf: Shelf, n: int = 40) -> Plan:
    return Plan(Node(f"n{i:02}", shelf) for i in range(n))


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_lets_the_calls_under_way_end_starts_none_and_says_what_was_done(
    number: int,
) -> None:
    shelf, events = Held(), list[Event]()
    with Killer(shelf, 4, number) as killer:
        outcome = apply(things(shelf), OURS, Pace(4, clock=killer.clock), report=events.append)
    assert outcome.interrupted
    assert not outcome.whole
    assert len(shelf.world.writes) == 4
    assert [c.address for c in outcome.changes] == sorted(shelf.world.writes)
    assert len(outcome.skipped) == 36
    assert [e.address for e in events if e.what == "skipped"] == sorted(outcome.skipped)
    assert [
        e.ended for e in events if e.phase == "writing" and e.what in {"done", "skipped"}
    ] == list(range(1, 41))


@pytest.mark.parametrize("number", SIGNALS)
def test_a_second_signal_raises_and_waits_for_nothing(number: int) -> None:
    shelf = Held()
    with Killer(shelf, 4, number, twice=True) as killer:
        with pytest.raises(KeyboardInterrupt):
            apply(things(shelf), OURS, Pace(4, clock=killer.clock))
        assert shelf.world.writes == []


def test_a_signal_while_all_wait_ends_the_wait() -> None:
    class Slow(Shelf):
        def put(self, name: str, want: Thing, have: Thing | None, /) -> Thing:  # noqa: ARG002
            raise NotYet("tomorrow", after=86_400)

    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    outcome = apply(things(Slow(World(), patience=100_000), 3), OURS, Pace())
    assert (outcome.interrupted, outcome.changes, len(outcome.skipped)) == (True, (), 3)


def test_a_signal_while_reading_keeps_from_writing() -> None:
    class Asking(Shelf):
        def get(self, names: Collection[str], /) -> Mapping[str, Thing]:
            os.kill(os.getpid(), signal.SIGINT)
            return super().get(names)

    shelf = Asking(World())
    outcome = apply(things(shelf), OURS, Pace())
    assert (outcome.interrupted, shelf.world.writes, len(outcome.skipped)) == (True, [], 40)


@pytest.mark.parametrize("what", ["done", "reading"])
def test_a_signal_between_two_phases_is_not_lost(what: str) -> None:
    """At the very last moment of the survey, and while its beginning is told."""
    shelf = Shelf(World())

    def report(event: Event) -> None:
        if (event.phase, event.what) == ("reading", what):
            os.kill(os.getpid(), signal.SIGTERM)

    outcome = apply(things(shelf), OURS, Pace(), report=report)
    assert (outcome.interrupted, shelf.world.writes) == (True, [])


def test_a_signal_while_the_beginning_of_a_call_is_told_keeps_it_from_beginning() -> None:
    shelf = Shelf(World())

    def report(event: Event) -> None:
        if event.what == "writing":
            os.kill(os.getpid(), signal.SIGINT)

    outcome = apply(things(shelf), OURS, Pace(), report=report)
    assert (outcome.interrupted, shelf.world.writes, outcome.changes) == (True, [], ())


@pytest.mark.parametrize("act", [apply, preview])
def test_a_signal_while_it_is_judged_what_was_read_is_not_lost(
    act: Callable[[Plan, Mark, Pace], Outcome],
) -> None:
    class Judged(Node):
        def objection(self, found: Known) -> None:  # noqa: ARG002
            os.kill(os.getpid(), signal.SIGINT)

    shelf = Shelf(World())
    outcome = act(Plan([Judged("x", shelf)]), OURS, Pace())
    assert (outcome.interrupted, shelf.world.writes) == (True, [])


def test_a_signal_stops_a_removal_as_it_stops_a_making() -> None:
    shelf = Shelf(World())
    apply(things(shelf), OURS, a_pace())
    shelf.world.writes.clear()

    def report(event: Event) -> None:
        if event.what == "done" and event.phase == "removing" and event.ended == 1:
            os.kill(os.getpid(), signal.SIGINT)

    done = remove(holdings([Walk((), (), (), [shelf])], "ours", Pace()), Pace(1), report)
    assert (done.interrupted, done.dropped) == (True, tuple(shelf.world.writes))
    assert len(done.dropped) + len(done.skipped) == 40
    assert set(done.skipped.values()) == {"interrupted"}


def test_a_run_in_another_thread_works_and_hears_no_signals() -> None:
    shelf, outcomes = Shelf(World()), list[Outcome]()
    thread = threading.Thread(target=lambda: outcomes.append(apply(things(shelf), OURS, a_pace())))
    thread.start()
    thread.join()
    assert outcomes[0].whole
    assert len(shelf.things) == 40


def test_when_a_run_has_ended_so_do_its_threads() -> None:
    before = set(threading.enumerate())
    assert apply(things(Shelf(World())), OURS, a_pace()).whole

    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive()


def test_a_signal_that_was_ignored_stays_ignored() -> None:
    """As under nohup, and for what a script starts in the background."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        shelf = Held()
        with Killer(shelf, 4, signal.SIGINT):
            outcome = apply(things(shelf, 8), OURS, Pace(4))
        assert outcome.whole
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


class Full(Exception):
    pass


def breaks(at: int, error: BaseException) -> Callable[[Event], None]:
    told: list[Event] = []

    def report(event: Event) -> None:
        told.append(event)
        if len(told) == at:
            raise error
        assert len(told) < at, "a report that broke is not called again"

    return report


@pytest.mark.parametrize("at", range(1, 22))
def test_a_report_that_breaks_stops_the_run_and_what_was_done_is_not_lost(at: int) -> None:
    """When nobody can be told any more: the calls under way end, none is started, and the outcome has both what was done and why it stopped."""
    shelf, error = Shelf(World()), Full("no space left on device")
    outcome = apply(things(shelf, 10), OURS, a_pace(2), report=breaks(at, error))
    assert outcome.failed == {REPORT: error}
    assert outcome.interrupted
    assert sorted(shelf.world.writes) == [c.address for c in outcome.changes]
    assert len(outcome.skipped) == 10 - len(outcome.changes)
    assert apply(things(shelf, 10), OURS, a_pace(2)).whole


@pytest.mark.parametrize("at", [1, 2, 3, 5])
def test_a_report_that_breaks_stops_a_preview_and_a_removal_too(at: int) -> None:
    shelf, error = Shelf(World()), Full("no space left on device")
    assert preview(things(shelf, 10), OURS, a_pace(), report=breaks(at, error)).failed == {
        REPORT: error
    }
    apply(things(shelf, 10), OURS, a_pace())
    shelf.world.writes.clear()
    held = holdings([Walk((), (), (), [shelf])], "ours", a_pace())
    done = remove(held, a_pace(), breaks(at, error))
    assert (done.failed, sorted(done.dropped)) == ({REPORT: error}, sorted(shelf.world.writes))
    assert holdings([Walk((), (), (), [shelf])], "ours", a_pace(), breaks(1, error)).interrupted


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_what_ends_the_program_does_so_once_the_calls_under_way_have_ended(
    error: BaseException,
) -> None:
    class Ending(Shelf):
        def put(self, name: str, want: Thing, have: Thing | None, /) -> Thing:
            if name == "n01":
                raise error
            time.sleep(0.05)
            return super().put(name, want, have)

    shelf = Ending(World())
    with pytest.raises(type(error)):
        apply(things(shelf), OURS, Pace(4))
    assert sorted(shelf.world.writes) == ["shelf/n00", "shelf/n02", "shelf/n03"]


PROGRAM = """
import os, signal, sys, time
from cwiictl.engine.pace import Pace
from cwiictl.engine.run import apply
from cwiictl.engine.resource import Plan
from tests.contracts.shelf import Shelf, World
from tests.graphs import OURS, Node

class Slow(Shelf):
    def put(self, name, want, have):
        os.write(1, b"begun\\n")
        time.sleep(float(sys.argv[1]))
        return super().put(name, want, have)

signal.signal(signal.SIGINT, signal.default_int_handler)
shelf = Slow(World())
outcome = apply(Plan(Node(f"n{i}", shelf) for i in range(9)), OURS, Pace(2))
print(outcome.interrupted, len(outcome.changes), len(shelf.world.writes), flush=True)
"""


def program(seconds: float) -> subprocess.Popen[str]:
    root = Path(__file__).parents[3]
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(seconds)],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("number", SIGNALS)
def test_a_program_that_is_signalled_says_what_was_done(number: int) -> None:
    with program(0.3) as it:
        assert it.stdout
        assert [it.stdout.readline() for _ in range(2)] == ["begun\n"] * 2
        it.send_signal(number)
        out, err = it.communicate(timeout=20)
    assert (out, err, it.returncode) == ("True 2 2\n", "", 0)


def test_a_program_that_is_signalled_twice_ends_at_once_though_a_call_hangs() -> None:
    with program(60) as it:
        assert it.stdout
        assert [it.stdout.readline() for _ in range(2)] == ["begun\n"] * 2
        it.send_signal(signal.SIGINT)
        for _ in range(5):  # two that come at once would be one
            time.sleep(0.3)
        it.send_signal(signal.SIGINT)
        try:
            out, err = it.communicate(timeout=15)
        finally:
            it.kill()
    assert out == ""
    assert "KeyboardInterrupt" in err
