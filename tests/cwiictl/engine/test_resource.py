"""The words themselves: what is compared, what is foretold, what is held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from cwiictl.engine.resource import (
    Difference,
    Event,
    Known,
    Mark,
    Plan,
    State,
    Walk,
    aside,
    assigned,
    changed,
    differences,
    gladly,
    part,
    secret,
)
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
    assert differences(Box(color="red", tags={"a": "2", "b": "3"}), HAVE) == (
        Difference("tags", {"a": "1"}, {"a": "2", "b": "3"}),
    )
    assert changed(Box(color="blue", tags={}), HAVE) == {"color"}


def test_what_is_assigned_secret_or_aside_is_no_difference() -> None:
    assert (
        differences(Box(color="red", tags={}, arn="other", key=b"other", etag="other"), HAVE) == ()
    )


def test_what_is_there_is_foretold_with_what_the_place_gave_it_and_else_with_a_word_for_it() -> (
    None
):
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


def test_who_says_nothing_of_itself_is_ours_alone_and_an_ordinary_thing() -> None:
    node, known = Node("x", Shelf(World())), Known()
    want = node.want(known)

    assert not any(
        (node.brought, node.exclusive, node.single, node.quiet, node.lends, node.guards, node.late)
    )
    assert (
        node.remarks(want, want),
        node.awaits({}, known),
        node.objection(known),
        node.grows(want, want, ()),
    ) == ((), (), None, False)
    assert (node.place(known), node.address) == ("x", "shelf/x")
    assert (want.called, want.owner, want.remnant, want.markless) == (
        frozenset(),
        None,
        False,
        False,
    )
    assert Mark("demo") == Mark("demo", "owned", "create-all", tool="", whole=True)
    assert Event("done", "x") == Event("done", "x", "", 0, 0, "writing")


def test_whose_a_thing_is_and_which_clouds_trust_it_is_no_difference() -> None:
    bare = Box(color="red")

    assert bare == replace(bare, owner=Mark("demo"), remnant=True)
    assert Mark("demo") == Mark("demo", clouds=frozenset({"aws"}))
    assert Mark("demo") != Mark("demo", whole=False)


def test_what_is_secret_or_aside_is_empty_at_first_and_shown_to_nobody() -> None:
    box = Box(color="red")

    assert (box.arn, box.key, box.etag, box.tags) == ("", b"", (), {})
    assert repr(HAVE).endswith("color='red', tags={'a': '1', 'theirs': 'x'}, arn='arn:7')")


def test_what_a_thing_should_be_does_not_depend_on_which_store_it_is_in_and_shows_none() -> None:
    one, other = (Node("x", Shelf(World())) for _ in range(2))

    assert one == other
    assert "store" not in repr(one)


def test_stores_are_walked_in_the_order_of_making() -> None:
    hosting, lent, trusting, using, around, within = (
        [Shelf(World(), kind)]
        for kind in ("hosting", "lent", "trusting", "using", "around", "within")
    )

    assert [*Walk(hosting, lent, trusting, using, around, within)] == [
        *around,
        *hosting,
        *lent,
        *within,
        *trusting,
        *using,
    ]


def test_a_plan_is_read_in_the_order_of_its_addresses_and_knows_all_that_is_held() -> None:
    shelf = Shelf(World())
    plan = Plan([Node("c", shelf, on=(Node("b", shelf),), glad=(Node("a", shelf),))])

    assert ([*plan], len(plan)) == (["shelf/a", "shelf/b", "shelf/c"], 3)
