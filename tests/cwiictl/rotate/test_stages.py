"""The order of the stages: none before its turn, none twice with another meaning, and no stage forgets when it was first reached."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwiictl.issuer.rotation import STAGES, Rotation, Stage
from cwiictl.rotate.stages import DOES, fallen, onward, standing, turn, undue

A, B, C = "A" * 12, "B" * 12, "C" * 12
KID = "A" * 43


def at(stage: Stage, since: int = 100, old: str = A, new: str = B, signed: int = 0) -> Rotation:
    return Rotation(stage, since, old, new, signed)


stages = st.sampled_from(STAGES)


@given(stages, stages)
def test_a_stage_is_due_after_the_one_before_it_and_again_as_long_as_none_has_followed(
    reached: Stage, asked: Stage
) -> None:
    problem = undue(asked, at(reached), KID)

    if asked == "add":
        assert (problem is None) == (reached == "add")
    else:
        assert (problem is None) == (STAGES.index(asked) - STAGES.index(reached) in {0, 1})


@pytest.mark.parametrize("stage", STAGES[1:])
def test_before_anything_has_begun_nothing_but_a_beginning_is_due(stage: Stage) -> None:
    assert undue("add", None, KID) is None
    problem = undue(stage, None, KID)

    assert problem
    assert "no rotation is under way" in problem.problem
    assert problem.remedy == "go on with rotate-keys add"


def test_the_next_rotation_follows_the_key_that_the_last_one_has_brought() -> None:
    assert undue("add", at("forget"), "B" * 43) is None

    problem = undue("add", at("forget"), KID)
    assert problem
    assert "that has been rotated away" in problem.problem


def test_what_lags_behind_is_where_a_rotation_stands() -> None:
    assert standing([]) is None
    assert standing([None, None]) is None
    assert standing([at("sign", 300), at("accept", 200)]) == at("accept", 200)
    assert standing([at("add"), None]) is None, "the second place has not begun"


def test_a_rotation_that_is_over_is_no_part_of_the_one_that_has_begun() -> None:
    assert standing([at("forget", 100), at("add", 200, B, C)]) is None
    assert standing([at("add", 200, B, C), at("accept", 300, B, C)]) == at("add", 200, B, C)


def test_who_comes_again_leaves_when_it_was_first_so() -> None:
    stands = at("sign", 300, signed=300)

    assert turn("sign", stands, "", [stands], 999).to(B) == stands
    assert turn("unpublish", stands, "", [stands], 999).to(B) == at("unpublish", 999, signed=300)


def test_when_the_servers_sign_is_noted_then_and_carried_on_until_the_next_rotation() -> None:
    assert turn("sign", at("accept"), "", [], 300).signed == 300
    assert turn("forget", at("unpublish", 400, signed=300), "", [], 500).signed == 300
    assert turn("add", at("forget", 500, signed=300), "B" * 43, [], 600).to("C" * 43) == at(
        "add", 600, B, C
    )


def test_where_a_server_has_fallen_back_the_time_is_noted_anew_once_all_sign_again() -> None:
    """Wherever keys are published: a run that was cut has noted it in some places."""
    stands = at("sign", 300, signed=300)

    noted = fallen(stands, [stands]).to(B)
    assert noted == at("sign", 300, signed=0)
    assert standing([stands, noted]) == noted
    assert turn("sign", noted, "", [noted], 500).to(B) == at("sign", 300, signed=500)


def test_a_turn_is_made_over_all_that_was_read() -> None:
    records = [at("add"), None]

    assert turn("add", None, KID, records, 1).over == {at("add").word, ""}


@given(stages)
def test_what_comes_next_is_told_of_every_stage(stage: Stage) -> None:
    assert DOES[stage]
    assert "rotate-keys" in onward(at(stage))
