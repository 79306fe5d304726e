"""The laws of `holdings` and `remove` where things of several clouds hang together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from cwiictl.engine.holdings import Removal, holdings, inherit, remove
from cwiictl.engine.resource import Event, Mark, Plan, Walk
from cwiictl.engine.run import Outcome, apply, preview
from cwiictl.errors import Failed, NotYet
from tests.clock import a_pace
from tests.contracts.shelf import Shelf, Thing, World
from tests.graphs import OURS, THEIRS, Node

KINDS = ("host", "lent", "trust", "role")


def two_clouds() -> tuple[World, dict[str, Shelf], list[Walk]]:
    """Of each kind one thing in each cloud, all ours."""
    world = World()
    shelves = {
        f"{cloud}/{kind}": Shelf(world, f"{cloud}/{kind}")
        for cloud in ("east", "west")
        for kind in KINDS
    }
    for shelf in shelves.values():
        shelf.things["x"] = Thing(value="", owner=OURS)
    return world, shelves, [a_walk(shelves, cloud) for cloud in ("east", "west")]


def a_walk(shelves: dict[str, Shelf], cloud: str) -> Walk:
    hosting, lent, trusting, using = ([shelves[f"{cloud}/{kind}"]] for kind in KINDS)
    return Walk(hosting, lent, trusting, using)


def a_place(shelves: dict[str, Shelf], kind: str) -> Shelf:
    """One more, with a thing of ours."""
    shelves[kind] = Shelf(shelves["east/host"].world, kind)
    shelves[kind].things["x"] = Thing(value="", owner=OURS)
    return shelves[kind]


def gone(clouds: list[Walk]) -> Removal:
    return remove(holdings(clouds, "ours", a_pace()), a_pace())


@pytest.mark.parametrize(("slow", "fast"), [("east", "west"), ("west", "east")])
def test_clouds_go_side_by_side_and_all_hosts_of_issuers_last_of_all(slow: str, fast: str) -> None:
    """What is slow in one holds up nothing in another, but for what it trusts."""
    world, _, clouds = two_clouds()
    world.hitches[f"{slow}/role/x"] = [NotYet("it is being disabled", after=30)]

    assert gone(clouds).whole

    assert sorted(world.writes[:2]) == ["east/lent/x", "west/lent/x"]
    assert world.writes[2:6] == [
        f"{fast}/role/x",
        f"{fast}/trust/x",
        f"{slow}/role/x",
        f"{slow}/trust/x",
    ]
    assert sorted(world.writes[6:]) == ["east/host/x", "west/host/x"]


@pytest.mark.parametrize("kind", ["host", "role"])
def test_a_place_that_cannot_say_what_it_holds_is_among_the_failures_and_stops_no_other(
    kind: str,
) -> None:
    world, shelves, clouds = two_clouds()
    world.hitches[f"east/{kind}"] = [Failed("denied")]

    done = gone(clouds)

    assert (set(done.failed), dict(done.skipped), done.whole) == ({f"east/{kind}"}, {}, False)
    assert set(done.dropped) == {f"{each}/x" for each in shelves.keys() - {f"east/{kind}"}}


@pytest.mark.parametrize(
    "trouble", ["unreadable", "stuck", "adopted", "brought", "taken over", "taken out"]
)
def test_the_host_of_an_issuer_stays_while_somebody_may_trust_it_and_goes_on_the_next_run(
    trouble: str,
) -> None:
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
            trust.things["x"] = replace(
                trust.things["x"], owner=THEIRS if trouble == "taken over" else None
            )
        case hold:
            trust.things["x"] = replace(trust.things["x"], owner=Mark("ours", hold))  # pyright: ignore[reportArgumentType]
            held = holdings(clouds, "ours", a_pace())

    done = remove(held, a_pace())

    hosts_ = {"east/host/x", "west/host/x"}
    assert done.skipped.keys() - {"west/trust/x"} == hosts_
    assert {done.skipped[host] for host in hosts_} == {
        f"west/trust{'' if trouble == 'unreadable' else '/x'} may still trust it"
    }
    assert not done.whole
    assert "x" in shelves["east/host"].things
    assert "x" in shelves["west/host"].things
    assert {"east/role/x", "east/trust/x", "west/role/x"} <= set(done.dropped)
    if trouble in {"adopted", "brought"}:
        assert (
            done.skipped["west/trust/x"]
            == "it trusts east/host/x, whose name anybody could take then: delete it first"
        )
        assert gone(clouds).skipped.keys() == done.skipped.keys(), "until its owner has deleted it"
        del trust.things["x"]
    again = gone(clouds)
    assert again.whole
    assert {"east/host/x", "west/host/x"} <= set(again.dropped)


@pytest.mark.parametrize(
    "trouble",
    ["east/lent", "east/trust", "east/role", "east/host/x", "east/trust/x", "east/role/x"],
)
def test_what_everything_is_in_stays_with_what_could_not_be_read_or_would_not_go(
    trouble: str,
) -> None:
    """With it would go what nobody has looked at."""
    world, shelves, clouds = two_clouds()
    room = a_place(shelves, "east/room")
    clouds[0] = replace(clouds[0], around=[room])
    world.hitches[trouble] = [Failed("denied")]

    done = gone(clouds)

    stuck = "east/host/x" if "trust" in trouble else trouble  # the host waits for who trusts it
    assert (
        done.skipped["east/room/x"]
        == f"{stuck} {'is still there' if stuck.endswith('/x') else 'could not be read'}"
    )
    assert "x" in room.things
    assert "west/role/x" in done.dropped
    assert gone(clouds).whole
    assert not any(shelf.things for shelf in shelves.values())


@pytest.mark.parametrize("trouble", ["east/lent", "east/lent/x"])
def test_a_place_of_the_users_own_keeps_our_mark_as_long_as_something_of_ours_may_be_in_it(
    trouble: str,
) -> None:
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


def test_what_could_not_be_given_back_keeps_in_every_cloud_who_trusts_and_so_every_host() -> None:
    """It is found by them on the next run."""
    world, _, clouds = two_clouds()
    world.hitches["east/lent/x"] = [Failed("denied")]

    done = gone(clouds)

    trusting, hosts = ("east/trust/x", "west/trust/x"), ("east/host/x", "west/host/x")
    assert done.skipped == {
        **dict.fromkeys(trusting, "east/lent/x is found by it"),
        **dict.fromkeys(hosts, "east/trust/x may still trust it"),
    }
    assert set(done.dropped) == {"west/lent/x", "east/role/x", "west/role/x"}
    assert gone(clouds).whole


@pytest.mark.parametrize("trouble", ["east/trust", "east/role", "east/trust/x", "east/role/x"])
def test_what_those_that_trust_are_in_stays_with_what_could_not_be_read_or_would_not_go(
    trouble: str,
) -> None:
    world, shelves, clouds = two_clouds()
    pools = [a_place(shelves, f"{cloud}/pool") for cloud in ("east", "west")]
    clouds = [replace(walk, within=[pool]) for walk, pool in zip(clouds, pools, strict=True)]
    world.hitches[trouble] = [Failed("denied")]

    done = gone(clouds)

    assert (
        done.skipped["east/pool/x"]
        == f"{trouble} {'is still there' if trouble.endswith('/x') else 'could not be read'}"
    )
    assert "west/pool/x" in done.dropped
    assert gone(clouds).whole
    assert not any(pool.things for pool in pools)


@pytest.mark.parametrize(
    ("hold", "order"),
    [("owned", "lent role trust pool host room"), ("adopted", "lent host room role trust pool")],
)
def test_within_a_cloud_the_last_made_goes_first_and_what_is_given_back_before_all(
    hold: Any, order: str
) -> None:
    world, shelves, (cloud, _) = two_clouds()
    cloud = replace(
        cloud, around=[a_place(shelves, "east/room")], within=[a_place(shelves, "east/pool")]
    )
    for kind in ("room", "host"):
        shelves[f"east/{kind}"].things["x"] = Thing(value="", owner=replace(OURS, hold=hold))

    done = gone([cloud])

    assert world.writes == [f"east/{kind}/x" for kind in order.split()]
    assert done.released == (("east/host/x", "east/room/x") if hold == "adopted" else ())
    assert done.dropped == tuple(sorted({*world.writes} - {*done.released}))


def test_what_hosts_an_issuer_is_kept_with_all_around_it_for_clouds_that_trust_it_and_were_not_named() -> (
    None
):
    _, shelves, clouds = two_clouds()
    clouds[0] = replace(clouds[0], around=[a_place(shelves, "east/room")])
    shelves["east/host"].things["x"] = Thing(
        value="", owner=replace(OURS, clouds=frozenset({"east", "west", "north"}))
    )
    held = holdings(clouds, "ours", a_pace())

    serving = ("east/room/x", "east/host/x", "east/lent/x")
    assert held.kept({"east"}) == dict.fromkeys(serving, frozenset({"west", "north"}))
    assert held.kept({"east", "west"}) == dict.fromkeys(serving, frozenset({"north"}))
    assert held.kept({"east", "west", "north"}) == {}


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


@pytest.mark.parametrize(
    "mark", [THEIRS, None, replace(OURS, hold="adopted"), replace(OURS, hold="brought")]
)
@pytest.mark.parametrize("kind", KINDS)
def test_what_was_taken_over_since_it_was_found_is_not_dropped(
    kind: str, mark: Mark | None
) -> None:
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

    events: list[Event] = []
    done = inherit(held, OURS, a_pace(), events.append)

    assert set(done.failed) == {"west/trust/x"}
    assert {event.address for event in events if event.why == "update"} == {
        "east/host/x",
        "west/role/x",
    }
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


def test_who_was_interrupted_while_looking_has_not_taken_over_all() -> None:
    _, _, clouds = two_clouds()
    held = holdings(clouds, "ours", a_pace())

    assert not inherit(replace(held, interrupted=True), THEIRS, a_pace()).whole
    assert (
        inherit(held, THEIRS, a_pace()).interrupted,
        dict(inherit(held, THEIRS, a_pace()).skipped),
    ) == (False, {})


def test_only_what_was_chosen_is_removed() -> None:
    world, _, clouds = two_clouds()
    done = remove(holdings(clouds, "ours", a_pace()).only({"west/role/x"}), a_pace())
    assert (done.dropped, world.writes) == (("west/role/x",), ["west/role/x"])


def test_nothing_is_removed_by_a_survey_that_was_interrupted() -> None:
    world, _, clouds = two_clouds()
    held = replace(holdings(clouds, "ours", a_pace()), interrupted=True)
    done = remove(held, a_pace())
    assert (done.interrupted, set(done.skipped.values()), len(done.skipped), world.writes) == (
        True,
        {"interrupted"},
        8,
        [],
    )


@pytest.mark.parametrize("act", [apply, preview])
def test_what_is_ours_is_found_beside_what_is_asked_for_as_it_was_before_the_first_write(
    act: Callable[..., Outcome],
) -> None:
    world, shelves, clouds = two_clouds()
    asked = Plan([Node("new", shelves["east/role"]), Node("x", shelves["west/role"])], clouds)

    done = act(asked, OURS, a_pace(clock=world.clock))

    assert {thing.address for thing in done.held} == {f"{kind}/x" for kind in shelves}
    assert done.held.walks == tuple(clouds)
    assert done.whole


def test_who_cannot_say_what_is_ours_stops_no_write_and_is_told_of() -> None:
    world, shelves, clouds = two_clouds()
    world.hitches["east/host"] = [Failed("denied")]

    done = apply(Plan([Node("new", shelves["east/role"])], clouds), OURS, a_pace(clock=world.clock))

    assert (done.whole, [*done.held.failed]) == (True, ["east/host"])
    assert world.writes == ["east/role/new"]
    assert "host" not in {
        thing.store.kind.partition("/")[2]
        for thing in done.held
        if thing.store.kind.startswith("east/")
    }


def test_a_plan_without_walks_looks_for_nothing_else() -> None:
    world, shelves, _ = two_clouds()
    world.hitches["east/role"] = [Failed("nobody is to ask")]

    done = apply(Plan([Node("new", shelves["east/role"])]), OURS, a_pace(clock=world.clock))

    assert (done.whole, [*done.held], [*done.held.failed]) == (True, [], [])
