"""The laws of marks: whose a thing is, before and after a run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwiictl.engine.resource import Mark
from cwiictl.errors import Conflict
from tests.contracts.shelf import Thing
from tests.graphs import (
    OURS,
    THEIRS,
    Asked,
    Places,
    applied,
    build,
    change_the_world,
    graphs,
    previewed,
    verbs,
)


@given(graphs(), st.data())
def test_what_is_adopted_is_ours_from_then_on_and_stays_known_as_adopted(
    asked: tuple[Asked, ...], data: st.DataObject
) -> None:
    places = Places()
    applied(asked, places)
    change_the_world(places, data, st.just(THEIRS))
    theirs = {(shelf, name) for shelf, name in places if shelf.things[name].owner == THEIRS}
    adopt = {shelf.address(name).partition("@")[0] for shelf, name in theirs}
    places.world.writes.clear()
    assert applied(asked, places, adopt=adopt).whole
    for shelf, name in theirs:
        elsewhere = (
            shelf is places.late and shelf.address(name) not in places.world.writes
        )  # what it is late for was made anew
        assert shelf.things[name].owner == (THEIRS if elsewhere else replace(OURS, hold="adopted"))
    places.world.writes.clear()
    assert applied(asked, places).whole
    assert places.world.writes == []


@given(graphs(), st.data())
def test_a_damaged_mark_is_drift_and_is_repaired(
    asked: tuple[Asked, ...], data: st.DataObject
) -> None:
    """Also of what was adopted, which stays so."""
    places = Places()
    assert applied(asked, places).whole
    hold = data.draw(st.sampled_from(["owned", "adopted", "brought"]))
    broken = {
        (shelf, name)
        for shelf, name in places
        if shelf is not places.part and data.draw(st.booleans())
    }
    for shelf, name in broken:
        shelf.things[name] = replace(
            shelf.things[name], owner=replace(OURS, hold=hold, whole=False)
        )
    places.world.writes.clear()
    told, done = previewed(asked, places), applied(asked, places)
    addresses = {shelf.address(name).partition("@")[0] for shelf, name in broken}
    for outcome in (told, done):
        assert {c.address for c in outcome.changes if c.verb == "update"} == addresses
        assert all(
            [(d.field, d.have) for d in c.differing] == [("mark", "damaged")]
            for c in outcome.changes
            if c.verb == "update"
        )
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
    theirs = {
        (shelf, name)
        for shelf, name in places
        if shelf is not places.part and data.draw(st.booleans())
    }
    for shelf, name in theirs:
        shelf.things[name] = replace(shelf.things[name], owner=Mark("a-tool/ours", tool="a-tool"))
    refused = applied(asked, places)
    assert all(
        e.remedy.endswith("--adopt a-tool")
        for e in refused.failed.values()
        if isinstance(e, Conflict)
    )
    assert bool(refused.failed) == bool(theirs)
    taken = applied(asked, places, adopt={"a-tool"})
    assert taken.whole
    updated, expected = (
        {c.address for c in taken.changes if c.verb == "update"},
        {shelf.address(name).partition("@")[0] for shelf, name in theirs},
    )
    assert expected <= updated
    if all(
        shelf is not places.late for shelf, _ in theirs
    ):  # a late one is refused in its turn, when who likes it was written without it
        assert updated == expected
    assert all(shelf.things[name].owner == OURS for shelf, name in theirs)
    assert len(taken.changes) == len(plan)


@pytest.mark.parametrize(
    "owner", [Mark("a-tool/another"), Mark("a-tool/another", tool=""), THEIRS, None]
)
def test_a_tools_name_takes_over_nothing_that_it_made_for_another(owner: Mark | None) -> None:
    places = Places()
    places.bulk.things["n0"] = Thing(value="a", owner=owner)

    done = applied([Asked("bulk", "a")], places, adopt={"a-tool"})

    assert set(done.failed) == {"bulk/n0"}
    assert places.world.writes == []
