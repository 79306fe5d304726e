"""The laws of `holdings` and `remove`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cwiictl.engine.holdings import Removal, holdings, remove
from cwiictl.engine.resource import Event, Mark
from cwiictl.engine.run import apply
from cwiictl.errors import Failed, NotYet
from tests.clock import a_pace
from tests.contracts.shelf import Shelf, Thing, World
from tests.graphs import OURS, THEIRS, Asked, Places, build, endure, graphs, weather

MARKS = [OURS, replace(OURS, origin="create-identity"), replace(OURS, hold="adopted"), replace(OURS, hold="brought"), THEIRS, None]


def some_things(asked: Collection[Asked], data: st.DataObject) -> Places:
    """A world in which some things came to be ours in each way, and some are not."""
    places = Places()
    assert apply(build(asked, places), OURS, a_pace()).whole
    for shelf, name in places:
        if shelf is not places.part:
            shelf.things[name] = replace(shelf.things[name], owner=data.draw(st.sampled_from(MARKS)))
    places.world.writes.clear()
    return places


def removed(places: Places, **more: Any) -> Removal:
    pace = a_pace(clock=places.world.clock)
    return remove(holdings([places.walk], "ours", pace), pace, **more)


def marks(places: Places) -> Mapping[str, Mark | None]:
    return {shelf.address(name): shelf.things[name].owner for shelf, name in places if shelf is not places.part}


@given(graphs(), weather(), st.data())
def test_remove_drops_what_is_ours_releases_what_was_not_made_by_us_and_touches_nothing_else(
    asked: tuple[Asked, ...], bad: Mapping[str, Any], data: st.DataObject
) -> None:
    places = some_things(asked, data)
    endure(places, bad)
    before, boards = marks(places), dict(places.board.lines)
    done = removed(places)
    assert done.whole
    owned = {address for address, mark in before.items() if mark and mark.cluster == "ours" and mark.hold == "owned"}
    lent = {address for address, mark in before.items() if mark and mark.cluster == "ours" and mark.hold != "owned"}
    assert (set(done.dropped), set(done.released)) == (owned, lent)
    assert set(places.world.writes) == owned | lent
    assert marks(places) == {address: None if address in lent else mark for address, mark in before.items() if address not in owned}
    assert places.board.lines == boards


@given(graphs(), st.data())
def test_what_is_released_is_as_it_was_but_for_the_mark(asked: tuple[Asked, ...], data: st.DataObject) -> None:
    places = some_things(asked, data)
    before = {shelf.address(name): replace(shelf.things[name], owner=None) for shelf, name in places}
    removed(places)
    assert {shelf.address(name): replace(shelf.things[name], owner=None) for shelf, name in places}.items() <= before.items()


@given(graphs(), weather(), st.integers(0, 9), st.sampled_from([RuntimeError("cut"), KeyboardInterrupt(), SystemExit(1)]), st.data())
def test_a_removal_cut_anywhere_and_run_again_ends_as_a_clean_one(
    asked: tuple[Asked, ...], bad: Mapping[str, Any], cut: int, death: BaseException, data: st.DataObject
) -> None:
    places = some_things(asked, data)
    left = {address: mark for address, mark in marks(places).items() if not mark or mark.cluster == "theirs"}
    lent = {address: None for address, mark in marks(places).items() if mark and mark.cluster == "ours" and mark.hold != "owned"}
    endure(places, bad)
    places.world.cut, places.world.death = cut, death
    with suppress(KeyboardInterrupt, SystemExit):
        removed(places)
    assert len(places.world.writes) <= cut
    places.world.cut = None
    assert removed(places).whole
    assert marks(places) == {**left, **lent}
    places.world.writes.clear()
    again = removed(places)
    assert (again.dropped, again.released, places.world.writes) == ((), (), [])


@given(graphs(), st.data())
def test_one_that_will_not_go_is_told_and_keeps_no_other(asked: tuple[Asked, ...], data: st.DataObject) -> None:
    places = some_things(asked, data)
    ours = sorted(thing.address for thing in holdings([places.walk], "ours", a_pace()))
    stuck = data.draw(st.sets(st.sampled_from(ours))) if ours else set[str]()
    places.world.hitches.update({address: [Failed("in use")] for address in {a.partition("@")[0] for a in stuck}})
    done = removed(places)
    assert set(done.failed) == stuck
    assert {*done.dropped, *done.released} == set(ours) - stuck
    assert not done.skipped


@given(graphs(), st.data())
def test_what_was_made_last_goes_first(asked: tuple[Asked, ...], data: st.DataObject) -> None:
    places = some_things(asked, data)
    removed(places)
    order = [shelf.kind for shelf in places.shelves]
    gone = [order.index(address.partition("/")[0]) for address in places.world.writes]
    assert gone == sorted(gone, reverse=True)


def two_clouds() -> tuple[World, list[list[Shelf]]]:
    world = World()
    clouds = [[Shelf(world, f"{cloud}/{kind}") for kind in ("first", "second")] for cloud in ("east", "west")]
    for shelf in (shelf for cloud in clouds for shelf in cloud):
        shelf.things["x"] = Thing(value="", owner=OURS)
    return world, clouds


def test_clouds_go_side_by_side() -> None:
    """What is slow in one holds up nothing in another."""
    world, clouds = two_clouds()
    for cloud in ("east", "west"):
        world.hitches[f"{cloud}/second/x"] = [NotYet("it is being disabled", after=30)]
        world.writes.clear()
        assert remove(holdings(clouds, "ours", a_pace()), a_pace()).whole
        other = "west" if cloud == "east" else "east"
        assert world.writes == [f"{other}/second/x", f"{other}/first/x", f"{cloud}/second/x", f"{cloud}/first/x"]
        for shelf in (shelf for cloud in clouds for shelf in cloud):
            shelf.things["x"] = Thing(value="", owner=OURS)


def test_a_place_that_cannot_say_what_it_holds_is_among_the_failures_and_stops_no_other() -> None:
    world, clouds = two_clouds()
    world.hitches["east/first"] = [Failed("denied")]
    done = remove(holdings(clouds, "ours", a_pace()), a_pace())
    assert (set(done.failed), done.whole) == ({"east/first"}, False)
    assert set(done.dropped) == {"east/second/x", "west/first/x", "west/second/x"}


def test_only_what_was_chosen_is_removed() -> None:
    world, clouds = two_clouds()
    done = remove(holdings(clouds, "ours", a_pace()).only({"west/first/x"}), a_pace())
    assert (done.dropped, world.writes) == (("west/first/x",), ["west/first/x"])


def test_what_another_took_over_between_the_survey_and_its_release_stays_theirs() -> None:
    world, clouds = two_clouds()
    shelf = clouds[0][0]
    shelf.things["x"] = replace(shelf.things["x"], owner=replace(OURS, hold="adopted"))
    held = holdings([[shelf]], "ours", a_pace())
    shelf.things["x"] = replace(shelf.things["x"], owner=THEIRS)
    assert remove(held, a_pace()).whole
    assert (shelf.things["x"].owner, world.writes) == (THEIRS, [])


def test_nothing_is_removed_by_a_survey_that_was_interrupted() -> None:
    world, clouds = two_clouds()
    held = replace(holdings(clouds, "ours", a_pace()), interrupted=True)
    done = remove(held, a_pace())
    assert (done.interrupted, len(done.skipped), world.writes) == (True, 4, [])


@given(graphs(), st.data())
def test_each_thing_has_one_end_and_says_which(asked: tuple[Asked, ...], data: st.DataObject) -> None:
    places = some_things(asked, data)
    events: list[Event] = []
    done = removed(places, report=events.append)
    ends = [e for e in events if e.what == "done"]
    assert {e.address for e in ends if e.why == "drop"} == set(done.dropped)
    assert {e.address for e in ends if e.why == "release"} == set(done.released)
    assert [e.ended for e in ends] == list(range(1, len(ends) + 1))
    assert all(e.phase == "removing" and e.total == len(ends) for e in events)
