"""Whose things are, and what stands against a run: one example of each."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from cwiictl.engine.resource import Difference, Known, Mark
from cwiictl.engine.run import apply, preview
from cwiictl.errors import Conflict, Denied, Failed, Problem
from tests.clock import a_pace
from tests.cwiictl.engine.said import ANOTHERS, BOTH, Act, Said, a_thing, ends, ran
from tests.graphs import OURS, THEIRS, Asked, Late, Node, Places, applied, build, verbs

# --- whose it is ---


@BOTH
def test_what_another_command_made_is_refused_where_it_would_lose_what_that_asked(act: Act) -> None:
    places = Places()
    places.single.things["x"] = a_thing(owner=ANOTHERS)

    done = ran(act, Said("x", places.single, says={"single"}))

    (refused,) = done.failed.values()
    assert isinstance(refused, Conflict)
    assert (
        refused.problem
        == "single/x was made by create-identity, and would lose what that asked for"
    )
    assert (
        refused.remedy
        == "choose another name, change it with create-identity, or take it over with --adopt single/x"
    )
    assert {change.verb for change in done.changes} == (set() if act is apply else {"refuse"})
    assert ([*done.skipped], places.world.writes, done.whole) == ([], [], False)
    assert ran(act, Node("x", places.single)).whole, "what is nobody's alone is everybody's"
    assert ran(act, Said("x", places.single, says={"single"}), adopt={"single/x"}).changes[
        0
    ].differing == (Difference("mark", "create-identity", "create-all"),)


def test_what_is_taken_over_from_another_command_is_this_ones_from_then_on_and_what_is_shared_stays_whose_it_was() -> (
    None
):
    places = Places()
    places.single.things.update({name: a_thing("old", ANOTHERS) for name in ("x", "y")})

    assert ran(
        apply,
        Said("x", places.single, says={"single"}),
        Node("y", places.single),
        adopt={"single/x"},
    ).whole

    assert (places.single.things["x"].owner, places.single.things["y"].owner) == (OURS, ANOTHERS)
    assert set(
        verbs(
            ran(preview, Said("x", places.single, says={"single"}), Node("y", places.single))
        ).values()
    ) == {"keep"}


@BOTH
@pytest.mark.parametrize(
    ("owner", "whose"), [(THEIRS, "the mark of cluster theirs"), (None, "no mark of ours")]
)
def test_what_is_foreign_is_refused_with_whose_it_is_and_how_to_take_it_over(
    act: Act, owner: Mark | None, whose: str
) -> None:
    places = Places()
    places.single.things["x"] = a_thing(owner=owner)

    (refused,) = ran(act, Node("x", places.single)).failed.values()

    assert isinstance(refused, Conflict)
    assert refused.problem == f"single/x is there already and bears {whose}"
    assert refused.remedy == "choose another name, or take it over with --adopt single/x"
    assert ran(act, Node("x", places.single), adopt={"single/x"}).changes[0].differing == (
        Difference("mark", whose, "ours"),
    )


@pytest.mark.parametrize("owner", [THEIRS, None])
def test_what_the_user_lends_is_taken_as_lent_whose_mark_so_ever_it_bears(
    owner: Mark | None,
) -> None:
    places = Places()
    places.single.things["x"] = a_thing(owner=owner)

    assert ran(apply, Said("x", places.single, says={"brought"})).whole

    assert places.single.things["x"].owner == Mark("ours", "brought")


def test_of_what_the_user_lends_it_does_not_count_by_which_command_another_cluster_was_lent_it() -> (
    None
):
    places = Places()
    places.single.things["x"] = a_thing(owner=replace(THEIRS, origin="create-identity"))

    assert ran(apply, Said("x", places.single, says={"single", "brought"})).whole


def test_what_is_lent_to_one_cluster_at_a_time_is_refused_only_if_it_bears_anothers_mark() -> None:
    places = Places()
    places.single.things.update({"free": a_thing(owner=None), "taken": a_thing(owner=THEIRS)})
    lent = [Said(name, places.single, says={"brought", "exclusive"}) for name in ("free", "taken")]

    assert set(ran(apply, *lent).failed) == {"single/taken"}
    assert places.world.writes == []
    assert ran(apply, lent[0]).whole


def test_what_a_cut_run_left_without_a_mark_becomes_ours_as_if_it_were_made_now() -> None:
    places = Places()
    places.single.things["x"] = a_thing("", owner=None, remnant=True)

    assert ran(apply, Node("x", places.single)).whole
    assert places.single.things["x"].owner == OURS


def test_a_late_thing_that_is_foreign_is_refused_in_its_turn_in_these_words() -> None:
    places = Places()
    asked = [Asked("bulk", "a"), Asked("late", "a", (0,))]
    assert applied(asked, places).whole
    (name,) = places.late.things
    places.late.things[name] = a_thing(owner=THEIRS)

    before, done = (act(build(asked, places), OURS, a_pace()) for act in (preview, apply))
    assert [str(e) for e in (*before.failed.values(), *done.failed.values())] == [
        "late/n1 is there already and bears the mark of cluster theirs"
    ] * 2
    assert (verbs(before), verbs(done)) == (
        {"bulk/n0": "keep", "late/n1": "refuse"},
        {"bulk/n0": "keep"},
    )


@dataclass(frozen=True)
class LateSaid(Late):
    @property
    def single(self) -> bool:
        return True


@BOTH
def test_a_late_thing_that_another_command_made_is_refused_in_its_turn(act: Act) -> None:
    places = Places()
    late = LateSaid("x", places.late, on=(Node("base", places.bulk),))
    assert ran(apply, late).whole
    (name,) = places.late.things
    places.late.things[name] = a_thing("drift", ANOTHERS)

    (refused,) = ran(act, late).failed.values()

    assert str(refused) == "late/x was made by create-identity, and would lose what that asked for"


# --- what stands against it ---


@BOTH
def test_what_guards_and_cannot_be_read_stands_against_everything(act: Act) -> None:
    places = Places()
    guard, other, behind = (
        Said("guard", places.single, says={"guards"}),
        Node("other", places.single),
        Node("z", places.unmarked),
    )
    denied = Failed("denied")
    places.world.hitches["single/guard"] = [denied]

    done = ran(act, guard, other, behind)

    assert done.failed == {"single/guard": denied}
    assert places.world.writes == []
    assert (set(done.skipped) == {"single/other", "unmarked/z"}) == (act is apply)


def test_what_is_not_written_for_another_is_told_why() -> None:
    places = Places()
    against = Node("x", places.single, against=Failed("the key is another"))

    assert ends(apply, against, Node("y", places.single)) == {
        "single/x": "the key is another",
        "single/y": "nothing is written while something stands against it",
    }
    places.world.hitches["single/b"] = [Failed("denied")]
    b = Node("b", places.single)
    assert ends(apply, Node("c", places.single, on=(b,)))["single/c"] == "it needs single/b"


@BOTH
def test_who_cannot_judge_objects(act: Act) -> None:
    places = Places()
    broken = ValueError("no number")

    def judged(_found: Known) -> Problem | None:
        raise broken

    done = ran(act, Said("x", places.single, judged=judged), Node("y", places.single))

    assert done.failed == {"single/x": broken}
    assert places.world.writes == []


@BOTH
def test_what_nobody_may_see_inside_of_what_is_refused_is_not_told_beside_it(act: Act) -> None:
    """Whoever is granted that would have won nothing."""
    places = Places()
    places.single.things["outer"] = a_thing(owner=THEIRS)
    outer = Node("outer", places.single)
    inner = Node("inner", places.unmarked, on=(Node("between", places.bulk, on=(outer,)),))
    loose = Node("loose", places.late, on=(Node("fine", places.bulk),))
    places.world.hitches.update(
        {"unmarked/inner": [Denied("not yours to see")], "late/loose": [Denied("not yours to see")]}
    )

    done = ran(act, inner, loose)

    assert set(done.failed) == {"single/outer", "late/loose"}
    assert "unmarked/inner" in done.skipped
    places.world.hitches["unmarked/inner"] = [Failed("the line is down")]
    assert set(ran(act, inner).failed) == {"single/outer", "unmarked/inner"}, (
        "what nobody's leave would mend is told"
    )
