"""The exit code follows from what came of it, and from nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.actions.result import Caller, Condition, Result, Row, failure
from cwiictl.errors import BadInput, Conflict, Denied, Failed


def rows(*conditions: Condition) -> tuple[Row, ...]:
    return tuple(Row(f"thing-{number}", condition) for number, condition in enumerate(conditions))


@pytest.mark.parametrize(
    ("result", "code"),
    [
        (Result(), 0),
        (Result(rows=rows("as wanted", "created", "repaired", "dropped", "released")), 0),
        (Result(rows=rows("to drop")), 1),  # it was to go, and is there
        (Result(rows=rows("to release")), 1),
        (Result(rows=rows("to drop", "to release"), planned=True), 0),
        (Result(rows=rows("missing", "drifted", "left over")), 0),
        (Result(rows=rows("as wanted"), judged=True), 0),
        (Result(rows=rows("missing"), judged=True), 3),
        (Result(rows=rows("drifted"), judged=True), 3),
        (Result(rows=rows("left over"), judged=True), 3),
        (Result(rows=rows("missing"), planned=True), 0),
        (Result(rows=rows("not tried")), 1),
        (Result(rows=rows("failed")), 1),
        (Result(rows=rows("drifted", "failed"), judged=True), 1),
        (Result(failures=(Failed("x"),)), 1),
        (Result(failures=(Denied("x"),)), 1),
        (Result(failures=(BadInput("x"),)), 2),
        (Result(failures=(BadInput("x"), Failed("y"))), 1),
        (Result(failures=(Conflict("x"), Failed("y"), BadInput("z"))), 4),
        (Result(failures=(ValueError("x"),)), 1),
        (Result(failures=(Conflict("x"),), interrupted=True), 130),
        (Result(rows=rows("created"), interrupted=True), 130),
    ],
)
def test_the_code_is(result: Result, code: int) -> None:
    assert result.code == code


def test_more_rows_and_failures_are_added_and_nothing_is_forgotten() -> None:
    result = Result(rows=rows("created"), failures=(Failed("x"),), interrupted=True).plus(
        rows("left over"), [Denied("y")]
    )

    assert [row.condition for row in result.rows] == ["created", "left over"]
    assert [str(e) for e in result.failures] == ["x", "y"]
    assert result.interrupted


@pytest.mark.parametrize(
    ("error", "condition"),
    [(Conflict("x", remedy="y"), "foreign"), (Denied("x", remedy="y"), "failed")],
)
def test_a_failure_tells_what_happened_and_what_to_do(error: Any, condition: str) -> None:
    assert failure("a", error) == Row("a", condition, problem="x", remedy="y")  # pyright: ignore[reportArgumentType] - a parameter that the table gives as text


def test_an_error_of_our_own_is_told_as_such() -> None:
    row = failure("a", KeyError("z"))

    assert "cwiictl itself" in row.problem
    assert "--debug" in row.remedy


def test_two_questions_have_one_answer_and_the_worse_code() -> None:
    clouds = Result(
        (Caller("aws", "1", "me"),), rows=(Row("aws/role/a", "as wanted"),), judged=True
    )
    cluster = Result(
        (Caller("cluster", "c", "me"),), rows=(Row("k8s/Deployment/a/b", "missing"),), judged=True
    )

    both = clouds.beside(cluster)

    assert [caller.cloud for caller in both.callers] == ["aws", "cluster"]
    assert ([row.condition for row in both.rows], both.code) == (["as wanted", "missing"], 3)


def test_what_is_still_to_be_restarted_is_not_as_wanted_and_what_was_is() -> None:
    assert Result(rows=(Row("k8s/Deployment/a/b", "to restart"),), judged=True).code == 3
    assert Result(rows=(Row("k8s/Deployment/a/b", "restarted"),), judged=True).code == 0
    assert (
        Result(
            rows=(Row("k8s/Deployment/a/b", "restarted"), Row("k8s/Pod/a/c", "missing")),
            judged=True,
        ).code
        == 3
    )
