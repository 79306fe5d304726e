"""The shelves that the laws are tried on are stores like any other."""

from __future__ import annotations

import pytest

from cwiictl.engine.resource import Mark
from tests.contracts.shelf import Board, Boards, Child, Children, Oven, Shelf, Thing, World
from tests.contracts.store import Specimen, StoreContract


@pytest.fixture
def world() -> World:
    return World()


class TestShelf(StoreContract):
    @pytest.fixture(params=["at once", "late"])
    def specimen(self, world: World, request: pytest.FixtureRequest) -> Specimen:
        shelf = Shelf(world, late_mark=request.param == "late")
        shelf.things["theirs"] = Thing(value="theirs", owner=Mark("theirs"))
        shelf.things["nobody's"] = Thing(value="nobody's")
        return Specimen(shelf, "x", Thing(value="one"), Thing(value="two"))


class TestOven(StoreContract):
    @pytest.fixture
    def specimen(self, world: World) -> Specimen:
        return Specimen(
            Oven(world),
            "x",
            Thing(value="one"),
            Thing(value="two"),
            alike=lambda want, have: have.value == want.value.upper(),
        )


class TestChildren(StoreContract):
    @pytest.fixture
    def specimen(self, world: World) -> Specimen:
        parent = Shelf(world)
        parent.put("x", Thing(value="parent", owner=Mark("a-cluster")), None)
        return Specimen(Children(parent), "x", Child(value="one"), Child(value="two"), bears=())


class TestBoards(StoreContract):
    @pytest.fixture
    def specimen(self, world: World) -> Specimen:
        one, two = (
            Board(lines=frozenset({("us", value)}), of=frozenset({"us"}))
            for value in ("one", "two")
        )
        return Specimen(
            Boards(world),
            "x",
            one,
            two,
            alike=lambda want, have: (
                {line for line in have.lines if line[0] in want.of} == want.lines
            ),
            bears=(),
            stays=True,
        )
