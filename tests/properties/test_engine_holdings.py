"""The laws of `holdings` and `remove`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwiictl.engine.holdings import Removal, holdings, inherit, inspect, remove
from cwiictl.engine.resource import Event, Mark, Walk
from cwiictl.engine.run import apply
from cwiictl.errors import Conflict, Denied, Failed, NotYet
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
    return {shelf.address(name): shelf.things[name].owner for shelf, name in places if shelf is not places.part}


@given(graphs(), weather(), st.data())
def test_remove_drops_what_is_ours_releases_what_was_not_made_by_us_and_touches_nothing_else(
    asked: tuple[Asked, ...], bad: Mapping[str, Any], data: st.DataObject
) -> None:
    places = some_things(asked, data)
    endure(places, bad)
    before, boards = marks(places), dict(places.board.lines)
    done = removed(places)
    owned = {address for address, mark in before.items() if mark and mark.cluster == "ours" and mark.hold == "owned"}
    lent = {address for address, mark in before.items() if mark and mark.cluster == "ours" and mark.hold != "owned"}
    kept = stays(owned, lent)
    assert (done.failed, set(done.skipped)) == ({}, kept)
    assert (set(done.dropped), set(done.released)) == (owned - kept, lent - kept)
    assert set(places.world.writes) == (owned | lent) - kept
    assert done.whole == (not kept)
    assert removed(places).skipped == done.skipped, "what stays, stays until somebody decides"
    left = {address: None if address in lent - kept else mark for address, mark in before.items() if address not in owned - kept}
    assert marks(places) == left
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
    before = marks(places)
    owned = {address for address, mark in before.items() if mark and mark.cluster == "ours" and mark.hold == "owned"}
    lent = {address for address, mark in before.items() if mark and mark.cluster == "ours" and mark.hold != "owned"}
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
    assert marks(places) == {address: None if address in lent - kept else mark for address, mark in before.items() if address not in owned - kept}
    places.world.writes.clear()
    again = removed(places)
    assert (again.dropped, again.released, places.world.writes) == ((), (), [])


@given(graphs(), st.data())
def test_one_that_will_not_go_is_told_and_keeps_no_other_but_the_host_that_it_trusts(asked: tuple[Asked, ...], data: st.DataObject) -> None:
    """Whoever takes the name of a host that has gone is believed by all that still trust it."""
    places = some_things(asked, data)
    found = {thing.address: thing.mark for thing in holdings([places.walk], "ours", a_pace())}
    stuck = data.draw(st.sets(st.sampled_from(sorted(found)))) if found else set[str]()
    places.world.hitches.update({address: [Failed("in use")] for address in {a.partition("@")[0] for a in stuck}})
    lent = {address for address, mark in found.items() if mark.hold != "owned"}
    owned, trusting = found.keys() - lent, {address for address in found if believes([address])}
    if stuck & (hosts(lent) | {address for address in found if address.startswith("late/")}):
        kept = trusting | (hosts(owned) if trusting else set[str]())  # what could not be given back is found by what trusts
    else:
        kept = stays(owned, lent) | (hosts(owned) if stuck & trusting else set[str]())
    done = removed(places)
    assert set(done.failed) == stuck - kept
    assert set(done.skipped) == kept
    assert all(why.startswith("single/") and why.endswith(" may still trust it") for address, why in done.skipped.items() if hosts([address]))
    assert {*done.dropped, *done.released} == found.keys() - stuck - kept
    places.world.hitches.clear()
    removed(places)
    assert {thing.address for thing in holdings([places.walk], "ours", a_pace())} == stays(owned, lent)


@given(graphs(), st.data())
def test_what_is_given_back_of_a_host_and_what_was_lent_go_first_and_then_what_was_made_last(asked: tuple[Asked, ...], data: st.DataObject) -> None:
    places = some_things(asked, data)
    held = holdings([places.walk], "ours", a_pace())
    back = {thing.address for thing in held.of(places.walk.lent)} | hosts({thing.address for thing in held if thing.mark.hold != "owned"})
    removed(places)
    order = [store.kind for store in places.walk]
    gone = [len(order) if address in back else order.index(address.partition("/")[0]) for address in places.world.writes]
    assert gone == sorted(gone, reverse=True)


KINDS = ("host", "lent", "trust", "role")


def two_clouds() -> tuple[World, dict[str, Shelf], list[Walk]]:
    """Of each kind one thing in each cloud, all ours."""
    world = World()
    shelves = {f"{cloud}/{kind}": Shelf(world, f"{cloud}/{kind}") for cloud in ("east", "west") for kind in KINDS}
    for shelf in shelves.values():
        shelf.things["x"] = Thing(value="", owner=OURS)
    return world, shelves, [a_walk(shelves, cloud) for cloud in ("east", "west")]


def a_walk(shelves: dict[str, Shelf], cloud: str) -> Walk:
    hosting, lent, trusting, using = ([shelves[f"{cloud}/{kind}"]] for kind in KINDS)
    return Walk(hosting, lent, trusting, using)


def gone(clouds: list[Walk]) -> Removal:
    return remove(holdings(clouds, "ours", a_pace()), a_pace())


@pytest.mark.parametrize(("slow", "fast"), [("east", "west"), ("west", "east")])
def test_clouds_go_side_by_side_and_all_hosts_of_issuers_last_of_all(slow: str, fast: str) -> None:
    """What is slow in one holds up nothing in another, but for what it trusts."""
    world, _, clouds = two_clouds()
    world.hitches[f"{slow}/role/x"] = [NotYet("it is being disabled", after=30)]

    assert gone(clouds).whole

    assert sorted(world.writes[:2]) == ["east/lent/x", "west/lent/x"]
    assert world.writes[2:6] == [f"{fast}/role/x", f"{fast}/trust/x", f"{slow}/role/x", f"{slow}/trust/x"]
    assert sorted(world.writes[6:]) == ["east/host/x", "west/host/x"]


@pytest.mark.parametrize("kind", ["host", "role"])
def test_a_place_that_cannot_say_what_it_holds_is_among_the_failures_and_stops_no_other(kind: str) -> None:
    world, shelves, clouds = two_clouds()
    world.hitches[f"east/{kind}"] = [Failed("denied")]

    done = gone(clouds)

    assert (set(done.failed), dict(done.skipped), done.whole) == ({f"east/{kind}"}, {}, False)
    assert set(done.dropped) == {f"{each}/x" for each in shelves.keys() - {f"east/{kind}"}}


@pytest.mark.parametrize("trouble", ["unreadable", "stuck", "adopted", "brought", "taken over", "taken out"])
def test_the_host_of_an_issuer_stays_while_somebody_may_trust_it_and_goes_on_the_next_run(trouble: str) -> None:
    """In every cloud: a provider believes the issuer wherever that is hosted."""
    world, shelves, clouds = two_clouds()
    trust = shelves["west/trust"]
    held = holdings(clouds, "ours", a_pace())
    match trouble:
        case "unreadable":
            world.hitches["west/trust"] = [Failed("denied")]
            held = holdings(clouds, "ours", a_pace())
        case "stuck":
            world.hitches["west/trust/x"] = [Failed("in use")]
        case "taken over" | "taken out":
            trust.things["x"] = replace(trust.things["x"], owner=THEIRS if trouble == "taken over" else None)
        case hold:
            trust.things["x"] = replace(trust.things["x"], owner=Mark("ours", hold))  # pyright: ignore[reportArgumentType]
            held = holdings(clouds, "ours", a_pace())

    done = remove(held, a_pace())

    hosts_ = {"east/host/x", "west/host/x"}
    assert done.skipped.keys() - {"west/trust/x"} == hosts_
    assert {done.skipped[host] for host in hosts_} == {f"west/trust{'' if trouble == 'unreadable' else '/x'} may still trust it"}
    assert not done.whole
    assert "x" in shelves["east/host"].things
    assert "x" in shelves["west/host"].things
    assert {"east/role/x", "east/trust/x", "west/role/x"} <= set(done.dropped)
    if trouble in {"adopted", "brought"}:
        assert done.skipped["west/trust/x"] == "it trusts east/host/x, whose name anybody could take then: delete it first"
        assert gone(clouds).skipped.keys() == done.skipped.keys(), "until its owner has deleted it"
        del trust.things["x"]
    again = gone(clouds)
    assert again.whole
    assert {"east/host/x", "west/host/x"} <= set(again.dropped)


@pytest.mark.parametrize("trouble", ["east/lent", "east/trust", "east/role", "east/host/x", "east/trust/x", "east/role/x"])
def test_what_everything_is_in_stays_with_what_could_not_be_read_or_would_not_go(trouble: str) -> None:
    """With it would go what nobody has looked at."""
    world, shelves, clouds = two_clouds()
    room = Shelf(world, "east/room")
    room.things["x"] = Thing(value="", owner=OURS)
    clouds[0] = replace(clouds[0], around=[room])
    world.hitches[trouble] = [Failed("denied")]

    done = gone(clouds)

    stuck = "east/host/x" if "trust" in trouble else trouble  # the host waits for who trusts it
    assert done.skipped["east/room/x"] == f"{stuck} {'is still there' if stuck.endswith('/x') else 'could not be read'}"
    assert "x" in room.things
    assert "west/role/x" in done.dropped
    assert gone(clouds).whole
    assert not any(shelf.things for shelf in (room, *shelves.values()))


@pytest.mark.parametrize("trouble", ["east/lent", "east/lent/x"])
def test_a_place_of_the_users_own_keeps_our_mark_as_long_as_something_of_ours_may_be_in_it(trouble: str) -> None:
    """By that it is found."""
    world, shelves, clouds = two_clouds()
    room, host = Shelf(world, "east/room"), shelves["east/host"]
    room.things["x"] = Thing(value="", owner=replace(OURS, hold="brought"))
    host.things["x"] = replace(host.things["x"], owner=replace(OURS, hold="brought"))
    clouds[0] = replace(clouds[0], around=[room])
    world.hitches[trouble] = [Failed("denied")]

    done = gone(clouds)

    why = f"{trouble}{'' if trouble.endswith('/x') else ' could not be read, and'} is found by it"
    assert (done.skipped["east/room/x"], done.skipped["east/host/x"]) == (why, why)
    assert all(shelf.things["x"].owner for shelf in (room, host))
    assert gone(clouds).whole
    assert [room.things["x"].owner, host.things["x"].owner] == [None, None]


@pytest.mark.parametrize("trouble", ["east/role", "east/role/x"])
def test_what_another_is_found_by_stays_with_it(trouble: str) -> None:
    world, shelves, clouds = two_clouds()
    clouds[0] = replace(clouds[0], finds={"east/trust": "east/role"})
    shelves["east/trust"].things["y"] = Thing(value="", owner=OURS)
    world.hitches[trouble] = [Failed("denied")]

    done = gone(clouds)

    why = "east/role could not be read" if trouble == "east/role" else trouble
    assert done.skipped["east/trust/x"] == f"{why}, and is found by it"
    assert ("east/trust/y" in done.dropped) == (trouble == "east/role/x")
    assert gone(clouds).whole


@pytest.mark.parametrize("mark", [THEIRS, None, replace(OURS, hold="adopted"), replace(OURS, hold="brought")])
@pytest.mark.parametrize("kind", KINDS)
def test_what_was_taken_over_since_it_was_found_is_not_dropped(kind: str, mark: Mark | None) -> None:
    world, shelves, clouds = two_clouds()
    shelf = shelves[f"east/{kind}"]
    held = holdings(clouds, "ours", a_pace())
    shelf.things["x"] = replace(shelf.things["x"], owner=mark)

    done = remove(held, a_pace())

    ours = mark is not None and mark.cluster == "ours"
    assert f"east/{kind}/x" in done.released
    assert f"east/{kind}/x" not in done.dropped
    assert (f"east/{kind}/x" in world.writes) == ours
    assert shelf.things["x"].owner == (None if ours else mark)


def test_what_has_gone_since_it_was_found_is_as_good_as_dropped() -> None:
    world, shelves, clouds = two_clouds()
    held = holdings(clouds, "ours", a_pace())
    del shelves["east/trust"].things["x"]

    done = remove(held, a_pace())

    assert (done.whole, len(done.dropped), len(world.writes)) == (True, 8, 7)


def test_what_another_tool_made_becomes_ours_as_it_is() -> None:
    world, shelves, clouds = two_clouds()
    theirs = Mark("ccoctl/ours", tool="ccoctl")
    for name in ("east/host", "west/role", "west/trust"):
        shelves[name].things["x"] = Thing(value=name, id="7", owner=theirs)
    shelves["west/role"].things["y"] = Thing(value="others'", owner=Mark("ccoctl/another"))
    world.hitches["west/trust/x"] = [Failed("denied")]
    held = holdings(clouds, "ccoctl/ours", a_pace())

    done = inherit(held, OURS, a_pace())

    assert set(done.failed) == {"west/trust/x"}
    assert sorted(world.writes) == ["east/host/x", "west/role/x"]
    assert shelves["east/host"].things["x"] == replace(Thing(value="east/host"), id="7", owner=OURS)
    assert shelves["east/host"].things["x"].owner == OURS
    assert shelves["west/role"].things["y"].owner == Mark("ccoctl/another")
    assert inherit(holdings(clouds, "ccoctl/ours", a_pace()), OURS, a_pace()).whole
    assert not list(holdings(clouds, "ccoctl/ours", a_pace()))


def test_what_has_gone_since_it_was_found_is_not_taken_over() -> None:
    world, shelves, clouds = two_clouds()
    held = holdings(clouds, "ours", a_pace())
    del shelves["east/trust"].things["x"]

    assert inherit(held, THEIRS, a_pace()).whole
    assert "east/trust/x" not in world.writes


def test_only_what_was_chosen_is_removed() -> None:
    world, _, clouds = two_clouds()
    done = remove(holdings(clouds, "ours", a_pace()).only({"west/role/x"}), a_pace())
    assert (done.dropped, world.writes) == (("west/role/x",), ["west/role/x"])


def test_nothing_is_removed_by_a_survey_that_was_interrupted() -> None:
    world, _, clouds = two_clouds()
    held = replace(holdings(clouds, "ours", a_pace()), interrupted=True)
    done = remove(held, a_pace())
    assert (done.interrupted, set(done.skipped.values()), len(done.skipped), world.writes) == (True, {"interrupted"}, 8, [])


@given(graphs(), st.data())
def test_each_thing_has_one_end_and_says_which(asked: tuple[Asked, ...], data: st.DataObject) -> None:
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


def test_what_holds_something_that_is_not_ours_is_told_before_anything_goes_and_where_nobody_may_look_it_is_not() -> None:
    full = Conflict("it holds a diary", remedy="move it")
    room = Room(World(), {"full": full, "hidden": Denied("not yours to see", remedy="ask")})
    holds: Mapping[str, Any] = {"full": "owned", "hidden": "owned", "empty": "owned", "adopted": "adopted"}
    room.things.update({name: Thing(value="", owner=replace(OURS, hold=hold)) for name, hold in holds.items()})
    pace = a_pace()
    events: list[Event] = []

    seen = inspect(holdings([Walk((room,), (), (), ())], "ours", pace), pace, events.append)

    assert seen.failed == {"room/full": full}
    assert sorted(room.inspected) == ["empty", "full", "hidden"], "what was only adopted is not dropped, whatever is in it"
    assert {(event.what, event.why) for event in events if event.address == "room/empty"} == {("reading", ""), ("done", "read")}
    assert not room.world.writes
