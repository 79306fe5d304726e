"""Identities, whom they believe, and the roles that they are given."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cwiictl.clouds.azure import plan
from cwiictl.clouds.azure.resources.custom_role import CustomRole, CustomRoleState, Powers
from cwiictl.clouds.azure.resources.identity import Credential, IdentityState
from cwiictl.clouds.azure.resources.role_assignments import AssignmentsState
from cwiictl.clouds.azure.resources.role_assignments import Grant as Given
from cwiictl.clouds.azure.spec import NETWORK, Ask, Role
from cwiictl.engine.plain import checksum
from cwiictl.engine.run import foretold
from cwiictl.errors import BadInput
from cwiictl.issuer.home import Home
from tests.cwiictl.clouds.azure.planned import (
    ISSUER,
    OWN,
    READER,
    found,
    given,
    identity,
    wanted,
    whole,
)
from tests.cwiictl.clouds.azure.told import OTHER, ROLES, SUBSCRIPTION, a_group, a_spec, the_stores
from tests.examples import a_cluster, a_workload


def test_an_identity_believes_exactly_its_service_accounts_each_for_one_audience() -> None:
    asked, projected = identity(service_accounts=("one", "two.x")), identity(asker="webhook")

    subject = "system:serviceaccount:kube-system:"
    assert wanted(asked).credentials == {
        Credential(ISSUER, f"{subject}one", "openshift"),
        Credential(ISSUER, f"{subject}two.x", "openshift"),
    }
    assert wanted(projected).credentials == {
        Credential(ISSUER, f"{subject}operator", "api://AzureADTokenExchange")
    }
    elsewhere = identity(world="AzureChinaCloud", asker="webhook")
    assert {c.audience for c in wanted(elsewhere).credentials} == {
        "api://AzureADTokenExchangeChina"
    }
    titles = {credential.subject: title for credential, title in wanted(asked).titles.items()}
    assert titles[f"{subject}one"] == "one"
    assert titles[f"{subject}two.x"].startswith("two-x-")


OTHERS: list[tuple[str, dict[str, Any]]] = [
    ("credentials", {"credentials": frozenset[Credential]()}),
    (
        "credentials",
        {
            "credentials": frozenset(
                {
                    Credential(
                        f"{ISSUER}/", "system:serviceaccount:kube-system:operator", "openshift"
                    )
                }
            )
        },
    ),
    (
        "credentials",
        {
            "credentials": frozenset(
                {Credential(ISSUER, "system:serviceaccount:kube-system:Operator", "openshift")}
            )
        },
    ),
    (
        "credentials",
        {
            "credentials": frozenset(
                {Credential(ISSUER, "system:serviceaccount:kube-system:operator", "another")}
            )
        },
    ),
    ("tags", {"tags": {"Name": "another"}}),
]


@pytest.mark.parametrize(("field", "change"), OTHERS)
def test_every_field_of_an_identity_is_looked_at(field: str, change: dict[str, Any]) -> None:
    thing = identity()
    have: IdentityState = replace(
        wanted(thing), region="westus", client_id="c", titles={}, owner=OWN
    )

    assert thing.differing(wanted(thing), have) == ()
    assert {d.field for d in thing.differing(wanted(thing), replace(have, **change))} == {field}


def test_an_identity_waits_for_its_group_alone() -> None:
    assert [need.address for need in identity().needs] == ["azure/groups/demo-oidc"]


def test_what_entra_would_not_take_is_refused_before_it_is_asked() -> None:
    with pytest.raises(
        BadInput, match=r"a file: .* 21 ServiceAccounts, and an identity believes at most 20"
    ):
        identity(service_accounts=tuple(f"account-{number}" for number in range(21)))
    with pytest.raises(BadInput, match="longer than the 600 characters"):
        tuple(
            plan.identities(
                a_spec(),
                a_cluster(),
                the_stores(),
                [(a_workload(), READER)],
                Home(f"https://{'x' * 600}"),
            )
        )


def test_two_requests_never_share_an_identity_though_their_names_are_cut_or_written_alike() -> None:
    made = whole(
        a_workload(name="a" * 150 + "1"),
        a_workload(name="a" * 150 + "2"),
        a_workload(name="a.b"),
        a_workload(name="a-b"),
    )

    assert sum(address.startswith("azure/identities/") for address in made) == 4


def test_a_plan_does_not_depend_on_the_order_of_requests() -> None:
    one, two = a_workload(name="one"), a_workload(name="two")

    assert checksum(foretold(whole(one, two))) == checksum(foretold(whole(two, one)))


def test_roles_hold_in_the_installations_group_which_is_made_if_it_is_missing() -> None:
    thing = given()

    assert thing.grants == {Given(a_group("demo"), ROLES["reader"])}
    (group,) = thing.groups
    assert group.address == "azure/groups/demo"
    assert group.brought, "whoever has one lends it"
    assert wanted(thing).principal == f"<principal_id of {thing.identity.address}>"


def test_a_request_that_reaches_into_groups_of_the_users_is_given_its_roles_there_too() -> None:
    asked = replace(READER, groups=(NETWORK, "dns_group"))

    assert {grant.scope for grant in given(asked=asked).grants} == {a_group("demo")}
    everywhere = given(a_spec(network_group="net", dns_group="DNS"), asked)
    assert {grant.scope for grant in everywhere.grants} == {
        a_group("demo"),
        a_group("net"),
        a_group("dns"),
    }


def test_a_role_holds_where_it_says_else_where_the_workload_does() -> None:
    vault, zone = a_group("vault"), a_group("dns", OTHER)

    thing = given(asked=Ask((Role("reader"), Role("Contributor", (zone,))), scopes=(vault,)))

    assert thing.grants == {Given(vault, ROLES["reader"]), Given(zone, ROLES["contributor"])}
    (asked,) = thing.groups
    assert asked.address == "azure/standing_groups/vault", (
        "the one that is in this subscription and not ours must be there"
    )


def test_a_role_that_azure_does_not_have_is_found_before_the_first_write() -> None:
    with pytest.raises(BadInput, match="no role 'Raeder'"):
        given(asked=Ask((Role("Raeder"),)))


def test_what_a_workload_asks_in_so_many_words_becomes_a_role_of_its_own() -> None:
    powers = Powers(frozenset({"Microsoft.Compute/disks/read"}), data_actions=frozenset({"a/b/c"}))
    thing = given(asked=Ask((Role("Reader"),), powers))

    own = thing.own
    assert own is not None
    assert own.name == thing.identity.title
    assert wanted(own).scopes == {f"/subscriptions/{SUBSCRIPTION}"}
    assert (wanted(own).actions, wanted(own).data_actions) == (powers.actions, powers.data_actions)
    known = found(
        (
            own,
            replace(
                wanted(own),
                id=f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/{OTHER.upper()}",
            ),
        )
    )
    known.learn(thing.identity, replace(wanted(thing.identity), principal_id="p"))
    assert thing.want(known) == AssignmentsState(
        grants=thing.grants | {Given(a_group("demo"), OTHER)}, principal="p"
    )


def test_a_role_of_its_own_is_compared_without_case_and_field_by_field() -> None:
    own = given(asked=Ask(powers=Powers(frozenset({"Microsoft.Compute/disks/read"})))).own
    assert isinstance(own, CustomRole)
    want: CustomRoleState = wanted(own)

    assert (
        own.differing(
            want, replace(want, actions=frozenset({"microsoft.compute/Disks/READ"}), id="x")
        )
        == ()
    )
    for field in ("actions", "not_actions", "data_actions", "not_data_actions", "scopes"):
        change: Any = {field: frozenset({"another"})}
        assert [d.field for d in own.differing(want, replace(want, **change))] == [field]
    assert [d.field for d in own.differing(want, replace(want, description="another"))] == [
        "description"
    ]


def test_a_role_of_its_own_can_be_given_wherever_it_is_to_hold() -> None:
    scopes = (
        a_group("a"),
        a_group("b", OTHER),
        "/providers/microsoft.management/managementgroups/m",
    )
    own = given(asked=Ask(powers=Powers(frozenset({"*/read"})), scopes=scopes)).own

    assert own is not None
    assert own.scopes == {f"/subscriptions/{SUBSCRIPTION}", f"/subscriptions/{OTHER}", scopes[2]}
    with pytest.raises(BadInput, match="one management group"):
        given(asked=Ask(powers=Powers(frozenset({"*/read"})), scopes=(scopes[2], f"{scopes[2]}2")))


def test_scopes_outside_the_subscription_are_written_on_the_identity_as_exactly_as_fits() -> None:
    inside, one, two = a_group("in"), a_group("a" * 80, OTHER), a_group("b" * 80, OTHER)

    assert (
        "cwii.dev/scopes"
        not in wanted(identity(asked=Ask((Role("Reader"),), scopes=(inside,)))).tags
    )
    assert (
        wanted(identity(asked=Ask((Role("Reader"),), scopes=(inside, one)))).tags["cwii.dev/scopes"]
        == one
    )
    both = identity(asked=Ask((Role("Reader"),), scopes=(inside, two, one)))
    assert wanted(both).tags["cwii.dev/scopes"] == f"/subscriptions/{OTHER}"
    some = tuple(a_group("g", f"{OTHER[:-2]}{number:02}") for number in range(20))
    tags = wanted(identity(asked=Ask((Role("Reader"),), scopes=some))).tags
    told = [text for key, text in tags.items() if key.startswith("cwii.dev/scopes")]
    assert " ".join(told).split() == [
        f"/subscriptions/{OTHER[:-2]}{number:02}" for number in range(20)
    ]
    assert all(len(text) <= 256 for text in told)
    many = tuple(a_group("g", f"{OTHER[:-2]}{number:02}") for number in range(21))
    with pytest.raises(BadInput, match="more subscriptions than can be written"):
        identity(asked=Ask((Role("Reader"),), scopes=many))


def test_what_others_gave_an_identity_is_taken_away_unless_it_is_to_stay() -> None:
    more = Given(a_group("theirs"), ROLES["contributor"])
    for preserve in (False, True):
        thing = given(a_spec(preserve=preserve))
        want = wanted(thing)
        have = AssignmentsState(grants=want.grants, principal=want.principal)

        assert thing.differing(want, have) == ()
        assert [d.field for d in thing.differing(want, replace(have, grants=frozenset()))] == [
            "grants"
        ]
        added = thing.differing(
            want, replace(have, grants=have.grants | {more}, unmarked=frozenset({more}))
        )
        assert [d.field for d in added] == ([] if preserve else ["grants"])
        assert [d.field for d in thing.differing(want, replace(have, principal="dead"))] == [
            "principal"
        ]
        assert [d.field for d in thing.differing(want, replace(have, unmarked=have.grants))] == [
            "mark"
        ]


def test_roles_are_told_by_their_names_as_far_as_anybody_knows_them() -> None:
    thing = given(asked=Ask((Role("Reader"),), powers=Powers(frozenset({"*/read"}))))
    want, strange = wanted(thing), "00000000-0000-4000-8000-00000000000a"
    theirs = frozenset(Given(a_group("theirs"), role) for role in (ROLES["contributor"], strange))

    (told,) = thing.differing(want, AssignmentsState(grants=theirs, principal=want.principal))

    roles = [  # pyright: ignore[reportUnknownVariableType] - grants
        sorted(grant.role for grant in side)  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType, reportUnknownVariableType] - grants
        for side in (told.have, told.want)
        if isinstance(side, frozenset)
    ]
    assert thing.own is not None
    assert roles == [[strange, "Contributor"], sorted(["Reader", thing.own.name])]


def test_who_is_given_nothing_is_given_nothing_by_others_either() -> None:
    thing = given(asked=Ask())
    assert thing.quiet
    assert not given().quiet
    have = AssignmentsState(grants=frozenset(), principal=wanted(thing).principal)

    assert thing.differing(wanted(thing), have) == ()
    assert thing.differing(wanted(thing), replace(have, principal="dead"))
    assert thing.differing(
        wanted(thing), replace(have, grants=frozenset({Given(a_group(), ROLES["reader"])}))
    )
