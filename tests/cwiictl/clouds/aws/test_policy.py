"""Policies that mean the same are equal, however AWS gives them back; those that do not are not."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwiictl.clouds.aws import policy

WORDS = st.sampled_from(["s3:GetObject", "s3:PutObject", "ec2:*", "iam:PassRole", "kms:Decrypt"])
SETS = st.lists(WORDS, min_size=1, max_size=4, unique=True)
RESOURCES = st.lists(
    st.sampled_from(["*", "arn:aws:s3:::a/*", "arn:aws:s3:::b"]),
    min_size=1,
    max_size=3,
    unique=True,
)
VALUES = st.lists(st.sampled_from(["true", "a", "b", "1"]), min_size=1, max_size=3, unique=True)
CONDITIONS = st.dictionaries(
    st.sampled_from(["StringEquals", "Bool", "NumericLessThan"]),
    st.dictionaries(st.sampled_from(["k:a", "k:b"]), VALUES, min_size=1),
)
PRINCIPALS = st.one_of(
    st.just("*"),
    st.fixed_dictionaries({"AWS": st.lists(st.sampled_from(["1", "2"]), min_size=1, unique=True)}),
)
STATEMENTS: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"Effect": st.sampled_from(["Allow", "Deny"]), "Action": SETS, "Resource": RESOURCES},
    optional={
        "Sid": st.sampled_from(["", "One", "Two"]),
        "Condition": CONDITIONS,
        "Principal": PRINCIPALS,
    },
)
POLICIES = st.lists(STATEMENTS, min_size=1, max_size=4)


def rewritten(value: Any, dice: random.Random) -> Any:
    """As S3 and IAM do: sets in another order, lists of one as the one or the other way round, keys as they like."""
    if isinstance(value, dict):
        found: list[tuple[str, Any]] = [
            (key, rewritten(inner, dice))
            for key, inner in value.items()  # pyright: ignore[reportUnknownVariableType] - of data from outside
        ]
        return dict(dice.sample(found, len(found)))
    if isinstance(value, list):
        members: list[Any] = dice.sample(value, len(value))  # pyright: ignore[reportUnknownArgumentType] - of data from outside
        return (
            members[0]
            if len(members) == 1 and isinstance(members[0], str) and dice.random() < 0.5
            else members
        )
    return value


@given(POLICIES, st.randoms(use_true_random=False))
def test_order_and_lists_of_one_make_no_difference(
    statements: list[Any], dice: random.Random
) -> None:
    ours = policy.canonical(*statements)
    text = json.dumps(rewritten({"Version": policy.VERSION, "Statement": statements}, dice))

    assert policy.read(text) == ours
    assert policy.read(ours) == ours
    assert policy.read(policy.dump(ours)) == ours


@given(POLICIES, st.data())
def test_another_effect_action_resource_or_condition_makes_one(
    statements: list[Any], data: st.DataObject
) -> None:
    changed = json.loads(json.dumps(statements))
    one = changed[data.draw(st.integers(0, len(changed) - 1))]
    match data.draw(st.sampled_from(["effect", "more", "fewer", "resource", "condition"])):
        case "effect":
            one["Effect"] = "Deny" if one["Effect"] == "Allow" else "Allow"
        case "more":
            one["Action"].append("sts:AssumeRole")
        case "fewer":
            one["Action"] = ["sts:TagSession"]
        case "resource":
            one["Resource"].append("arn:aws:s3:::another")
        case _:
            one["Condition"] = {**one.get("Condition", {}), "StringLike": {"k:c": "x"}}

    assert policy.canonical(*changed) != policy.canonical(*statements)


def test_a_statement_more_or_fewer_makes_one() -> None:
    one, two = (
        policy.allow("s3:GetObject", Resource="*"),
        policy.allow("s3:PutObject", Resource="*"),
    )

    assert policy.canonical(one) != policy.canonical(one, two)
    assert policy.canonical(one, two) == policy.canonical(two, one)


@pytest.mark.parametrize(
    ("one", "two"),
    [(True, "true"), (False, "false"), (1, "1"), (["a"], "a"), ([True, "x"], ["x", "true"])],
)
def test_condition_values_are_texts(one: object, two: object) -> None:
    assert policy.canonical(
        policy.allow("a:b", Condition={"Bool": {"k": one}})
    ) == policy.canonical(policy.allow("a:b", Condition={"Bool": {"k": two}}))


def test_everybody_is_written_in_two_ways() -> None:
    assert policy.canonical(policy.allow("a:b", Principal="*")) == policy.canonical(
        policy.allow("a:b", Principal={"AWS": "*"})
    )
    assert policy.canonical(policy.allow("a:b", Principal="*")) != policy.canonical(
        policy.allow("a:b", Principal={"Federated": "*"})
    )


def test_an_empty_sid_is_none() -> None:
    assert policy.canonical(policy.allow("a:b", Sid="")) == policy.canonical(policy.allow("a:b"))
    assert policy.canonical(policy.allow("a:b", Sid="x")) != policy.canonical(policy.allow("a:b"))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "1", '"x"'])
def test_what_is_no_policy_is_kept_and_equals_none_of_ours(text: str) -> None:
    found = policy.read(text)

    assert "malformed" in found
    assert found == policy.read(text)
    assert found != policy.canonical()


def test_another_version_is_another_policy() -> None:
    text = policy.dump(policy.canonical(policy.allow("a:b")))

    assert policy.read(text.replace("2012-10-17", "2008-10-17")) != policy.read(text)


def test_no_space_is_written() -> None:
    assert " " not in policy.dump(policy.canonical(policy.allow(["a:b", "c:d"], Resource="*")))
