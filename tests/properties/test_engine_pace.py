"""The laws of the pace: how many at once, who waits for whom, when patience ends, and what is told of it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from itertools import pairwise
from queue import SimpleQueue
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cwiictl.engine.pace import Job, Pace, Ran, RealClock, run
from cwiictl.engine.resource import Event, Plan
from cwiictl.engine.run import apply, preview
from cwiictl.engine.workers import Ended, News
from cwiictl.errors import BadInput, Failed, NotYet, Throttled
from tests.clock import FakeClock, a_pace
from tests.contracts.shelf import Shelf, Thing, World
from tests.graphs import OURS, THEIRS, Asked, Node, Places, build, endure, graphs, weather


@given(graphs(), weather(), st.integers(1, 4))
def test_never_more_than_the_width_at_once(
    asked: tuple[Asked, ...], bad: Mapping[str, Any], width: int
) -> None:
    places = Places()
    endure(places, bad)
    apply(build(asked, places), OURS, a_pace(width, places.world.clock))
    assert places.world.most <= width


def test_whoever_has_the_longest_way_behind_it_is_begun_first() -> None:
    """A hundred short ones do not hold up the first of five that wait for one another."""
    begun: list[str] = []
    chain = {"z1": (), "z2": ("z1",), "z3": ("z2",)}
    short = {f"a{number}": () for number in range(5)}

    run(Job({**short, **chain}, lambda address, _tried: begun.append(address) or "done"), a_pace(1))

    assert begun == ["z1", "z2", *sorted(short), "z3"]


def test_of_each_kind_one_begins_in_turn_and_of_one_kind_who_has_the_first_name() -> None:
    """A hundred of one kind do not keep the only one of another waiting."""
    begun: list[str] = []
    graph = dict.fromkeys(["many/x/3", "many/x/1", "only/x/9", "many/x/2"], ())

    run(Job(graph, lambda address, _tried: begun.append(address) or "done"), a_pace(1))

    assert begun == ["many/x/1", "only/x/9", "many/x/2", "many/x/3"]


def test_a_width_of_none_is_bad_input() -> None:
    with pytest.raises(BadInput):
        Pace(0)


class Gate(FakeClock):
    """Lets one call through each time the engine has started all it wants to, and notes how many those were."""

    def __init__(self, verdicts: list[bool]) -> None:
        super().__init__()
        self.verdicts, self.widths = verdicts, list[int]()
        self.permits: SimpleQueue[bool] = SimpleQueue()
        self.under_way = 0

    def call(self, _address: str, _tried: int) -> str:
        if self.permits.get(timeout=10):
            raise Throttled("slowly")
        return "done"

    def hear(self, event: Event) -> None:
        self.under_way += {"writing": 1, "waiting": -1, "done": -1}[event.what]

    def listen(self, news: News, seconds: float | None, *, running: bool) -> None:
        if running:
            self.widths.append(self.under_way)
            self.permits.put(
                self.verdicts[len(self.widths) - 1]
                if len(self.widths) <= len(self.verdicts)
                else False
            )
        super().listen(news, seconds, running=running)


@given(st.integers(1, 8), st.lists(st.booleans(), max_size=25))
@example(4, [True, False, True, True, True, *[False] * 6])
def test_the_width_halves_when_throttled_and_grows_back_by_one(
    width: int, verdicts: list[bool]
) -> None:
    gate = Gate(verdicts)
    graph = {f"n{i:02}": () for i in range(8 + 2 * len(verdicts))}
    ran = run(Job(graph, gate.call, report=gate.hear), a_pace(width, gate))
    assert not ran.failed
    allowed = under_way = width
    for throttled, seen in zip(verdicts, gate.widths, strict=False):
        assert seen == under_way
        allowed = max(1, allowed // 2) if throttled else min(width, allowed + 1)
        under_way = max(under_way - 1, allowed)


@given(st.integers(1, 6), st.integers(1, 6), st.sampled_from([NotYet, Throttled]))
def test_who_waits_holds_up_nobody_who_is_ready(
    waiting: int, ready: int, why: type[NotYet]
) -> None:
    world = World()
    shelf = Shelf(world)
    nodes = [
        *(Node(f"a{i}", shelf) for i in range(waiting)),
        *(Node(f"b{i}", shelf) for i in range(ready)),
    ]

    def once_read(event: Event) -> None:
        if event.phase == "reading" and event.what == "done":
            world.hitches.update({f"shelf/a{i}": [why("later")] * (i + 1) for i in range(waiting)})

    assert apply(Plan(nodes), OURS, a_pace(2, world.clock), report=once_read).whole
    assert set(world.writes[:ready]) == {f"shelf/b{i}" for i in range(ready)}


@given(st.floats(0, 2000), st.sampled_from([None, 1.0, 20.0]), st.sampled_from([NotYet, Throttled]))
def test_patience_ends_by_the_seconds_of_the_place(
    patience: float, after: float | None, why: type[NotYet]
) -> None:
    """No try comes after its end, the last one comes at its end, and nobody waits any longer."""
    clock, tries = FakeClock(), list[float]()
    error = why("not yet", after=after)

    def do(_address: str, _tried: int) -> str:
        tries.append(clock.now())
        raise error

    ran = run(Job({"x": ()}, do, patience=lambda _: patience), a_pace(clock=clock))
    assert ran.failed == {"x": error}
    assert (
        clock.now()
        == tries[-1]
        == pytest.approx(patience if after is None else patience // after * after, abs=1e-6)
    )
    assert max((b - a for a, b in pairwise(tries)), default=0) <= 20.0


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=4))
def test_each_place_has_its_own_patience(seconds: list[int]) -> None:
    world = World()
    shelves = [Shelf(world, f"shelf{i}", patience=patience) for i, patience in enumerate(seconds)]
    ends: dict[str, float] = {}

    def never(event: Event) -> None:
        if event.phase == "reading":
            world.hitches.update(
                {
                    f"{shelf.kind}/x": [NotYet("not yet")] * 1000
                    for shelf in shelves
                    if event.ended == event.total
                }
            )
        elif event.what == "failed":
            ends[event.address] = world.clock.now()

    apply(
        Plan(Node("x", shelf) for shelf in shelves), OURS, a_pace(clock=world.clock), report=never
    )
    assert ends == {f"{shelf.kind}/x": pytest.approx(shelf.patience) for shelf in shelves}


def test_who_is_asked_to_wait_longer_than_patience_lasts_gives_up_at_once() -> None:
    clock = FakeClock()

    def do(_address: str, _tried: int) -> str:
        raise Throttled("come back tomorrow", after=86400)

    assert set(run(Job({"x": ()}, do), a_pace(clock=clock)).failed) == {"x"}
    assert clock.now() == 0


def test_each_wait_is_twice_the_last_until_it_is_the_longest_and_chance_takes_half_of_it_at_most() -> (
    None
):
    """So that many who were refused at once do not come again at once."""
    asked: list[tuple[float, float]] = []

    def jitter(low: float, high: float) -> float:
        asked.append((low, high))
        return high

    pace, soon, again = Pace(jitter=jitter), NotYet("soon"), NotYet("in a while", after=7)

    assert [pace.delay(tried, soon, patience=3600) for tried in range(1, 9)] == [
        0.5,
        1,
        2,
        4,
        8,
        16,
        20,
        20,
    ]
    assert [pace.delay(tried, soon, patience=15) for tried in (1, 2, 3, 1000)] == [0.5, 1, 1, 1], (
        "fifteen tries have room in any patience"
    )
    assert pace.delay(9, soon, patience=0) == 0.1
    assert all(low == high / 2 for low, high in asked)
    assert (
        pace.delay(1, again, patience=3600),
        pace.delay(1, NotYet("soon", after=0), patience=3600),
    ) == (7, 0.1), "as it was told"


def test_who_says_nothing_else_is_patient_for_two_minutes_and_makes_sixteen_calls_at_once() -> None:
    job = Job({}, lambda _address, _tried: "")

    assert (job.patience("x"), job.skip("x", ()), job.verb, job.failed) == (
        120.0,
        "",
        "writing",
        {},
    )
    assert (Pace().width, Pace().longest) == (16, 20.0)


def test_a_width_that_would_never_end_is_refused_in_these_words() -> None:
    with pytest.raises(BadInput) as told:
        Pace(0)

    assert (told.value.problem, told.value.remedy) == (
        "0 calls at once would never end",
        "choose 1 or more",
    )
    assert Pace(1).width == 1


def test_who_acts_outside_of_any_plan_is_stopped_by_the_first_failure_or_an_interruption() -> None:
    with pytest.raises(Failed, match="broken"):
        Ran({"x": Failed("broken")}, interrupted=True).checked()
    with pytest.raises(KeyboardInterrupt):
        Ran(interrupted=True).checked()
    Ran().checked()


def test_being_told_to_wait_for_no_time_at_all_is_still_a_wait() -> None:
    clock, tries = FakeClock(), list[int]()

    def do(_address: str, tried: int) -> str:
        tries.append(tried)
        raise NotYet("again", after=0)

    run(Job({"x": ()}, do, patience=lambda _: 1), a_pace(clock=clock))
    assert len(tries) <= 12


def test_the_real_clock_waits_for_news_leaves_them_where_they_are_and_never_waits_for_long() -> (
    None
):
    news, clock, ended = News(), RealClock(), Ended("x", 1)

    began = clock.now()
    clock.listen(news, 0.05, running=False)
    assert clock.now() - began > 0.04, "nobody asks again and again in the meantime"
    for seconds in (86_400, None):
        clock.listen(news, seconds, running=True)
    assert news.empty()
    news.put(ended)
    clock.listen(news, 86_400, running=True)
    assert news.get_nowait() is ended


def test_waiting_for_room_costs_no_patience() -> None:
    """A throttled call that others were let in before is not given up for that."""
    clock, tries = FakeClock(), dict[str, int]()

    def do(address: str, tried: int) -> str:
        tries[address] = tried
        if address == "a":
            if tried < 3:
                raise Throttled("slowly", after=1)
        else:
            clock.time += 30
        return "done"

    ran = run(
        Job({"a": (), **{f"b{i:02}": () for i in range(20)}}, do, patience=lambda _: 60),
        a_pace(1, clock),
    )
    assert not ran.failed
    assert tries["a"] == 3


def test_however_often_it_is_tried_its_beginning_is_told_once_and_each_wait_with_why() -> None:
    events: list[Event] = []

    def do(_address: str, tried: int) -> str:
        if tried < 3:
            raise NotYet(f"not at try {tried}")
        return "made"

    run(Job({"x": ()}, do, report=events.append), a_pace())

    assert [(event.what, event.why) for event in events] == [
        ("writing", ""),
        ("waiting", "not at try 1"),
        ("waiting", "not at try 2"),
        ("done", "made"),
    ]


def test_what_fails_without_a_word_is_told_by_its_kind() -> None:
    events: list[Event] = []

    def do(_address: str, _tried: int) -> str:
        raise TimeoutError

    run(Job({"x": ()}, do, report=events.append), a_pace())

    assert events[-1] == Event("failed", "x", "TimeoutError", 1, 1)


def test_where_there_is_no_room_nobody_is_woken_for_who_is_due() -> None:
    class Noting(FakeClock):
        def listen(self, news: News, seconds: float | None, *, running: bool) -> None:
            noted.append((seconds, running))
            super().listen(news, seconds, running=running)

    def do(address: str, tried: int) -> str:
        if (address, tried) == ("a", 1):
            raise NotYet("soon", after=1)
        return "done"

    noted: list[tuple[float | None, bool]] = []
    run(Job({"a": (), "b": (), "c": ()}, do), a_pace(1, Noting()))

    assert {seconds for seconds, running in noted if running} == {None}
    assert [seconds for seconds, running in noted if not running] == [1.0]


def test_a_place_that_stays_unreadable_is_waited_for_once() -> None:
    world = World()
    shelf = Shelf(world, patience=100)
    world.hitches["shelf/x"] = [NotYet("not yet", after=10) for _ in range(1000)]
    outcome = apply(Plan([Node("x", shelf)]), OURS, a_pace(clock=world.clock))
    assert set(outcome.failed) == {"shelf/x"}
    assert world.clock.now() == 100


@given(graphs(), weather(), st.data())
def test_everything_has_one_end_in_the_calling_thread_and_the_counts_add_up(
    asked: tuple[Asked, ...], bad: Mapping[str, Any], data: st.DataObject
) -> None:
    places = Places()
    plan = build(asked, places)
    endure(places, bad)
    for address in data.draw(st.sets(st.sampled_from(sorted(plan)), max_size=3)):
        places.world.lost[address] = [Failed("no")]
    if data.draw(st.booleans()):
        places.single.things["n0"] = Thing(value="theirs", owner=THEIRS)
    told: list[tuple[Event, int]] = []
    act = data.draw(st.sampled_from([apply, preview]))
    outcome = act(
        plan,
        OURS,
        a_pace(clock=places.world.clock),
        report=lambda e: told.append((e, threading.get_ident())),
    )
    assert {thread for _, thread in told} == {threading.get_ident()}
    events = [event for event, _ in told]
    turn = survey(events)
    for phase in (events[:turn], events[turn:]):
        ends = [e for e in phase if e.what in {"done", "failed", "skipped"}]
        assert len({e.address for e in ends}) == len(ends) == (phase[0].total if phase else 0)
        assert [e.ended for e in ends] == list(range(1, len(ends) + 1))
        assert all(later.ended >= earlier.ended for earlier, later in pairwise(phase))
    last = {e.address: e for e in events[turn:] if e.what in {"done", "failed", "skipped"}}
    assert {a for a, e in last.items() if e.what == "skipped"} == set(outcome.skipped)
    assert {c.address: c.verb for c in outcome.changes} == {
        a: e.why for a, e in last.items() if e.what == "done"
    }
    if act is apply:
        assert {a for a, e in last.items() if e.what == "failed"} == set(outcome.failed)
        assert {e.phase for e in events[turn:]} == {"writing"}


def survey(events: list[Event]) -> int:
    """How many of the events, from the first on, are the survey's: until all that it asks for has ended."""
    return next((i + 1 for i, e in enumerate(events) if e.ended == e.total), 0)
