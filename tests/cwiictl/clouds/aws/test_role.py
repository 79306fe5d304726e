"""Roles that are not as wanted, and policies that are too long for one."""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.resources.managed_policy import LIMIT, parts
from cwiictl.clouds.aws.resources.role import RoleState
from cwiictl.clouds.aws.spec import Ask, Spec
from cwiictl.engine.resource import Known
from cwiictl.errors import BadInput, Conflict
from tests.cwiictl.clouds.aws.planned import ALLOWED, differing, role, wanted
from tests.examples import ACCOUNT

OTHERS: list[tuple[str, dict[str, Any]]] = [
    ("description", {"description": "another"}),
    ("trust", {"trust": policy.canonical(policy.allow("sts:AssumeRole", Principal={"AWS": "*"}))}),
    ("policy", {"policy": policy.canonical(policy.allow("*", Resource="*"))}),
    ("policy", {"policy": None}),
    ("others", {"others": frozenset({"theirs"})}),
    ("managed", {"managed": frozenset({"arn:aws:iam::aws:policy/AdministratorAccess"})}),
    ("session", {"session": 43200}),
    ("tags", {"tags": {"Name": "another"}}),
]


@pytest.mark.parametrize(("field", "change"), OTHERS)
def test_every_field_of_a_role_is_looked_at(field: str, change: dict[str, Any]) -> None:
    """Each further policy is power that nobody asked for."""
    have = wanted(role())

    assert differing(have) == set()
    assert differing(
        RoleState(**{**{f.name: getattr(have, f.name) for f in fields(have)}, **change})
    ) == {field}


def test_a_boundary_that_nobody_asked_us_for_is_left_and_another_than_asked_for_is_not() -> None:
    guarded = wanted(role(Spec("us-east-1", boundary=BOUNDARY)))

    assert differing(guarded) == set()
    assert differing(guarded, boundary=BOUNDARY) == set()
    assert differing(guarded, boundary="arn:aws:iam::aws:policy/Another") == {"boundary"}
    assert differing(wanted(role()), boundary=BOUNDARY) == {"boundary"}


def test_a_role_under_another_path_is_not_moved() -> None:
    thing, found = role(Spec("us-east-1", path="/clusters/")), Known()
    assert wanted(thing).arn == f"arn:aws:iam::{ACCOUNT}:role/clusters/{thing.name}"
    assert thing.objection(found) is None
    found.learn(thing, wanted(thing))
    assert thing.objection(found) is None

    found.learn(thing, wanted(role()))

    problem = thing.objection(found)
    assert isinstance(problem, Conflict)
    assert "--role-path" in problem.remedy


BOUNDARY = "arn:aws:iam::aws:policy/PowerUserAccess"
ACTIONS = st.integers(1, 150).map(
    lambda size: [f"ec2:SomeLongerAction{number:04}" for number in range(size)]
)
RESOURCES = st.integers(0, 9).map("arn:aws:ec2:*:*:volume/{}".format)
STATEMENTS: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"Effect": st.sampled_from(["Allow", "Deny"]), "Action": ACTIONS, "Resource": RESOURCES}
)


@given(st.lists(STATEMENTS, min_size=1, max_size=25))
def test_a_long_policy_is_split_and_nothing_of_it_is_lost(statements: list[Any]) -> None:
    grants = policy.canonical(*statements)

    split = list(parts(grants, "a file"))

    assert all(len(policy.dump(one)) <= LIMIT for one in split)
    assert policy.canonical(*(each for one in split for each in one["Statement"])) == grants
    pairs = pairwise(split)
    assert all(
        len(policy.dump(policy.canonical(*one["Statement"], other["Statement"][0]))) > LIMIT
        for one, other in pairs
    ), "as few as can be"


def a_long_one(statements: int) -> Ask:
    """Each of its statements nearly fills a policy."""
    several = (
        policy.allow([f"s{one}:Action{number:04}" for number in range(350)], Resource="*")
        for one in range(statements)
    )
    return Ask(policy.canonical(*several))


def test_a_policy_that_fits_stays_in_the_role_and_a_longer_one_becomes_policies_of_ours_that_the_role_waits_for() -> (
    None
):
    short, long = role(), role(asked=a_long_one(3))

    assert (wanted(short).policy, short.parts) == (ALLOWED.policy, ())
    assert [part.name for part in long.parts] == [f"{long.name}-{number}" for number in (1, 2, 3)]
    state = wanted(long)
    assert state.policy is None
    assert state.managed == {
        f"arn:aws:iam::{ACCOUNT}:policy/{long.name}-{number}" for number in (1, 2, 3)
    }
    assert long.needs == long.parts


def test_a_role_has_at_most_ten_managed_policies_with_those_that_were_asked_for() -> None:
    asked = a_long_one(10)
    assert len(role(asked=asked).parts) == 10

    for more in (
        Ask(asked.policy, frozenset({BOUNDARY})),
        a_long_one(11),
        Ask(None, frozenset(f"arn:aws:iam::aws:policy/P{n}" for n in range(11))),
    ):
        with pytest.raises(BadInput, match="more than the 10 managed policies"):
            role(asked=more)
