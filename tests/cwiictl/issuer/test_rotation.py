"""Where a rotation stands, as a word on the keys; and what a turn makes of what it finds there."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwiictl import names, oidc
from cwiictl.engine.resource import Known
from cwiictl.errors import BadInput, Conflict, Failed
from cwiictl.issuer.documents import KeySet, KeySetState
from cwiictl.issuer.key import KEY, KeyState, SigningKey
from cwiictl.issuer.rotation import STAGES, Rotation, Turn, begin, rotation
from tests.contracts.keys import key
from tests.cwiictl.issuer.test_issuer_documents import PLACE

OLD, NEW = key(0), key(1)
kids = st.text("ABCdef012-_", min_size=12, max_size=12)
rotations = st.builds(
    Rotation,
    st.sampled_from(STAGES),
    st.integers(0, 10**12 - 1),
    kids,
    kids,
    st.integers(0, 10**12 - 1),
)
AFTER = SigningKey(KEY, PLACE)


def published(*keys: oidc.VerificationKey, stands: Rotation | None = None) -> KeySetState:
    text = oidc.dump({"keys": [each.jwk for each in keys]})
    return KeySetState.read(text, "somewhere").saying(stands.word if stands else "", "somewhere")


def a_turn(stage: Any = "add", over: tuple[str, ...] = ("",)) -> Turn:
    return Turn(stage, begin(OLD.kid), 100, over=frozenset(over))


def objection(turn: Turn, have: KeySetState | None) -> Any:
    found, thing = Known(), KeySet("keys.json", PLACE, None, AFTER, turn, "demo")
    found.learn(AFTER, KeyState.of(NEW))
    if have:
        found.learn(thing, have)
    return thing.objection(found)


@given(rotations)
def test_a_word_is_read_as_it_was_written(stands: Rotation) -> None:
    assert rotation(stands.word, "somewhere") == stands


@given(rotations, st.text("abc XYZ.=/", max_size=30))
def test_in_a_sentence_it_is_found_again(stands: Rotation, sentence: str) -> None:
    assert names.unturned(names.turned(sentence.strip(), stands.word)) == (
        sentence.strip(),
        stands.word,
    )
    assert names.unturned(sentence) == (sentence, "")


@pytest.mark.parametrize(
    "word",
    [
        "add",
        "later.1.0.AAAAAAAAAAAA.BBBBBBBBBBBB",
        "add.x.0.AAAAAAAAAAAA.BBBBBBBBBBBB",
        "add.1.0.short.BBBBBBBBBBBB",
    ],
)
def test_a_word_that_cannot_be_read_is_no_beginning(word: str) -> None:
    with pytest.raises(Failed, match="cannot read"):
        rotation(word, "somewhere")


def test_nothing_stands_against_a_turn_over_what_was_seen() -> None:
    stands = Rotation("add", 100, begin(OLD.kid), begin(NEW.kid))

    assert objection(a_turn(), published(OLD)) is None
    assert objection(a_turn("accept", (stands.word,)), published(OLD, NEW, stands=stands)) is None
    assert objection(a_turn(), published(OLD, NEW, stands=stands)) is None, (
        "what it has written itself, and did not hear of"
    )


def test_who_comes_second_is_refused() -> None:
    theirs = Rotation("add", 99, begin(OLD.kid), "C" * 12)

    problem = objection(a_turn(), published(OLD, stands=theirs))

    assert isinstance(problem, Conflict)
    assert (
        "somebody else has brought local/key-set/keys.json to stage add"
        in problem.problem.replace(PLACE.kind, "local/key-set")
    )


@pytest.mark.parametrize(
    ("have", "told"),
    [
        (None, "is not there"),
        (KeySetState(kids=frozenset(), hidden="no"), "is not there, or cannot be read"),
        (KeySetState(kids=frozenset(), malformed="it is a mess"), "it is a mess"),
        (published(NEW), "is published without the key"),
    ],
)
def test_a_turn_needs_the_key_that_it_turns_from(have: KeySetState | None, told: str) -> None:
    problem = objection(a_turn(), have)

    assert problem
    assert told in problem.problem


def test_a_key_that_was_rotated_away_is_told_apart_from_one_that_was_never_there() -> None:
    found, thing = Known(), KeySet("keys.json", PLACE, None, AFTER, "published", "demo")
    found.learn(AFTER, KeyState.of(OLD))
    found.learn(
        thing, published(NEW, stands=Rotation("unpublish", 100, begin(OLD.kid), begin(NEW.kid)))
    )

    problem = thing.objection(found)

    assert isinstance(problem, BadInput)
    assert "a rotation has taken it away" in problem.problem


def test_what_a_turn_changes_is_shown_whatever_the_clock_says() -> None:
    thing, stands = (
        KeySet("keys.json", PLACE, None, AFTER, a_turn("unpublish"), "demo"),
        Rotation("sign", 100, begin(OLD.kid), begin(NEW.kid), 100),
    )
    known = Known()
    known.learn(AFTER, KeyState.of(NEW))
    have = published(OLD, NEW, stands=stands)

    told = {d.field: (d.have, d.want) for d in thing.differing(thing.want(known), have)}

    assert told == {"kids": ({OLD.kid, NEW.kid}, {NEW.kid}), "rotation": ("sign", "unpublish")}
