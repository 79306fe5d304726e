"""The words themselves: what is compared, what is foretold, what is held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cwiictl.engine.resource import Difference, Known, State, aside, assigned, changed, differences, gladly, part, secret
from tests.contracts.shelf import Shelf, World
from tests.graphs import Node


@dataclass(frozen=True, kw_only=True)
class Box(State):
    color: str
    tags: Mapping[str, str] = part()
    arn: str = assigned()
    key: bytes = secret()
    etag: str = aside()


HAVE = Box(color="red", tags={"a": "1", "theirs": "x"}, arn="arn:7", key=b"hush", etag="e7")


def test_of_a_part_only_what_is_wanted_is_compared() -> None:
    assert differences(Box(color="red", tags={"a": "1"}), HAVE) == ()
    assert differences(Box(color="red", tags={"a": "2", "b": "3"}), HAVE) == (Difference("tags", {"a": "1"}, {"a": "2", "b": "3"}),)
    assert changed(Box(color="blue", tags={}), HAVE) == {"color"}


def test_what_is_assigned_secret_or_aside_is_no_difference() -> None:
    assert differences(Box(color="red", tags={}, arn="other", key=b"other", etag="other"), HAVE) == ()


def test_what_is_there_is_foretold_with_what_the_place_gave_it_and_else_with_a_word_for_it() -> None:
    known, node = Known(), Node("x", Shelf(World()))
    want = Box(color="blue", tags={"a": "1"}, etag="ours to say")
    known.foretell(node, want, HAVE)  # pyright: ignore[reportArgumentType]
    there = known.get(node)
    assert there == want
    assert isinstance(there, Box)
    assert (there.arn, there.key, there.etag) == ("arn:7", b"hush", "ours to say")
    known.foretell(node, want, None)  # pyright: ignore[reportArgumentType]
    missing = known[node]
    assert isinstance(missing, Box)
    assert missing.arn == "<arn of shelf/x>"
    assert known.vague(f"https://{missing.arn}/")
    assert not known.vague("https://arn:7/")


def test_to_hold_is_to_need_and_to_hold_gladly_is_to_like() -> None:
    shelf = Shelf(World())
    a, b, c = (Node(name, shelf) for name in "abc")

    @dataclass(frozen=True)
    class Holder(Node):
        one: Node = field(default=a)
        many: tuple[Node, ...] = (b,)
        liked: tuple[Node, ...] = gladly()

    holder = Holder("x", shelf, liked=(c,))
    assert holder.needs == (a, b)
    assert holder.likes == (c,)
    assert (holder in (known := Known()), known.get(holder)) == (False, None)
