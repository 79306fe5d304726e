"""The laws of `holdings` and `remove`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwiictl.engine.holdings import Removal, holdings, inspect, remove
from cwiictl.engine.resource import Event, Mark, Walk
from cwiictl.engine.run import apply
from cwiictl.errors import Conflict, Denied, Failed, NotYet
from tests.clock import a_pace
from tests.contracts.shelf import Shelf, Thing, World
from tests.graphs import OURS, THEIRS, Asked, Places, build, endure, graphs, weather

MARKS = [
    OURS,
    replace(OURS, origin="create-identity"),
    replace(OURS, hold="adopted"),
    replace(OURS, hold="brought"),
    THEIRS,
    None,
]


def some_things(asked: Collection[Asked], data: st.DataObject) -> Places:
    """A world in which some things came to be ours in each way, and some are not."""
    places = Places()
    assert apply(build(asked, places), OURS, a_pace()).whole
    for shelf, name in places:
        if shelf is not places.part:
            shelf.things[name] = replace(
                shelf.things[name], owner=data.draw(st.sampled_from(MARKS))
            )
    places.world.writes.clear()
    return places


def removed(places: Places, **more: Any) -> Removal:
    pace = a_pace(clock=places.world.clock)
    return remove(holdings([places.walk], "ours", pace), pace, **more)


def hosts(addresses: Collection[str]) -> set[str]:
    """Of these, what serves an issuer."""
    return {address for address in addresses if address.startswith("bulk/")}


def believes(addresses: Collection[str]) -> bool:
    """Whether any of these trusts an issuer."""
    return any(address.startswith("single/") for address in addresses)


def stays(owned: Collection[str], lent: Collection[str]) -> set[str]:
    """A host of ours that a provider of the user's trusts, and that provider."""
    trusting = {address for address in lent if believes([address])}
    return hosts(owned) | trusting if hosts(owned) and trusting else set()


def marks(places: Places) -> Mapping[str, Mark | None]:
    return {
        shelf.address(name): shelf.things[name].owner
        for shelf, name in places
        if shelf is not places.part
    }


@given(graphs(), weather(), st.data())
def test_remove_drops_what_is_ours_releases_what_was_not_made_by_us_and_touches_nothing_else(
    asked: tuple[Asked, ...], bad: Mapping[str, Any], data: st.DataObject
) -> None:
    places = some_things(asked, data)
    endure(places, bad)
    before, boards = marks(places), dict(places.board.lines)
    done = removed(places)
    owned = {
        address
        for address, mark in before.items()
        if mark and mark.cluster == "ours" and mark.hold == "owned"
    }
    lent = {
        address
        for address, mark in before.items()
        if mark and mark.cluster == "ours" and mark.hold != "owned"
    }
    kept = stays(owned, lent)
    assert (done.failed, set(done.skipped)) == ({}, kept)
    assert (set(done.dropped), set(done.released)) == (owned - kept, lent - kept)
    assert set(places.world.writes) == (owned | lent) - kept
    assert done.whole == (not kept)
    assert removed(places).skipped == done.skipped, "what stays, stays until somebody decides"
    left = {
        address: None if address in lent - kept else mark
        for address, mark in before.items()
        if address not in owned - kept
    }
    assert marks(places) == left
    assert places.board.lines == boards


@given(graphs(), st.data())
def test_what_is_released_is_as_it_was_but_for_the_mark(
    asked: tuple[Asked, ...], data: st.DataObject
) -> None:
    places = some_things(asked, data)
    before = {
        shelf.address(name): replace(shelf.things[name], owner=None) for shelf, name in places
    }
    removed(places)
    assert {
        shelf.address(name): replace(shelf.things[name], owner=None) for shelf, name in places
    }.items() <= before.items()


@given(
    graphs(),
    weather(),
    st.integers(0, 9),
    st.sampled_from([RuntimeError("cut"), KeyboardInterrupt(), SystemExit(1)]),
    st.data(),
)
def test_a_removal_cut_anywhere_and_run_again_ends_as_a_clean_one(
    asked: tuple[Asked, ...],
    bad: Mapping[str, Any],
    cut: int,
    death: BaseException,
    data: st.DataObject,
) -> None:
    places = some_things(asked, data)
    before = marks(places)
    owned = {
        address
        for address, mark in before.items()
        if mark and mark.cluster == "ours" and mark.hold == "owned"
    }
    lent = {
        address
        for address, mark in before.items()
        if mark and mark.cluster == "ours" and mark.hold != "owned"
    }
    kept = stays(owned, lent)
    endure(places, bad)
    places.world.cut, places.world.death = cut, death
    with suppress(KeyboardInterrupt, SystemExit):
        removed(places)
    assert len(places.world.writes) <= cut
    places.world.cut = None
    once = removed(places)
    assert not once.failed
    assert set(once.skipped) == kept
    assert marks(places) == {
        address: None if address in lent - kept else mark
        for address, mark in before.items()
        if address not in owned - kept
    }
    places.world.writes.clear()
    again = removed(places)
    assert (again.dropped, again.released, places.world.writes) == ((), (), [])


@given(graphs(), st.data())
def test_one_that_will_not_go_is_told_and_keeps_no_other_but_the_host_that_it_trusts(
    asked: tuple[Asked, ...], data: st.DataObject
) -> None:
    """Whoever takes the name of a host that has gone is believed by all that still trust it."""
    places = some_things(asked, data)
    found = {thing.address: thing.mark for thing in holdings([places.walk], "ours", a_pace())}
    stuck = data.draw(st.sets(st.sampled_from(sorted(found)))) if found else set[str]()
    places.world.hitches.update(
        {address: [Failed("in use")] for address in {a.partition("@")[0] for a in stuck}}
    )
    lent = {address for address, mark in found.items() if mark.hold != "owned"}
    owned, trusting = found.keys() - lent, {address for address in found if believes([address])}
    if stuck & (hosts(lent) | {address for address in found if address.startswith("late/")}):
        kept = trusting | (
            hosts(owned) if trusting else set[str]()
        )  # what could not be given back is found by what trusts
    else:
        kept = stays(owned, lent) | (hosts(owned) if stuck & trusting else set[str]())
    done = removed(places)
    assert set(done.failed) == stuck - kept
    assert set(done.skipped) == kept
    assert all(
        why.startswith("single/") and why.endswith(" may still trust it")
        for address, why in done.skipped.items()
        if hosts([address])
    )
    assert {*done.dropped, *done.released} == found.keys() - stuck - kept
    places.world.hitches.clear()
    removed(places)
    assert {thing.address for thing in holdings([places.walk], "ours", a_pace())} == stays(
        owned, lent
    )


@given(graphs(), st.data())
def test_what_is_given_back_of_a_host_and_what_was_lent_go_first_and_then_what_was_made_last(
    asked: tuple[Asked, ...], data: st.DataObject
) -> None:
    places = some_things(asked, data)
    held = holdings([places.walk], "ours", a_pace())
    back = {thing.address for thing in held.of(places.walk.lent)} | hosts(
        {thing.address for thing in held if thing.mark.hold != "owned"}
    )
    removed(places)
    order = [store.kind for store in places.walk]
    gone = [
        len(order) if address in back else order.index(address.partition("/")[0])
        for address in places.world.writes
    ]
    assert gone == sorted(gone, reverse=True)


@given(graphs(), st.data())
def test_each_thing_has_one_end_and_says_which(
    asked: tuple[Asked, ...], data: st.DataObject
) -> None:
    places = some_things(asked, data)
    events: list[Event] = []
    done = removed(places, report=events.append)
    ends = [e for e in events if e.what in {"done", "skipped"}]
    assert {e.address for e in ends if e.why == "drop"} == set(done.dropped)
    assert {e.address for e in ends if e.why == "release"} == set(done.released)
    assert {e.address: e.why for e in ends if e.what == "skipped"} == done.skipped
    assert [e.ended for e in ends] == list(range(1, len(ends) + 1))
    assert all(e.phase == "removing" and e.total == len(ends) for e in events)


class Room(Shelf):
    """A place of which it is looked at whether something is in it that is not ours."""

    def __init__(self, world: World, errors: Mapping[str, Exception]) -> None:
        super().__init__(world, "room")
        self.errors = errors
        self.inspected: list[str] = []

    def inspect(self, name: str, /) -> None:
        self.inspected.append(name)
        if name in self.errors:
            raise self.errors[name]


def test_what_holds_something_that_is_not_ours_is_told_before_anything_goes_and_where_nobody_may_look_it_is_not() -> (
    None
):
    full = Conflict("it holds a diary", remedy="move it")
    room = Room(World(), {"full": full, "hidden": Denied("not yours to see", remedy="ask")})
    holds: Mapping[str, Any] = {
        "full": "owned",
        "hidden": "owned",
        "empty": "owned",
        "adopted": "adopted",
    }
    room.things.update(
        {name: Thing(value="", owner=replace(OURS, hold=hold)) for name, hold in holds.items()}
    )
    pace = a_pace()
    events: list[Event] = []

    seen = inspect(holdings([Walk((room,), (), (), ())], "ours", pace), pace, events.append)

    assert seen.failed == {"room/full": full}
    assert sorted(room.inspected) == ["empty", "full", "hidden"], (
        "what was only adopted is not dropped, whatever is in it"
    )
    assert {(event.what, event.why) for event in events if event.address == "room/empty"} == {
        ("reading", ""),
        ("done", "read"),
    }
    assert not room.world.writes


class Slow(Shelf):
    """It says of its things that they are being dropped, for so many seconds at a time."""

    def __init__(self, world: World, *seconds: float) -> None:
        super().__init__(world, "slow")
        self.seconds = list(seconds)

    def drop(self, name: str, /) -> None:
        if self.seconds:
            raise NotYet("it is being dropped", after=self.seconds.pop(0))
        super().drop(name)


@pytest.mark.parametrize(
    ("seconds", "looks"), [((15.0, 14.0), 1), ((15.0, 15.0), 2), ((30.0, 30.0), 3)]
)
def test_that_a_thing_is_still_ours_is_believed_for_half_a_minute(
    seconds: tuple[float, ...], looks: int
) -> None:
    """So a drop that is soon tried again costs no reading."""
    slow = Slow(World(), *seconds)
    slow.things["x"] = Thing(value="", owner=OURS)
    pace = a_pace(clock=slow.world.clock)

    assert remove(holdings([Walk((), (), (), [slow])], "ours", pace), pace).dropped == ("slow/x",)
    assert slow.world.reads == ["slow/x"] * looks


def test_what_became_anothers_while_it_would_not_go_is_left_to_it() -> None:
    slow = Slow(World(), 40)
    slow.things["x"] = Thing(value="", owner=OURS)
    pace = a_pace(clock=slow.world.clock)

    def rival(event: Event) -> None:
        if event.what == "waiting":
            slow.things["x"] = Thing(value="", owner=THEIRS)

    done = remove(holdings([Walk((), (), (), [slow])], "ours", pace), pace, rival)

    assert (done.dropped, done.released) == ((), ("slow/x",))
    assert slow.things["x"].owner == THEIRS


@dataclass(frozen=True, kw_only=True)
class Named(Thing):
    @property
    def called(self) -> frozenset[str]:
        return frozenset({self.id})


def test_it_is_told_by_which_words_files_may_tell_of_what_was_dropped_and_of_nothing_else() -> None:
    shelf = Shelf(World())
    lent = replace(OURS, hold="adopted")
    shelf.things.update(
        {
            "a": Named(value="", id="7", owner=OURS),
            "b": Named(value="", id="8", owner=lent),
            "c": Named(value="", id="9", owner=OURS),
        }
    )
    held = holdings([Walk((), (), (), [shelf])], "ours", a_pace())
    del shelf.things["c"]

    done = remove(held, a_pace())

    assert (done.dropped, done.released, done.called) == (
        ("shelf/a", "shelf/c"),
        ("shelf/b",),
        {"7"},
    )


class Keeper(Shelf):
    """Something of its stays, and it says why."""

    @property
    def staying(self) -> Mapping[str, str]:
        return {"x": "another cluster uses it"}


def test_what_is_ours_and_stays_is_told_with_why() -> None:
    world = World()
    assert holdings(
        [Walk([Shelf(world)], (), (), [Keeper(world, "kept")])], "ours", a_pace()
    ).staying == {"kept/x": "another cluster uses it"}


def test_what_is_ours_is_listed_in_the_order_of_its_names() -> None:
    shelf = Shelf(World())
    shelf.things.update({name: Thing(value="", owner=OURS) for name in "bca"})

    assert [thing.address for thing in holdings([Walk((), (), (), [shelf])], "ours", a_pace())] == [
        "shelf/a",
        "shelf/b",
        "shelf/c",
    ]


def test_each_place_is_told_of_as_it_is_read() -> None:
    events: list[Event] = []

    holdings([Walk((), (), (), [Shelf(World())])], "ours", a_pace(), events.append)

    assert [(event.what, event.address, event.why, event.phase) for event in events] == [
        ("reading", "shelf/*", "", "reading"),
        ("done", "shelf/*", "read", "reading"),
    ]
