"""The laws of plans: what they hold, and their checksums."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwiictl.engine.plain import checksum, plain, wanted
from cwiictl.engine.resource import Plan, Reference, State, aside, assigned, secret
from cwiictl.engine.run import foretold
from cwiictl.errors import BadInput
from tests.contracts.shelf import Shelf, World
from tests.graphs import OURS, Asked, Late, Node, Places, applied, build, graphs, resources


@given(graphs(), graphs())
def test_a_checksum_depends_on_what_is_wanted_alone(
    asked: tuple[Asked, ...], before: tuple[Asked, ...]
) -> None:
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


@given(
    st.sets(st.text(max_size=3)),
    st.text("hush!", min_size=5),
    st.frozensets(st.sampled_from([1, "1", 1.5, "1.5", None])),
)
def test_what_is_secret_is_in_no_plain_data_however_deep_and_changes_no_checksum(
    words: set[str], hush: str, odd: frozenset[object]
) -> None:
    def box(key: str) -> Box:
        inner = [Inner(word, key.encode()) for word in words]
        return Box(
            inner=frozenset(inner),
            table={"t": tuple(sorted(inner, key=repr))},
            odd=odd,
            token=key,
            etag=key,
            owner=OURS,
        )

    assert hush not in str(plain(box(hush))) or any(hush in word for word in words)
    assert checksum(box(hush)) == checksum(box(""))


@given(
    st.lists(
        st.sampled_from([0, 8, 16, "0", "8", ("a", 1), ("a", 9), frozenset({0, 8})]), unique=True
    )
)
def test_the_order_in_which_a_set_was_filled_changes_no_checksum(words: list[object]) -> None:
    assert checksum({"set": frozenset(words)}) == checksum({"set": frozenset(reversed(words))})
    assert checksum(dict.fromkeys(map(repr, words), 1)) == checksum(
        dict.fromkeys(map(repr, reversed(words)), 1)
    )


def test_a_checksum_is_the_beginning_of_a_hash_of_compact_json_in_order() -> None:
    """Who wrote one down yesterday holds to it with tomorrow's release."""
    text = '{"a":["x","y"],"b":[1,"é"]}'

    assert (
        checksum({"b": (1, "é"), "a": frozenset({"y", "x"})})
        == hashlib.sha256(text.encode()).hexdigest()[:16]
    )


def test_what_is_wanted_is_told_without_what_the_cloud_assigns_and_without_secrets() -> None:
    box = Box(
        inner=frozenset({Inner("b", b"hush"), Inner("a")}),
        table={"t": (Inner("c"),)},
        odd=frozenset({2}),
        id="7",
        token="hush",
        etag="8",
        owner=OURS,
    )
    said = {"inner": [{"word": "a"}, {"word": "b"}], "table": {"t": [{"word": "c"}]}, "odd": [2]}

    assert wanted(box) == said
    assert plain(box) == {**said, "id": "7"}
    assert plain(Box) is Box, "a class is no value of it"


def test_two_meanings_for_one_address_are_bad_input() -> None:
    shelf = Shelf(World())
    Plan([Node("x", shelf, "1"), Node("x", shelf, "1")])
    for other in (
        Node("x", shelf, "2"),
        Node("x", Shelf(World()), "1"),
        Late("x", shelf, "1"),
        Node("x", shelf, "1", (Node("y", shelf),)),
    ):
        with pytest.raises(BadInput, match="two different things would be shelf/x") as told:
            Plan([Node("x", shelf, "1"), other])
        assert told.value.remedy == "rename one of what asks for them"


def test_cycles_cannot_be_built() -> None:
    """To hold a thing it must be there first, and what is there cannot be changed; the same name again is another meaning."""
    shelf = Shelf(World())
    first = Node("a", shelf)
    second = Node("b", shelf, on=(first,))
    with pytest.raises(AttributeError):
        first.on = (second,)  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(BadInput):
        Plan([Node("a", shelf, on=(second,))])


@given(st.booleans(), st.sampled_from(["thing", "tuple", "reference", "empty reference"]))
def test_a_reference_is_held_as_what_it_is_of(glad: bool, form: str) -> None:  # noqa: FBT001 - hypothesis draws it
    shelf = Shelf(World())
    base = Node("base", shelf)
    held: dict[str, Any] = {
        "thing": (base,),
        "tuple": ((base,),),
        "reference": (To(base),),
        "empty reference": (To(None),),
    }
    node = Node("x", shelf, glad=held[form]) if glad else Node("x", shelf, on=held[form])

    expected = () if form == "empty reference" else (base,)
    assert (node.likes if glad else node.needs) == expected


@dataclass(frozen=True)
class To(Reference):
    thing: Node | None

    @property
    def of(self) -> Node | None:
        return self.thing
