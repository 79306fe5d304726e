"""A project's policy: whom it may grant something, when, and what is said of what nobody asked for."""

from __future__ import annotations

from typing import Any

from cwiictl.clouds.gcp.resources.grant import Condition
from cwiictl.clouds.gcp.resources.grant import Grant as Given
from cwiictl.clouds.gcp.resources.policy import Granted, Policy, PolicyState, Principal
from cwiictl.clouds.gcp.resources.reach import Reach, ReachState
from cwiictl.engine.resource import Known
from cwiictl.errors import BadInput
from tests.cwiictl.clouds.gcp.things import ADDRESS, POOL, STORE, THEIRS, a_pool, an_account
from tests.cwiictl.clouds.gcp.told import PROJECT
from tests.examples import a_workload


def a_policy(**changes: Any) -> Policy:
    asked: dict[str, Any] = {"granted": ()}
    return Policy(PROJECT, STORE, **{**asked, **changes})


def test_a_principal_in_a_pool_of_others_is_refused_in_these_words() -> None:
    who, found = Principal(a_workload(), an_account().project), Known()
    found.learn(THEIRS, a_pool())

    for place in (THEIRS, Reach("demo", STORE, THEIRS, frozenset())):
        refusal = a_policy(principals=(who,), reaches=(place,)).objection(found)
        assert isinstance(refusal, BadInput)
        assert (
            refusal.problem
            == f"kube-system/cloud-credentials is to have roles without a service account, and {ADDRESS} is not the cluster's own"
        )
        assert (
            refusal.remedy == "give it a service account, or let the cluster have a pool of its own"
        )
    assert a_policy(reaches=(THEIRS,)).objection(found) is None, "nobody is granted anything there"


def test_principals_are_granted_nothing_until_every_place_that_they_reach_is_written() -> None:
    who, known = Principal(a_workload(), an_account().project), Known()
    (member,) = who.members
    reached = Reach("far", STORE, POOL, frozenset({"one"}))
    policy = a_policy(
        granted=(Granted("roles/viewer", member),), principals=(who,), reaches=(POOL, reached)
    )
    known.learn(POOL, a_pool())

    assert (policy.want(known).grants, policy.want(known).of) == (frozenset(), frozenset())
    known.learn(reached, ReachState())
    assert (policy.want(known).grants, policy.want(known).of) == (
        {Given("roles/viewer", member)},
        {member},
    )
    assert policy.want(known).exact is False


def test_what_nobody_asked_for_is_told_in_order_with_its_condition() -> None:
    one, two = "serviceAccount:one", "serviceAccount:two"
    when = Condition("nights", "true", "by night")
    have = frozenset(
        {
            Given("roles/b", two),
            Given("roles/owner", one),
            Given("roles/a", two, when),
            Given("roles/x", "user:else"),
        }
    )

    assert a_policy().remarks(
        PolicyState(grants=frozenset(), of=frozenset({one, two})), PolicyState(grants=have)
    ) == (
        "serviceAccount:one has roles/owner too: not asked for, and kept without --exact-roles",
        "serviceAccount:two has roles/a if nights, roles/b too: not asked for, and kept without --exact-roles",
    )
    assert Condition("t", "e").description == ""
