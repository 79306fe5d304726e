"""What a run does with what a resource says of itself: one example of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cwiictl.engine.resource import Event, Plan, Resource
from cwiictl.engine.run import apply, foretold, preview
from cwiictl.errors import Failed, NotYet
from tests.clock import a_pace
from tests.cwiictl.engine.said import BOTH, Act, Said, a_thing, ends, ran
from tests.graphs import OURS, Node, Part, Places, verbs


@BOTH
def test_first_each_place_is_read_and_told_of(act: Act) -> None:
    places = Places()
    events: list[Event] = []

    ran(
        act,
        Node("x", places.single),
        Node("y", places.bulk),
        Node("z", places.bulk),
        report=events.append,
    )

    assert {(e.address, e.why, e.phase, e.total) for e in events[:4] if e.what == "done"} == {
        ("single/x", "read", "reading", 2),
        ("bulk", "read", "reading", 2),
    }


def test_a_right_that_is_lent_for_the_run_is_given_back() -> None:
    places = Places()
    right = Said("x", places.single, says={"lends"})

    assert ends(apply, right) == {"single/x": "create"}
    assert ends(apply, right) == {"single/x": "keep"}
    places.single.things["x"] = a_thing("somebody has it")
    assert ends(preview, right) == {"single/x": "give back"}
    assert ends(apply, right) == {"single/x": "give back"}
    assert ends(apply, Node("x", places.single, "b")) == {"single/x": "update"}


@BOTH
def test_a_shared_document_grows_by_what_this_run_makes_and_is_repaired_else(act: Act) -> None:
    places = Places()
    places.single.things["list"] = a_thing("old", replace(OURS, hold="adopted"))
    members = [Node(name, places.bulk) for name in ("m1", "m2")]
    shared = Said("list", places.single, glad=tuple(members))

    assert verbs(ran(act, shared)) == {
        "single/list": "extend",
        "bulk/m1": "create",
        "bulk/m2": "create",
    }
    if act is apply:
        assert places.single.things["list"].owner == replace(OURS, hold="adopted")
    places.single.things["list"] = a_thing("drift")
    places.bulk.things["m1"] = a_thing()
    assert verbs(ran(act, shared))["single/list"] == "update", (
        "of its members not all were made now"
    )


@BOTH
def test_what_nobody_asked_for_and_stays_is_told_of_what_is_there_alone(act: Act) -> None:
    places = Places()
    places.single.things["x"] = a_thing()

    done = ran(
        act,
        Said("x", places.single, told=("it has more",)),
        Said("y", places.single, told=("it has more",)),
    )

    assert {change.address: change.remarks for change in done.changes} == {
        "single/x": ("it has more",),
        "single/y": (),
    }


def test_what_it_awaits_comes_before_it_though_it_does_not_hold_it_and_stops_it_if_it_fails() -> (
    None
):
    places = Places()
    first, second = Node("z", places.single), Said("a", places.single, waits=("single/z",))

    assert ran(apply, second, first).whole
    assert places.world.writes == ["single/z", "single/a"]
    again = Places()
    again.world.hitches["single/z"] = [Failed("denied")]
    done = ends(apply, Said("a", again.single, waits=("single/z",)), Node("z", again.single))
    assert done == {"single/z": "denied", "single/a": "it needs single/z"}


def test_what_was_made_and_not_finished_is_told_and_nothing_else_that_failed() -> None:
    """A thing may take several calls: of a new one that failed, the first may have been carried out."""
    places = Places()
    places.bulk.things["parent"] = a_thing()
    places.single.things.update({"old": a_thing("drift"), "gone": a_thing()})
    asked: list[Resource[Any]] = [Node(name, places.single) for name in ("made", "old", "never")]
    asked.append(Part("parent", places.part, on=(Node("parent", places.bulk),)))
    for address in ("single/made", "single/old", "part/parent"):
        places.world.lost[address] = [Failed("the connection broke")]
    events: list[Event] = []

    def report(event: Event) -> None:
        events.append(event)
        if (event.phase, event.what, event.address) == ("writing", "writing", "single/never"):
            places.world.hitches["single/never"] = [Failed("denied")]

    done = ran(apply, *asked, report=report)

    assert set(done.failed) == {"single/made", "single/old", "single/never", "part/parent"}
    assert done.unfinished == {"single/made"}
    assert not [
        e for e in events if e.phase == "reading" and e.ended == 0 and e.address == "part/parent"
    ][1:], "it is looked for once more, in silence"
    assert ran(preview, *asked).unfinished == ()


def test_where_it_cannot_be_looked_once_more_nobody_waits_for_it() -> None:
    places = Places()

    def report(event: Event) -> None:
        if event.what == "failed":
            places.world.hitches["single/x"] = [NotYet("not yet")] * 100

    places.world.lost["single/x"] = [Failed("the connection broke")]
    done = apply(
        Plan([Node("x", places.single)]), OURS, a_pace(clock=places.world.clock), report=report
    )

    assert (done.unfinished, places.world.clock.now()) == (frozenset(), 0)


def test_what_is_read_again_is_decided_anew_and_called_what_it_was_at_first() -> None:
    """Somebody has made it for us while we waited: nothing is left to write."""
    places = Places()
    places.world.lost["single/x"] = [NotYet("it is being made")]
    thing = Node("x", places.single)

    done = ran(apply, thing)

    assert verbs(done) == {"single/x": "create"}
    assert places.world.writes == ["single/x"]
    assert done.known[thing].id == "1:x"


@BOTH
def test_what_is_as_wanted_is_known_as_it_is_there_to_the_last_field(act: Act) -> None:
    places = Places()
    thing = Node("x", places.single)
    assert ran(apply, thing).whole

    assert ran(act, thing).known[thing] is places.single.things["x"]


# --- a plan without any cloud ---


def test_what_is_before_is_made_of_words_for_what_nobody_knows() -> None:
    places = Places()
    base = Node("base", places.bulk)
    top = Node("top", places.single, on=(Node("b", places.bulk, "b", glad=(base,)),))

    said: Mapping[str, Any] = foretold(Plan([top]))

    assert {address: state.value for address, state in said.items()} == {
        "bulk/base": "a",
        "bulk/b": "b <id of bulk/base>/a/",
        "single/top": "a <id of bulk/b>/b/",
    }
    assert all(state.id == "" for state in said.values())
