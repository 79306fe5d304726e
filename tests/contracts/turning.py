"""What every store of key sets promises whoever rotates keys: they are written in one piece with where the rotation stands, and over what was seen."""

from __future__ import annotations

import pytest

from cwiictl.errors import Conflict, NotYet
from cwiictl.issuer.documents import KeySetState
from cwiictl.issuer.rotation import Rotation, Turn, begin
from tests.contracts.keys import a_key_set, key
from tests.contracts.store import Specimen

OLD, NEW = 0, 1


def turned(turn: Turn) -> KeySetState:
    """As the resource would want it."""
    return KeySetState(
        kids=frozenset({key(NEW).kid}), mode=turn, keys=(key(NEW),), rotation=turn.to(key(NEW).kid)
    )


def adding(since: int = 100) -> Turn:
    return Turn("add", begin(key(OLD).kid), since)


class Turning:
    def test_a_key_comes_with_where_the_rotation_stands(self, specimen: Specimen) -> None:
        specimen.put(a_key_set(OLD), None)
        assert specimen.get().rotation is None

        specimen.put(turned(adding()), None)

        assert specimen.get().kids == {key(OLD).kid, key(NEW).kid}
        assert specimen.get().rotation == Rotation(
            "add", 100, begin(key(OLD).kid), begin(key(NEW).kid)
        )

    def test_a_key_goes_with_where_the_rotation_stands(self, specimen: Specimen) -> None:
        specimen.put(a_key_set(OLD), None)
        specimen.put(a_key_set(2, "add"), None)
        specimen.put(turned(adding()), None)

        specimen.put(turned(Turn("unpublish", begin(key(OLD).kid), 300, 200)), None)

        assert specimen.get().kids == {key(2).kid, key(NEW).kid}
        assert specimen.get().rotation == Rotation(
            "unpublish", 300, begin(key(OLD).kid), begin(key(NEW).kid), 200
        )

    def test_whoever_writes_keys_and_turns_none_leaves_what_is_said_of_a_rotation(
        self, specimen: Specimen
    ) -> None:
        specimen.put(a_key_set(OLD), None)
        specimen.put(turned(adding()), None)

        specimen.put(a_key_set(2, "add"), None)

        assert specimen.get().rotation.stage == "add"
        specimen.put(a_key_set(OLD, "replace"), None)
        assert specimen.get().rotation is None

    def test_of_two_operators_who_turn_the_same_keys_the_second_has_to_look_again(
        self, specimen: Specimen
    ) -> None:
        """Also where no key changes."""
        specimen.put(a_key_set(OLD), None)
        specimen.put(turned(adding()), None)
        seen = specimen.get()
        specimen.put(turned(Turn("accept", begin(key(OLD).kid), 200)), None)

        with pytest.raises(NotYet):
            specimen.store.put(
                specimen.name, turned(Turn("accept", begin(key(OLD).kid), 201)), seen
            )

        assert specimen.get().rotation.since == 200

    def test_keys_that_are_gone_are_not_turned(self, specimen: Specimen) -> None:
        with pytest.raises(Conflict, match="is gone"):
            specimen.store.put(specimen.name, turned(adding()), None)
