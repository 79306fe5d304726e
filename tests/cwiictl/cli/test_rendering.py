"""A result as lines."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from cwiictl.actions.result import Condition, Result, Row
from cwiictl.cli.rendering import COLOURS, changed, lines
from cwiictl.errors import BadInput


def test_every_condition_has_its_colour() -> None:
    assert COLOURS.keys() == set(get_args(Condition))


def a_policy(who: str, *more: str) -> dict[str, Any]:
    statement = {
        "Effect": "Allow",
        "Action": ["a", *more],
        "Condition": {"StringEquals": {"example.org:sub": who}},
    }
    return {"Version": "2012-10-17", "Statement": [statement]}


@pytest.mark.parametrize(
    ("have", "want", "told"),
    [
        (a_policy("x"), a_policy("y"), "Statement.Condition.StringEquals.example.org:sub: x -> y"),
        (
            a_policy("x"),
            a_policy("y", "b"),
            'Statement.Action: add ["b"]; Statement.Condition.StringEquals.example.org:sub: x -> y',
        ),
        ({"a": "1", "b": "2"}, {"a": "1", "c": "3"}, "b: 2 -> nothing; c: nothing -> 3"),
        (
            {"Statement": []},
            {"Statement": [{"Effect": "Deny"}]},
            'Statement: add [{"Effect": "Deny"}]',
        ),
        ([{"role": "r", "scope": "s"}], [], 'take away [{"role": "r", "scope": "s"}]'),
        (
            [{"role": "r", "scope": "s"}],
            [{"role": "q", "scope": "s"}],
            'add [{"role": "q", "scope": "s"}], take away [{"role": "r", "scope": "s"}]',
        ),
        ({}, {"a": 1}, '{} -> {"a": 1}'),
        (None, {"a": 1}, 'nothing -> {"a": 1}'),
        ("x", "y", "x -> y"),
    ],
)
def test_of_what_differs_only_that_is_told(have: object, want: object, told: str) -> None:
    assert changed(have, want) == told


def test_one_mistake_against_everything_is_told_without_a_row_for_each_thing() -> None:
    failed = [
        Row(f"aws/role/{name}", "failed", problem="no credentials", remedy="log in")
        for name in "ab"
    ]
    bad = BadInput("no credentials", remedy="log in")

    alone, beside = (
        Result(rows=tuple(rows), failures=(bad,), judged=True)
        for rows in (failed, [*failed, Row("gcp/pool/p", "as wanted")])
    )

    assert not [line for line in lines(alone) if "aws/role" in line]
    assert [line.split()[-1] for line in lines(beside)][:3] == [
        "aws/role/a",
        "aws/role/b",
        "gcp/pool/p",
    ]
