"""The laws of `apply` and `preview`, on generated graphs over places of every kind."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cwiictl.engine.resource import Event, Known, Plan
from cwiictl.engine.run import apply, preview
from cwiictl.errors import Conflict, Failed, NotYet, Problem
from tests.clock import a_pace
from tests.contracts.shelf import Thing
from tests.graphs import (
    OURS,
    THEIRS,
    Asked,
    Late,
    Node,
    Places,
    applied,
    behind,
    build,
    change_the_world,
    endure,
    graphs,
    previewed,
    resources,
    verbs,
    weather,
)


def clean(asked: Collection[Asked]) -> Mapping[str, object]:
    places = Places()
    assert applied(asked, places).whole
    return places.state()


@given(graphs())
def test_a_second_apply_writes_nothing(asked: tuple[Asked, ...]) -> None:
    places = Places()
    assert applied(asked, places).whole
    places.world.writes.clear()
    again = applied(asked, places)
    assert again.whole
    assert set(verbs(again).values()) == {"keep"}
    assert places.world.writes == []


@given(graphs(), weather())
def test_lag_throttling_and_lost_answers_are_waited_out_and_leave_no_trace(
    asked: tuple[Asked, ...], bad: Mapping[str, Any]
) -> None:
    places = Places()
    endure(places, bad)
    outcome = applied(asked, places)
    assert outcome.whole
    assert outcome.changes == applied(asked, Places()).changes, (
        "what was tried again is called what it was at first"
    )
    assert places.state() == clean(asked)


@given(
    graphs(),
    weather(),
    st.integers(0, 12),
    st.sampled_from([RuntimeError("cut"), KeyboardInterrupt(), SystemExit(1)]),
)
def test_cut_after_any_write_and_run_again_ends_as_a_clean_run(
    asked: tuple[Asked, ...], bad: Mapping[str, Any], cut: int, death: BaseException
) -> None:
    """The process died: that write happened, nobody heard of it, and nothing happens after it."""
    places = Places()
    places.world.cut, places.world.death = cut, death
    endure(places, bad)
    with suppress(KeyboardInterrupt, SystemExit):
        applied(asked, places)
    assert len(places.world.writes) <= cut
    places.world.cut = None
    assert applied(asked, places).whole
    assert places.state() == clean(asked)
    places.world.clock.time += places.world.lag
    places.world.writes.clear()
    applied(asked, places)
    assert places.world.writes == []


@given(graphs(), st.data())
def test_one_broken_answer_and_run_again_ends_as_a_clean_run(
    asked: tuple[Asked, ...], data: st.DataObject
) -> None:
    """Here only one call breaks, after its write, and its neighbours go on."""
    places = Places()
    address = data.draw(st.sampled_from(sorted(build(asked, places))))
    places.world.lost[address] = [RuntimeError("the connection broke")]
    outcome = applied(asked, places)
    assert set(outcome.failed) == {address}
    assert set(outcome.skipped) == behind(build(asked, places), {address})
    assert applied(asked, places).whole
    assert places.state() == clean(asked)


@given(graphs())
def test_needs_come_first(asked: tuple[Asked, ...]) -> None:
    places = Places()
    plan = build(asked, places)
    applied(asked, places)
    order = {address.partition("@")[0]: n for n, address in enumerate(places.world.writes)}
    for address, resource in plan.items():
        for held in resource.needs + resource.likes:
            assert order[held.address] < order[address]


@given(graphs(), st.data())
def test_a_preview_never_hides_a_write_and_says_what_apply_does(
    asked: tuple[Asked, ...], data: st.DataObject
) -> None:
    """From any state of the world. Only behind a missing thing may it say update where apply keeps."""
    places = Places()
    plan = build(asked, places)
    applied(asked[: data.draw(st.integers(0, len(asked)))], places)
    change_the_world(places, data, st.just(OURS))
    before, writes = places.state(), list(places.world.writes)
    told = previewed(asked, places)
    assert (places.state(), places.world.writes) == (before, writes)
    assert not any("<" in address for address in places.world.reads), (
        "it asks for nothing by a name that nobody can know yet"
    )

    done = applied(asked, places)
    assert told.whole
    assert done.whole
    said, did = verbs(told), verbs(done)
    written = {address.partition("@")[0] for address in places.world.writes[len(writes) :]}
    assert written <= {address for address, verb in said.items() if verb != "keep"}
    unsure = behind(
        plan, {address for address, verb in said.items() if verb == "create"}, glad=True
    )
    assert [c for c in told.changes if c.address not in unsure] == [
        c for c in done.changes if c.address not in unsure
    ]
    assert all(said[a] == did[a] or (said[a], did[a]) == ("update", "keep") for a in plan)


@given(graphs(), st.data())
def test_what_is_foreign_is_refused_before_the_first_write(
    asked: tuple[Asked, ...], data: st.DataObject
) -> None:
    places = Places()
    plan = build(asked, places)
    applied(asked, places)
    change_the_world(places, data, st.sampled_from([THEIRS, None]))
    strange = {
        shelf.address(name)
        for shelf, name in places
        if shelf.things[name].owner != OURS and shelf not in (places.part, places.late)
    }
    before, writes = places.state(), list(places.world.writes)
    told, done = previewed(asked, places), applied(asked, places)
    late = {
        address
        for address in set(told.failed) | set(done.failed)
        if isinstance(plan[address], Late)
    }
    assert set(told.failed) - late == set(done.failed) - late == strange
    assert all(isinstance(e, Conflict) for e in [*told.failed.values(), *done.failed.values()])
    assert all(
        e.remedy.endswith(f"--adopt {a}") for a, e in told.failed.items() if isinstance(e, Conflict)
    )
    if strange:
        assert (places.state(), places.world.writes) == (before, writes)
        assert done.changes == ()
        assert set(done.skipped) == set(plan) - strange
        assert applied(asked, places, adopt={*strange, *late, *behind(plan, plan)}).whole


@given(graphs(), st.data())
def test_a_late_thing_that_is_foreign_is_refused_in_its_turn(
    asked: tuple[Asked, ...], data: st.DataObject
) -> None:
    places = Places()
    applied(asked, places)
    taken = {name for name in places.late.things if data.draw(st.booleans())}
    for name in taken:
        places.late.things[name] = replace(places.late.things[name], owner=THEIRS)
    refused = {f"late/{name.partition('@')[0]}" for name in taken}
    before, told, done = dict(places.late.things), previewed(asked, places), applied(asked, places)
    assert set(told.failed) == refused
    assert set(done.failed) == refused - behind(build(asked, places), refused)
    assert all(places.late.things[name] is before[name] for name in taken)


@given(graphs(), st.data())
def test_an_objection_stops_everything(asked: tuple[Asked, ...], data: st.DataObject) -> None:
    places = Places()
    made = resources(asked, places)
    nodes = [r for r in made if isinstance(r, Node)]
    objecting = data.draw(st.sets(st.sampled_from(nodes))) if nodes else set[Node]()
    for node in objecting:
        object.__setattr__(node, "against", Failed("the key is another"))
    outcomes = [run(Plan(made), OURS, a_pace()) for run in (preview, apply)]
    assert all(set(outcome.failed) == {node.address for node in objecting} for outcome in outcomes)
    assert bool(places.world.writes) == (not objecting)


@given(graphs(), st.data())
def test_one_failure_skips_exactly_what_needs_it(
    asked: tuple[Asked, ...], data: st.DataObject
) -> None:
    places = Places()
    plan = build(asked, places)
    broken = data.draw(st.sets(st.sampled_from(sorted(plan)), min_size=1))
    blind = {
        address
        for address in broken
        if not plan[address].store.bulk and not plan[address].late and data.draw(st.booleans())
    }
    for address in broken:
        (places.world.hitches if address in blind else places.world.lost)[address] = [Failed("no")]
    events: list[Event] = []
    outcome = applied(asked, places, report=events.append)
    skipped = behind(plan, broken) - blind
    assert set(outcome.failed) == broken - skipped
    assert set(outcome.skipped) == skipped
    assert set(verbs(outcome)) == set(plan) - broken - skipped
    assert {e.address for e in events if e.what == "skipped"} == skipped


@given(graphs())
def test_a_place_that_cannot_be_read_fails_what_is_there_and_nothing_else(
    asked: tuple[Asked, ...],
) -> None:
    places = Places()
    plan = build(asked, places)
    here = {address for address in plan if address.startswith("bulk/")}
    places.world.hitches.update({address: [Failed("denied")] for address in sorted(here)[:1]})
    outcome = applied(asked, places)
    assert set(outcome.failed) == here - behind(plan, here) | here
    assert set(outcome.skipped) == behind(plan, here) - here


def test_a_member_that_fails_does_not_take_the_others_with_it() -> None:
    places = Places()
    asked = [
        Asked("single", "a"),
        Asked("single", "b"),
        Asked("single", "a"),
        Asked("board", "a", likes=(0, 1, 2)),
    ]
    places.world.hitches["single/n1"] = [Failed("no")]
    outcome = applied(asked, places)
    assert (set(outcome.failed), outcome.skipped) == ({"single/n1"}, set())
    assert {who for who, _ in places.board.lines["n3"]} == {"them", "n3", "n0", "n2"}


@given(graphs(), st.lists(st.sampled_from(["x", "y", "z"])))
def test_what_others_write_on_a_shared_board_stays_and_is_no_reason_to_write(
    asked: tuple[Asked, ...], rivals: list[str]
) -> None:
    places = Places()
    places.board.rivals = [(who, "theirs") for who in rivals]
    assert applied(asked, places).whole
    heard = set(rivals[len(places.board.rivals) :])
    assert {
        who for lines in places.board.lines.values() for who, what in lines if what == "theirs"
    } - {"them"} == heard
    for name in places.board.lines:
        places.board.lines[name] |= {("late", "theirs")}
    places.world.writes.clear()
    assert applied(asked, places).whole
    assert places.world.writes == []


@given(graphs())
def test_a_thing_of_that_kind_is_as_it_was_wanted(asked: tuple[Asked, ...]) -> None:
    """What apply learned is what is there, and what was wanted with it known."""
    places = Places()
    outcome = applied(asked, places)
    for address, resource in build(asked, places).items():
        state = outcome.known[resource]
        want = resource.want(outcome.known)
        made = places.oven.baked(want) if resource.store is places.oven else want
        assert resource.differing(made, state) == (), address
        if isinstance(state, Thing):
            assert (
                state
                == resource.store.get([resource.place(outcome.known)])[
                    resource.place(outcome.known)
                ]
            )


@dataclass(frozen=True)
class Wary(Node):
    """It objects to whoever has written something else in its place."""

    def objection(self, found: Known) -> Problem | None:
        have = found.get(self)
        return Failed(f"somebody wrote {have.value}") if have and have.value == "another" else None


def test_who_is_read_again_is_judged_again() -> None:
    """While we waited, somebody made it, and it bears our mark."""
    places = Places()
    thing = Wary("x", places.single)

    def rival(event: Event) -> None:
        if event.what == "waiting":
            places.single.things["x"] = Thing(value="another", owner=OURS)

    calls = [NotYet("somebody is making it already")]
    put = places.single.put

    def early(name: str, want: Thing, have: Thing | None, /) -> Thing:
        if calls:
            raise calls.pop()
        return put(name, want, have)

    places.single.put = early  # pyright: ignore[reportAttributeAccessIssue]
    done = apply(Plan([thing]), OURS, a_pace(clock=places.world.clock), report=rival)

    assert [str(e) for e in done.failed.values()] == ["somebody wrote another"]
    assert places.world.writes == []
