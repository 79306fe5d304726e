"""The laws of `apply` and `preview`, on generated graphs over places of every kind."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwiictl.engine.plain import checksum, plain
from cwiictl.engine.resource import Event, Known, Mark, Plan, Reference, State, aside, assigned, secret
from cwiictl.engine.run import Outcome, apply, foretold, preview
from cwiictl.errors import BadInput, Conflict, Failed, NotYet, Problem
from tests.clock import a_pace
from tests.contracts.shelf import Shelf, Thing, World
from tests.graphs import OURS, THEIRS, Asked, Late, Node, Places, behind, build, endure, graphs, resources, weather


def applied(asked: Collection[Asked], places: Places, **more: Any) -> Outcome:
    return apply(build(asked, places), OURS, a_pace(clock=places.world.clock), **more)


def previewed(asked: Collection[Asked], places: Places, **more: Any) -> Outcome:
    return preview(build(asked, places), OURS, a_pace(clock=places.world.clock), **more)


def clean(asked: Collection[Asked]) -> Mapping[str, object]:
    places = Places()
    assert applied(asked, places).whole
    return places.state()


def verbs(outcome: Outcome) -> dict[str, str]:
    return {change.address: change.verb for change in outcome.changes}


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
def test_lag_throttling_and_lost_answers_are_waited_out_and_leave_no_trace(asked: tuple[Asked, ...], bad: Mapping[str, Any]) -> None:
    places = Places()
    endure(places, bad)
    outcome = applied(asked, places)
    assert outcome.whole
    assert outcome.changes == applied(asked, Places()).changes, "what was tried again is called what it was at first"
    assert places.state() == clean(asked)


@given(graphs(), weather(), st.integers(0, 12), st.sampled_from([RuntimeError("cut"), KeyboardInterrupt(), SystemExit(1)]))
def test_cut_after_any_write_and_run_again_ends_as_a_clean_run(asked: tuple[Asked, ...], bad: Mapping[str, Any], cut: int, death: BaseException) -> None:
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
def test_one_broken_answer_and_run_again_ends_as_a_clean_run(asked: tuple[Asked, ...], data: st.DataObject) -> None:
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


def change_the_world(places: Places, data: st.DataObject, whose: st.SearchStrategy[Any]) -> set[str]:
    """Drifted, gone, or another's; the addresses of what is gone."""
    gone: set[str] = set()
    for shelf, name in places:
        match data.draw(st.sampled_from(["as it was", "as it was", "gone", "drifted", "another's"])):
            case "gone":
                gone.add(shelf.address(name).partition("@")[0])
                del shelf.things[name]
            case "drifted":
                shelf.things[name] = replace(shelf.things[name], value="drift")
            case "another's" if shelf is not places.part:
                shelf.things[name] = replace(shelf.things[name], owner=data.draw(whose))
            case _:
                pass
    for name, lines in places.board.lines.items():
        places.board.lines[name] = frozenset(line for line in lines if data.draw(st.booleans()))
    return gone


@given(graphs(), st.data())
def test_a_preview_never_hides_a_write_and_says_what_apply_does(asked: tuple[Asked, ...], data: st.DataObject) -> None:
    """From any state of the world. Only behind a missing thing may it say update where apply keeps."""
    places = Places()
    plan = build(asked, places)
    applied(asked[: data.draw(st.integers(0, len(asked)))], places)
    change_the_world(places, data, st.just(OURS))
    before, writes = places.state(), list(places.world.writes)
    told = previewed(asked, places)
    assert (places.state(), places.world.writes) == (before, writes)
    assert not any("<" in address for address in places.world.reads), "it asks for nothing by a name that nobody can know yet"

    done = applied(asked, places)
    assert told.whole
    assert done.whole
    said, did = verbs(told), verbs(done)
    written = {address.partition("@")[0] for address in places.world.writes[len(writes) :]}
    assert written <= {address for address, verb in said.items() if verb != "keep"}
    unsure = behind(plan, {address for address, verb in said.items() if verb == "create"}, glad=True)
    assert [c for c in told.changes if c.address not in unsure] == [c for c in done.changes if c.address not in unsure]
    assert all(said[a] == did[a] or (said[a], did[a]) == ("update", "keep") for a in plan)


@given(graphs(), st.data())
def test_what_is_foreign_is_refused_before_the_first_write(asked: tuple[Asked, ...], data: st.DataObject) -> None:
    places = Places()
    plan = build(asked, places)
    applied(asked, places)
    change_the_world(places, data, st.sampled_from([THEIRS, None]))
    strange = {shelf.address(name) for shelf, name in places if shelf.things[name].owner != OURS and shelf not in (places.part, places.late)}
    before, writes = places.state(), list(places.world.writes)
    told, done = previewed(asked, places), applied(asked, places)
    late = {address for address in set(told.failed) | set(done.failed) if isinstance(plan[address], Late)}
    assert set(told.failed) - late == set(done.failed) - late == strange
    assert all(isinstance(e, Conflict) for e in [*told.failed.values(), *done.failed.values()])
    assert all(e.remedy.endswith(f"--adopt {a}") for a, e in told.failed.items() if isinstance(e, Conflict))
    if strange:
        assert (places.state(), places.world.writes) == (before, writes)
        assert done.changes == ()
        assert set(done.skipped) == set(plan) - strange
        assert applied(asked, places, adopt={*strange, *late, *behind(plan, plan)}).whole


@given(graphs(), st.data())
def test_a_late_thing_that_is_foreign_is_refused_in_its_turn(asked: tuple[Asked, ...], data: st.DataObject) -> None:
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
def test_what_is_adopted_is_ours_from_then_on_and_stays_known_as_adopted(asked: tuple[Asked, ...], data: st.DataObject) -> None:
    places = Places()
    applied(asked, places)
    change_the_world(places, data, st.just(THEIRS))
    theirs = {(shelf, name) for shelf, name in places if shelf.things[name].owner == THEIRS}
    adopt = {shelf.address(name).partition("@")[0] for shelf, name in theirs}
    places.world.writes.clear()
    assert applied(asked, places, adopt=adopt).whole
    for shelf, name in theirs:
        elsewhere = shelf is places.late and shelf.address(name) not in places.world.writes  # what it is late for was made anew
        assert shelf.things[name].owner == (THEIRS if elsewhere else replace(OURS, hold="adopted"))
    places.world.writes.clear()
    assert applied(asked, places).whole
    assert places.world.writes == []


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
def test_one_failure_skips_exactly_what_needs_it(asked: tuple[Asked, ...], data: st.DataObject) -> None:
    places = Places()
    plan = build(asked, places)
    broken = data.draw(st.sets(st.sampled_from(sorted(plan)), min_size=1))
    blind = {address for address in broken if not plan[address].store.bulk and not plan[address].late and data.draw(st.booleans())}
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
def test_a_place_that_cannot_be_read_fails_what_is_there_and_nothing_else(asked: tuple[Asked, ...]) -> None:
    places = Places()
    plan = build(asked, places)
    here = {address for address in plan if address.startswith("bulk/")}
    places.world.hitches.update({address: [Failed("denied")] for address in sorted(here)[:1]})
    outcome = applied(asked, places)
    assert set(outcome.failed) == here - behind(plan, here) | here
    assert set(outcome.skipped) == behind(plan, here) - here


def test_a_member_that_fails_does_not_take_the_others_with_it() -> None:
    places = Places()
    asked = [Asked("single", "a"), Asked("single", "b"), Asked("single", "a"), Asked("board", "a", likes=(0, 1, 2))]
    places.world.hitches["single/n1"] = [Failed("no")]
    outcome = applied(asked, places)
    assert (set(outcome.failed), outcome.skipped) == ({"single/n1"}, set())
    assert {who for who, _ in places.board.lines["n3"]} == {"them", "n3", "n0", "n2"}


@given(graphs(), st.lists(st.sampled_from(["x", "y", "z"])))
def test_what_others_write_on_a_shared_board_stays_and_is_no_reason_to_write(asked: tuple[Asked, ...], rivals: list[str]) -> None:
    places = Places()
    places.board.rivals = [(who, "theirs") for who in rivals]
    assert applied(asked, places).whole
    heard = set(rivals[len(places.board.rivals) :])
    assert {who for lines in places.board.lines.values() for who, what in lines if what == "theirs"} - {"them"} == heard
    for name in places.board.lines:
        places.board.lines[name] |= {("late", "theirs")}
    places.world.writes.clear()
    assert applied(asked, places).whole
    assert places.world.writes == []


@given(graphs(), graphs())
def test_a_checksum_depends_on_what_is_wanted_alone(asked: tuple[Asked, ...], before: tuple[Asked, ...]) -> None:
    places = Places()
    applied(before, places)
    here = checksum(foretold(build(asked, places)))
    assert here == checksum(foretold(Plan(reversed(resources(asked, Places())))))


@given(graphs(), st.data())
def test_a_checksum_changes_with_any_want(asked: tuple[Asked, ...], data: st.DataObject) -> None:
    n = data.draw(st.integers(0, len(asked) - 1))
    other = [replace(ask, value="c") if i == n else ask for i, ask in enumerate(asked)]
    assert checksum(foretold(build(asked, Places()))) != checksum(foretold(build(other, Places())))


@dataclass(frozen=True)
class Inner:
    word: str
    key: bytes = secret()


@dataclass(frozen=True, kw_only=True)
class Box(State):
    inner: frozenset[Inner]
    table: Mapping[str, tuple[Inner, ...]]
    odd: frozenset[object] = frozenset()
    id: str = assigned()
    token: str = secret()
    etag: str = aside()


@given(st.sets(st.text(max_size=3)), st.text("hush!", min_size=5), st.frozensets(st.sampled_from([1, "1", 1.5, "1.5", None])))
def test_what_is_secret_is_in_no_plain_data_however_deep_and_changes_no_checksum(words: set[str], hush: str, odd: frozenset[object]) -> None:
    def box(key: str) -> Box:
        inner = [Inner(word, key.encode()) for word in words]
        return Box(inner=frozenset(inner), table={"t": tuple(sorted(inner, key=repr))}, odd=odd, token=key, etag=key, owner=OURS)

    assert hush not in str(plain(box(hush))) or any(hush in word for word in words)
    assert checksum(box(hush)) == checksum(box(""))


@given(st.lists(st.sampled_from([0, 8, 16, "0", "8", ("a", 1), ("a", 9), frozenset({0, 8})]), unique=True))
def test_the_order_in_which_a_set_was_filled_changes_no_checksum(words: list[object]) -> None:
    assert checksum({"set": frozenset(words)}) == checksum({"set": frozenset(reversed(words))})
    assert checksum(dict.fromkeys(map(repr, words), 1)) == checksum(dict.fromkeys(map(repr, reversed(words)), 1))


def test_two_meanings_for_one_address_are_bad_input() -> None:
    shelf = Shelf(World())
    Plan([Node("x", shelf, "1"), Node("x", shelf, "1")])
    for other in (Node("x", shelf, "2"), Node("x", Shelf(World()), "1"), Late("x", shelf, "1"), Node("x", shelf, "1", (Node("y", shelf),))):
        with pytest.raises(BadInput, match="two different things would be shelf/x"):
            Plan([Node("x", shelf, "1"), other])


def test_cycles_cannot_be_built() -> None:
    """To hold a thing it must be there first, and what is there cannot be changed; the same name again is another meaning."""
    shelf = Shelf(World())
    first = Node("a", shelf)
    second = Node("b", shelf, on=(first,))
    with pytest.raises(AttributeError):
        first.on = (second,)  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(BadInput):
        Plan([Node("a", shelf, on=(second,))])


@given(graphs())
def test_a_thing_of_that_kind_is_as_it_was_wanted(asked: tuple[Asked, ...]) -> None:
    """What apply learned is what is there, and what was wanted with it known."""
    places = Places()
    outcome = applied(asked, places)
    for address, resource in build(asked, places).items():
        state = outcome.known[resource]
        assert resource.differing(resource.want(outcome.known), state) == (), address
        if isinstance(state, Thing):
            assert state == resource.store.get([resource.place(outcome.known)])[resource.place(outcome.known)]


@given(graphs(), st.data())
def test_a_damaged_mark_is_drift_and_is_repaired(asked: tuple[Asked, ...], data: st.DataObject) -> None:
    """Also of what was adopted, which stays so."""
    places = Places()
    assert applied(asked, places).whole
    hold = data.draw(st.sampled_from(["owned", "adopted", "brought"]))
    broken = {(shelf, name) for shelf, name in places if shelf is not places.part and data.draw(st.booleans())}
    for shelf, name in broken:
        shelf.things[name] = replace(shelf.things[name], owner=replace(OURS, hold=hold, whole=False))
    places.world.writes.clear()
    told, done = previewed(asked, places), applied(asked, places)
    addresses = {shelf.address(name).partition("@")[0] for shelf, name in broken}
    for outcome in (told, done):
        assert {c.address for c in outcome.changes if c.verb == "update"} == addresses
        assert all([(d.field, d.have) for d in c.differing] == [("mark", "damaged")] for c in outcome.changes if c.verb == "update")
    assert len(places.world.writes) == len(broken)
    assert all(shelf.things[name].owner == replace(OURS, hold=hold) for shelf, name in broken)
    assert set(verbs(applied(asked, places)).values()) == {"keep"}


@given(graphs(), st.data())
def test_what_another_tool_made_for_this_cluster_is_refused_or_taken_over_by_its_name_as_if_we_had_made_it(
    asked: tuple[Asked, ...], data: st.DataObject
) -> None:
    places = Places()
    plan = build(asked, places)
    assert applied(asked, places).whole
    theirs = {(shelf, name) for shelf, name in places if shelf is not places.part and data.draw(st.booleans())}
    for shelf, name in theirs:
        shelf.things[name] = replace(shelf.things[name], owner=Mark("a-tool/ours", tool="a-tool"))
    refused = applied(asked, places)
    assert all(e.remedy.endswith("--adopt a-tool") for e in refused.failed.values() if isinstance(e, Conflict))
    assert bool(refused.failed) == bool(theirs)
    taken = applied(asked, places, adopt={"a-tool"})
    assert taken.whole
    updated, expected = {c.address for c in taken.changes if c.verb == "update"}, {shelf.address(name).partition("@")[0] for shelf, name in theirs}
    assert expected <= updated
    if all(shelf is not places.late for shelf, _ in theirs):  # a late one is refused in its turn, when who likes it was written without it
        assert updated == expected
    assert all(shelf.things[name].owner == OURS for shelf, name in theirs)
    assert len(taken.changes) == len(plan)


@pytest.mark.parametrize("owner", [Mark("a-tool/another"), Mark("a-tool/another", tool=""), THEIRS, None])
def test_a_tools_name_takes_over_nothing_that_it_made_for_another(owner: Mark | None) -> None:
    places = Places()
    places.bulk.things["n0"] = Thing(value="a", owner=owner)

    done = applied([Asked("bulk", "a")], places, adopt={"a-tool"})

    assert set(done.failed) == {"bulk/n0"}
    assert places.world.writes == []


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


@given(st.booleans(), st.sampled_from(["thing", "tuple", "reference", "empty reference"]))
def test_a_reference_is_held_as_what_it_is_of(glad: bool, form: str) -> None:  # noqa: FBT001 - hypothesis draws it
    shelf = Shelf(World())
    base = Node("base", shelf)
    held: dict[str, Any] = {"thing": (base,), "tuple": ((base,),), "reference": (To(base),), "empty reference": (To(None),)}
    node = Node("x", shelf, glad=held[form]) if glad else Node("x", shelf, on=held[form])

    expected = () if form == "empty reference" else (base,)
    assert (node.likes if glad else node.needs) == expected


@dataclass(frozen=True)
class To(Reference):
    thing: Node | None

    @property
    def of(self) -> Node | None:
        return self.thing
