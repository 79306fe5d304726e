"""Service accounts, whom they believe, and the roles that they are granted."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from cwiictl import names
from cwiictl.clouds.gcp import connect, plan
from cwiictl.clouds.gcp.resources.custom_role import CustomRole, CustomRoleState, SharedRoleState
from cwiictl.clouds.gcp.resources.grant import Condition
from cwiictl.clouds.gcp.resources.policy import Grant as Given
from cwiictl.clouds.gcp.resources.policy import Policy, PolicyState, after
from cwiictl.clouds.gcp.resources.reach import Reach, ReachState
from cwiictl.clouds.gcp.resources.service_account import ServiceAccount, ServiceAccountState
from cwiictl.clouds.gcp.spec import Ask, Role
from cwiictl.engine.resource import Known
from cwiictl.engine.run import foretold
from cwiictl.errors import BadInput
from cwiictl.model import Cluster
from tests.cwiictl.clouds.gcp.planned import DIRECT, POWERS, VIEWER, only, planned, wanted
from tests.cwiictl.clouds.gcp.told import NUMBER, OTHER, PROJECT, a_spec
from tests.examples import a_cluster, a_workload

SUBJECT = "system:serviceaccount:kube-system:operator"
PRINCIPAL = f"principal://iam.googleapis.com/projects/{NUMBER}/locations/global/workloadIdentityPools/demo/subject/{SUBJECT}"


def test_a_workload_has_a_service_account_that_its_service_accounts_may_act_as() -> None:
    account: ServiceAccount = only(ServiceAccount, planned((a_workload(), VIEWER)))
    want = wanted(account)

    assert account.name == names.service_account(a_cluster(), "a-request")
    assert want.email == f"{account.name}@{PROJECT}.iam.gserviceaccount.com"
    assert want.title == "demo-a-request"
    assert want.principals == {PRINCIPAL}
    assert want.description == "OpenShift identity for kube-system/cloud-credentials."


def test_what_ccoctl_made_for_a_request_is_found_by_its_title_and_for_no_other_workload() -> None:
    made = {
        "demo-a-request": "demo-a-request-x7x2p",
        names.account_title(a_cluster(), "kube-system/cloud-credentials"): "wrong",
    }

    assert (
        only(ServiceAccount, planned((a_workload(), VIEWER), made=made)).name
        == "demo-a-request-x7x2p"
    )
    other = only(ServiceAccount, planned((a_workload(), replace(VIEWER, request="")), made=made))
    assert other.name == names.service_account(a_cluster(), "kube-system/cloud-credentials")


def test_a_workload_may_name_its_service_account() -> None:
    assert (
        only(ServiceAccount, planned((a_workload(), Ask(account="their-own")))).name == "their-own"
    )


def test_no_field_of_a_service_account_drifts_unseen_but_the_scopes_that_it_had() -> None:
    account: ServiceAccount = only(
        ServiceAccount, planned((a_workload(), Ask((Role("roles/viewer", (OTHER,)),))))
    )
    want = wanted(account)

    assert want.scopes == {OTHER}
    drifted: dict[str, Any] = {
        "principals": frozenset({"x"}),
        "disabled": True,
        "title": "x",
        "description": "x",
        "email": "x",
        "scopes": frozenset({"x"}),
    }
    assert {f.name for f in fields(ServiceAccountState) if f.compare} == drifted.keys()
    assert all(
        [d.field for d in account.differing(want, replace(want, **{name: value}))] == [name]
        for name, value in drifted.items()
    )
    assert (
        account.differing(
            want, replace(want, scopes=frozenset({OTHER, "third-project"}), unique_id="1")
        )
        == ()
    )


def test_there_is_one_policy_for_each_project_whoever_is_granted_something_in_it() -> None:
    everywhere = Ask(
        (Role("roles/viewer"), Role("roles/viewer", (OTHER,), Condition("c", "true"))),
        request="everywhere",
    )
    wants: Any = foretold(
        planned((a_workload(name="a"), VIEWER), (a_workload(name="b"), everywhere))
    )

    assert {address for address in wants if address.startswith("gcp/policies/")} == {
        f"gcp/policies/{PROJECT}",
        f"gcp/policies/{OTHER}",
    }
    mine, theirs = wants[f"gcp/policies/{PROJECT}"], wants[f"gcp/policies/{OTHER}"]
    assert len(mine.of) == 2
    assert mine.of == theirs.of, "so that what one of them no longer has there goes"
    assert {(grant.role, grant.condition) for grant in theirs.grants} == {
        ("roles/viewer", Condition("c", "true"))
    }
    assert len(mine.grants) == 2


@pytest.mark.parametrize(
    ("role", "places"),
    [(f"projects/{OTHER}/roles/theirs", ()), (f"projects/{PROJECT}/roles/ours", (PROJECT, OTHER))],
)
def test_a_role_of_a_project_is_given_in_no_other(role: str, places: tuple[str, ...]) -> None:
    with pytest.raises(
        BadInput, match=f"{role} is a role of the project .*, and cannot be given in"
    ):
        planned((a_workload(), Ask((Role(role, places),))))
    planned(
        (
            a_workload(),
            Ask(
                (
                    Role(f"projects/{OTHER}/roles/theirs", (OTHER,)),
                    Role("organizations/1/roles/x", (OTHER,)),
                )
            ),
        )
    )


def test_what_ours_have_and_nobody_asks_for_is_told_and_nothing_else() -> None:
    granted: Policy = only(Policy, planned((a_workload(), DIRECT)))
    want = wanted(granted)
    mine, soon = (
        Given("roles/editor", PRINCIPAL),
        Given("roles/dns.admin", PRINCIPAL, Condition("soon", "true")),
    )
    have = PolicyState(
        grants=want.grants
        | {
            mine,
            soon,
            Given("roles/owner", "user:somebody@example.org"),
            Given("roles/editor", f"deleted:{PRINCIPAL}?uid=1"),
        }
    )

    assert granted.remarks(want, have) == (
        f"{PRINCIPAL} has roles/dns.admin if soon, roles/editor too: not asked for, and kept without --exact-roles",
    )
    assert granted.remarks(want, want) == ()
    assert granted.remarks(replace(want, exact=True), have) == (), "these go"


def test_roles_are_granted_to_the_service_accounts_themselves_if_there_is_none_of_googles() -> None:
    things = planned((a_workload(), DIRECT))
    want = wanted(only(Policy, things))

    assert not [thing for thing in things.values() if isinstance(thing, ServiceAccount)]
    assert want.grants == {Given("roles/viewer", PRINCIPAL)}
    assert want.of == {PRINCIPAL}
    assert only(Policy, things).likes[0].address == "gcp/pools/demo", (
        "no policy takes a member of a pool that is not there"
    )


def test_where_else_the_pools_members_reach_is_written_on_it_before() -> None:
    things = planned((a_workload(), replace(DIRECT, roles=(Role("roles/viewer", (OTHER,)),))))
    reach: Reach = only(Reach, things)

    assert wanted(reach).scopes == {OTHER}
    there: Any = things[f"gcp/policies/{OTHER}"]
    assert there.reaches == (reach,)
    assert (
        reach.differing(wanted(reach), ReachState(scopes=frozenset({OTHER, "third-project"}))) == ()
    )
    assert [
        d.want
        for d in reach.differing(wanted(reach), ReachState(scopes=frozenset({"third-project"})))
    ] == [{OTHER, "third-project"}]
    known = Known()
    assert there.want(known) == PolicyState(grants=frozenset()), (
        "nothing is granted that could not be found again"
    )


def test_a_custom_role_is_shared_by_all_who_ask_for_the_same_unless_each_is_to_have_its_own() -> (
    None
):
    two = (
        (a_workload(name="a"), POWERS),
        (a_workload(name="b"), replace(POWERS, request="others")),
    )
    shared: CustomRole = only(CustomRole, planned(*two))
    own = [
        thing for thing in planned(*two, separate=True).values() if isinstance(thing, CustomRole)
    ]

    assert isinstance(wanted(shared), SharedRoleState)
    assert wanted(shared).markless
    assert wanted(shared).permissions == POWERS.permissions
    assert len(own) == 2
    assert all(type(wanted(role)) is CustomRoleState and not wanted(role).markless for role in own)
    want = wanted(only(Policy, planned(*two)))
    assert {grant.role for grant in want.grants} == {f"<id of gcp/custom_roles/{shared.name}>"}


def test_the_policy_takes_what_it_can_get_of_its_members() -> None:
    things = planned((a_workload(name="a"), VIEWER), (a_workload(name="b"), POWERS))
    policy: Policy = only(Policy, things)
    one, other = policy.members
    known = Known()
    known.learn(one, wanted(one))

    assert policy.want(known).of == {one.member}
    known.learn(other, wanted(other))
    want = policy.want(known)
    assert want.grants == {Given("roles/viewer", one.member)}
    assert want.of == {one.member}, "of whom not all can be granted nothing is taken away"


MINE, OTHERS = "serviceAccount:mine@p.iam.gserviceaccount.com", "user:somebody@example.org"


def a_policy(*grants: Given, exact: bool = False) -> PolicyState:
    return PolicyState(grants=frozenset(grants), of=frozenset({MINE}), exact=exact)


def test_only_our_members_change_in_a_policy_and_of_them_only_what_we_gave() -> None:
    viewer, by_hand, ours = (
        Given("roles/viewer", MINE),
        Given("roles/owner", MINE),
        Given("projects/p/roles/cwii_0123456789ab", MINE),
    )
    theirs = frozenset(
        {
            Given("roles/viewer", OTHERS),
            Given("projects/p/roles/cwii_0123456789ab", OTHERS),
            Given("roles/viewer", f"deleted:{OTHERS}?uid=1"),
        }
    )
    dead = Given("roles/viewer", f"deleted:{MINE}?uid=7")

    assert after(a_policy(viewer), theirs | {by_hand, ours, dead}) == theirs | {viewer, by_hand}
    assert after(a_policy(viewer, exact=True), theirs | {by_hand, ours, dead}) == theirs | {viewer}


def test_a_condition_makes_another_grant() -> None:
    when = Condition("t", "true")
    ours = "projects/p/roles/cwii_0123456789ab"
    assert after(a_policy(Given(ours, MINE, when)), frozenset({Given(ours, MINE)})) == {
        Given(ours, MINE, when)
    }
    assert after(
        a_policy(Given("roles/viewer", MINE, when)), frozenset({Given("roles/viewer", MINE)})
    ) == {
        Given("roles/viewer", MINE),
        Given("roles/viewer", MINE, when),
    }


def test_of_a_policy_only_our_part_is_shown() -> None:
    policy: Policy = only(Policy, planned((a_workload(), VIEWER)))
    viewer, theirs = Given("roles/viewer", MINE), Given("roles/viewer", OTHERS)

    assert policy.differing(a_policy(viewer), PolicyState(grants=frozenset({viewer, theirs}))) == ()
    (told,) = policy.differing(a_policy(viewer), PolicyState(grants=frozenset({theirs})))
    assert (told.field, told.have, told.want) == ("grants", frozenset(), {viewer})


def test_a_role_that_google_does_not_have_is_found_before_anything_is_written() -> None:
    with pytest.raises(BadInput, match="has no role roles/nobody"):
        planned((a_workload(), Ask((Role("roles/nobody"),))))


def test_a_subject_that_google_does_not_take_is_found_before_anything_is_written() -> None:
    fits, longer = (
        "a" * (127 - len("system:serviceaccount:kube-system:")),
        "a" * (128 - len("system:serviceaccount:kube-system:")),
    )

    planned((a_workload(service_accounts=(fits,)), VIEWER))
    with pytest.raises(BadInput, match="127 bytes"):
        planned((a_workload(service_accounts=("a", longer)), VIEWER))


@pytest.mark.parametrize(
    ("cluster", "told", "word"),
    [
        (Cluster("abc"), {}, "workload identity pool"),
        (Cluster("gcp-prod"), {}, "workload identity pool"),
        (Cluster("1abc"), {}, "workload identity pool"),
        (Cluster("a" * 33), {}, "workload identity pool"),
        (Cluster("a" * 33), {"pool": "pool"}, "workload identity pool"),
        (Cluster("a" * 47), {"pool": "pool", "provider": "prov"}, "label"),
        (Cluster("google"), {}, "bucket"),
        (Cluster("demo", {"Team": "x"}), {}, "label with the key Team"),
        (Cluster("demo", {"name": "x"}), {}, "label with the key name"),
        (Cluster("demo", {"cwii-dev_cluster_x": "owned"}), {}, "label with the key"),
        (Cluster("demo", {"team": "A b"}), {}, "label with the value"),
        (Cluster("demo", {f"t{number}": "" for number in range(51)}), {}, "51 tags"),
    ],
)
def test_what_google_would_refuse_of_a_cluster_is_found_before_anybody_is_asked(
    cluster: Cluster, told: dict[str, Any], word: str
) -> None:
    with pytest.raises(BadInput, match=word):
        connect(a_spec(**told), cluster, 1)
    plan.judged(a_spec(pool="pool", provider="prov"), Cluster("a" * 46, {"team": "payments"}))
