"""What is wanted of Azure, to the letter; what is compared and shown of it; and what is said, to the letter, where it cannot be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cwiictl.clouds.azure.environments import environment
from cwiictl.clouds.azure.resources import (
    custom_role,
    identity,
    known_region,
    lent_role,
    resource_group,
    role_assignments,
    standing_group,
    storage_account,
)
from cwiictl.clouds.azure.resources.custom_role import NOTHING, CustomRole, Powers
from cwiictl.clouds.azure.resources.document import JWKS, PATHS
from cwiictl.clouds.azure.resources.identity import Identity, Subscription
from cwiictl.clouds.azure.resources.known_region import KnownRegion, KnownRegionState
from cwiictl.clouds.azure.resources.lent_role import LentRole, LentRoleState
from cwiictl.clouds.azure.resources.resource_group import ResourceGroup, ResourceGroupState, due
from cwiictl.clouds.azure.resources.role_assignments import (
    Assignment,
    AssignmentsState,
    Grant,
    RoleAssignments,
)
from cwiictl.clouds.azure.resources.standing_group import StandingGroup, StandingGroupState
from cwiictl.clouds.azure.resources.storage_account import (
    HIDDEN,
    Container,
    ContainerState,
    StorageAccount,
    StorageAccountState,
)
from cwiictl.engine.plain import plain
from cwiictl.engine.resource import Difference, Known, Mark
from cwiictl.errors import BadInput, Conflict
from cwiictl.issuer.home import Home
from tests.contracts.shelf import Shelf, World
from tests.cwiictl.clouds.azure.told import SUBSCRIPTION
from tests.cwiictl.clouds.fields import apart_of
from tests.examples import a_cluster, a_workload

STORE: Any = Shelf(World(), "azure/things")
TAGS = {"Name": "demo"}
GROUP = ResourceGroup("demo-oidc", STORE, a_cluster(), "eastus")
HOSTED = "or serve the documents from a host of your own, with --issuer-url"


def told(thing: Any, have: Any) -> Any:
    found = Known()
    if have:
        found.learn(thing, have)
    return thing.objection(found)


def an_account(**changes: Any) -> StorageAccount:
    asked: dict[str, Any] = {
        "cluster": a_cluster(),
        "subscription": SUBSCRIPTION,
        "region": "eastus",
        "group": GROUP,
    }
    return StorageAccount("demo-oidc/demo", STORE, **{**asked, **changes})


def a_container(account: StorageAccount | None = None, **changes: Any) -> Container:
    return Container("demo-oidc/demo/demo", STORE, a_cluster(), account or an_account(), **changes)


def an_identity(issuer: str = "https://issuer.example.org", **changes: Any) -> Identity:
    subscription = Subscription(SUBSCRIPTION, "eastus", environment(""))
    return Identity(
        "demo-oidc/demo-x",
        STORE,
        a_cluster(),
        a_workload(),
        subscription,
        GROUP,
        Home(issuer),
        **changes,
    )


# --- what is wanted ---


def test_a_storage_account_is_wanted_over_tls_without_keys_and_readable() -> None:
    account = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/demo-oidc/providers/Microsoft.Storage/storageAccounts/demo"
    want = an_account(clouds=frozenset({"aws"})).want(Known())

    assert want.id.lower() == account.lower()
    assert plain(replace(want, id="")) == {
        "id": "", "region": "eastus", "minimum_tls": "TLS1_2", "https_only": True, "public": True, "shared_key": False,
        "tags": {**TAGS, "cwii.dev/trusted-by-aws": "true"},
    }  # fmt: skip
    assert want.network == "Enabled"
    assert an_account(public=False).want(Known()).public is False


def test_a_container_is_wanted_for_everybody_to_read_unless_its_account_is_closed() -> None:
    assert plain(a_container().want(Known())) == {"public": "Blob"}
    assert plain(a_container(an_account(public=False)).want(Known())) == {"public": "None"}
    assert ContainerState().public == "Blob"


def test_the_documents_are_the_two_that_ccoctls_users_know() -> None:
    assert ("openid/v1/jwks", {".well-known/openid-configuration", "openid/v1/jwks"}) == (
        JWKS,
        PATHS,
    )


def test_a_role_of_a_workloads_own_that_differs_in_case_alone_is_the_same() -> None:
    role = CustomRole(
        "demo", STORE, a_workload(), Powers(frozenset({"Microsoft.Web/Read"})), frozenset()
    )

    assert (
        role.differing(
            role.want(Known()),
            replace(role.want(Known()), actions=frozenset({"microsoft.web/read"})),
        )
        == ()
    )


@pytest.mark.parametrize(("asker", "begin"), [("request", "OpenShift"), ("webhook", "Kubernetes")])
def test_a_role_of_a_workloads_own_says_whose_it_is(asker: Any, begin: str) -> None:
    powers = Powers(
        frozenset({"a/read"}), frozenset({"b/read"}), frozenset({"c/read"}), frozenset({"d/read"})
    )

    assert plain(CustomRole("demo", STORE, a_workload(asker=asker), powers, frozenset({"/s"})).want(Known())) == {
        "id": "", "description": f"{begin} role for kube-system/cloud-credentials.", "scopes": ["/s"],
        "actions": ["a/read"], "not_actions": ["b/read"], "data_actions": ["c/read"], "not_data_actions": ["d/read"],
    }  # fmt: skip


def test_whoever_may_do_something_with_resources_or_with_data_has_power_and_nobody_else() -> None:
    some = frozenset({"a/read"})

    assert Powers(actions=some)
    assert Powers(data_actions=some)
    assert not NOTHING
    assert not Powers(not_actions=some, not_data_actions=some)


def test_an_identity_says_whom_it_believes_as_long_as_that_fits_a_tag() -> None:
    fits, longer = (f"https://issuer.example.org/{'a' * length}" for length in (256 - 27, 257 - 27))

    assert len(fits) == 256
    assert an_identity(fits).want(Known()).tags == {**TAGS, "cwii.dev/issuer": fits}
    assert an_identity(longer).want(Known()).tags == TAGS
    outside = an_identity(longer, outside=("one", "two")).want(Known())
    assert outside.tags == {**TAGS, "cwii.dev/scopes": "one", "cwii.dev/scopes1": "two"}
    assert (outside.region, an_identity().title) == ("eastus", "demo-x")


def test_a_right_is_lent_for_a_run_and_asked_for_last() -> None:
    lent = LentRole("demo", STORE, a_container())

    assert lent.late
    assert (
        lent.lends
        == "the right to write the documents, if who runs this has it not; it is given back at the end"
    )
    assert lent.want(Known()) == LentRoleState(lent=False) == LentRoleState()


def test_roles_are_given_as_asked_and_its_own_where_that_holds() -> None:
    known, who = Known(), an_identity()
    own = CustomRole("demo", STORE, a_workload(), NOTHING, frozenset())
    known.learn(who, replace(who.want(known), principal_id="P"))
    known.learn(
        own,
        replace(
            own.want(known),
            id="/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/G",
        ),
    )

    want = RoleAssignments(
        "demo-x", STORE, who, frozenset({Grant("/s", "R")}), own, frozenset({"/t"})
    ).want(known)

    assert {grant.scope for grant in want.grants} == {"/s", "/t"}
    assert (want.principal, want.preserve) == ("P", False)
    assert RoleAssignments("demo-x", STORE, who, frozenset(), preserve=True).want(known).preserve
    assert Assignment("i", Grant("/s", "R"), "P") == Assignment(
        "i", Grant("/s", "R"), "P", "", ("", "")
    )


def test_what_is_given_without_our_mark_beyond_what_is_asked_or_to_one_that_is_dead_is_drift() -> (
    None
):
    one, other = Grant("/s", "one"), Grant("/s", "other")
    want, given = (
        AssignmentsState(grants=frozenset({one}), principal="P"),
        RoleAssignments("x", STORE, an_identity(), frozenset()),
    )

    def drift(**changes: Any) -> tuple[Difference, ...]:
        return given.differing(want, replace(want, **changes))

    assert drift() == ()
    assert drift(principal="Q") == (Difference("principal", "Q", "P"),)
    assert drift(grants=frozenset({one, other})) == (
        Difference("grants", frozenset({one, other}), frozenset({one})),
    )
    assert drift(unmarked=frozenset({one, other})) == (
        Difference("mark", "no mark of ours", frozenset({one})),
    )
    assert (
        given.differing(replace(want, preserve=True), replace(want, grants=frozenset({one, other})))
        == ()
    )


# --- what is compared and shown ---


def test_of_what_is_found_these_are_no_drift_or_in_no_checksum() -> None:
    kinds = (
        custom_role,
        identity,
        known_region,
        lent_role,
        resource_group,
        role_assignments,
        standing_group,
        storage_account,
    )

    assert apart_of(*kinds) == {
        "CustomRoleState.id": "assigned",
        "IdentityState.region": "not compared",
        "IdentityState.tags": "part",
        "IdentityState.client_id": "assigned",
        "IdentityState.principal_id": "assigned",
        "IdentityState.tenant_id": "assigned",
        "IdentityState.titles": "aside",
        "KnownRegionState": "markless",
        "KnownRegionState.others": "bookkeeping",
        "LentRoleState": "markless",
        "ResourceGroupState.region": "not compared",
        "ResourceGroupState.tags": "part",
        "AssignmentsState": "markless",
        "AssignmentsState.preserve": "not compared",
        "AssignmentsState.unmarked": "bookkeeping",
        "AssignmentsState.found": "aside",
        "StandingGroupState": "markless",
        "StorageAccountState.id": "not compared",
        "StorageAccountState.region": "not compared",
        "StorageAccountState.network": "bookkeeping",
        "StorageAccountState.tags": "part",
        "ContainerState.stranger": "bookkeeping",
    }


def test_what_is_only_looked_at_is_worth_no_line() -> None:
    region, group = KnownRegion("eastus", STORE), StandingGroup("apps", STORE)

    assert (region.quiet, group.quiet, GROUP.quiet) == (True, True, False)
    assert (region.want(Known()), group.want(Known())) == (KnownRegionState(), StandingGroupState())


def test_what_the_user_lends_is_brought_and_written_to_with_nothing_but_our_mark() -> None:
    want, have = (
        ResourceGroupState(region="eastus", tags=TAGS),
        ResourceGroupState(region="westus", tags={"theirs": "x"}),
    )
    brought, owned = replace(want, owner=Mark("demo", "brought")), replace(want, owner=Mark("demo"))

    for made in (GROUP, an_account(), a_container()):
        assert not made.brought
        assert replace(made, named=True).brought
    assert (due(brought, have), due(brought, have).owner) == (have, brought.owner)
    assert (due(brought, None), due(owned, have), due(want, have)) == (brought, owned, want)


@pytest.mark.parametrize(
    ("owner", "theirs"),
    [
        (None, True),
        (Mark("other"), True),
        (Mark("demo", "brought"), True),
        (Mark("demo"), False),
        (Mark("demo", "adopted"), False),
    ],
)
def test_of_what_was_named_only_what_we_made_is_kept_as_wanted(
    owner: Mark | None, *, theirs: bool
) -> None:
    group = replace(GROUP, named=True)
    have = ResourceGroupState(region="westus", owner=owner)

    assert (group.differing(group.want(Known()), have) == ()) == theirs
    assert GROUP.differing(GROUP.want(Known()), have) != ()


# --- what is said where it cannot be ---


def account_state(**changes: Any) -> StorageAccountState:
    return replace(an_account().want(Known()), **changes)


ELSEWHERE = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/apps/providers/Microsoft.Storage/storageAccounts/demo"
ACCOUNT, CONTAINER = "azure/things/demo-oidc/demo", "azure/things/demo-oidc/demo/demo"
HIDING = "choose another --blob-container-name, or have Storage Blob Data Reader granted there"


@pytest.mark.parametrize(
    ("changes", "have", "kind", "problem", "remedy"),
    [
        (
            {}, {"id": ""}, Conflict, f"the name demo is taken in the world, and by no storage account that is seen in the subscription {SUBSCRIPTION}",
            "give the --subscription-id that it is in, if it is yours, or another name with --storage-account-name",
        ),
        ({}, {"id": ELSEWHERE}, Conflict, "demo is in the resource group apps", "give --oidc-resource-group-name apps, or another account"),
        (
            {"named": True}, {"public": False}, BadInput, f"{ACCOUNT} lets nobody read anonymously, and it is yours",
            f"allow anonymous access to its blobs, {HOSTED}",
        ),
        ({"named": True}, {"network": "Disabled"}, BadInput, f"{ACCOUNT} is closed to public networks, and it is yours", f"open it, {HOSTED}"),
    ],
)  # fmt: skip
def test_an_account_that_cannot_serve_the_issuer_is_refused_in_these_words(
    changes: dict[str, Any], have: dict[str, Any], kind: type, problem: str, remedy: str
) -> None:
    refusal = told(an_account(**changes), account_state(**have))

    assert (type(refusal), refusal.problem.lower(), refusal.remedy.lower()) == (
        kind,
        problem.lower(),
        remedy.lower(),
    )


def test_an_account_that_can_serve_the_issuer_is_not_refused() -> None:
    assert told(an_account(), None) is None
    assert told(an_account(named=True), account_state(public=None)) is None, (
        "as it is if that was never said"
    )
    assert told(an_account(), account_state(public=False, network="Disabled")) is None, (
        "it is made readable"
    )
    assert told(an_account(named=True, fronted=True), account_state(public=False)) is None


@pytest.mark.parametrize(
    ("changes", "have", "kind", "problem", "remedy"),
    [
        (
            {"named": True}, {"public": "None"}, BadInput, f"{CONTAINER} lets nobody read anonymously, and it is yours",
            f"give its blobs anonymous read access, {HOSTED}",
        ),
        ({}, {"stranger": HIDDEN}, Conflict, f"{CONTAINER} is there already, and who runs this may not see what it would publish", HIDING),
        (
            {}, {"stranger": "diary.txt"}, Conflict, f"{CONTAINER} holds diary.txt, which is not the issuer's",
            "choose another --blob-container-name, or move it first",
        ),
    ],
)  # fmt: skip
def test_a_container_that_cannot_serve_the_issuer_is_refused_in_these_words(
    changes: dict[str, Any], have: dict[str, Any], kind: type, problem: str, remedy: str
) -> None:
    refusal = told(a_container(**changes), ContainerState(**have))

    assert (type(refusal), refusal.problem, refusal.remedy) == (kind, problem, remedy)


def test_a_container_that_can_serve_the_issuer_is_not_refused() -> None:
    assert told(a_container(), None) is None
    assert told(a_container(), ContainerState(public="None")) is None, "it is opened"
    assert told(a_container(named=True), ContainerState(stranger="diary.txt")) is None
    assert (
        told(a_container(an_account(fronted=True), named=True), ContainerState(public="None"))
        is None
    )


def test_a_group_or_a_region_that_is_not_there_is_refused_in_these_words() -> None:
    group = told(StandingGroup("apps", STORE), None)
    there = told(KnownRegion("estus", STORE), KnownRegionState(others=("eastus", "westeurope")))

    assert (
        group.problem
        == "there is no resource group apps in the subscription, and a role is to hold in it"
    )
    assert group.remedy == "see that it is written right, or make it"
    assert told(StandingGroup("apps", STORE), StandingGroupState()) is None
    assert there.problem == "Azure has no region estus for the subscription"
    assert "--region eastus" in there.remedy
    assert told(KnownRegion("eastus", STORE), KnownRegionState()) is None
    assert told(KnownRegion("estus", STORE), KnownRegionState()) is None, (
        "who could not be asked has every region"
    )


@pytest.mark.parametrize(
    ("owner", "kind"),
    [
        (Mark("demo"), BadInput),
        (Mark("demo", "adopted"), BadInput),
        (Mark("other"), Conflict),
        (None, Conflict),
    ],
)
def test_what_is_in_another_region_than_was_asked_for_is_refused_in_these_words(
    owner: Mark | None, kind: type
) -> None:
    for thing in (an_account(), an_identity()):
        want: Any = thing.want(Known())
        refusal = told(thing, replace(want, region="westeurope", owner=owner))

        assert type(refusal) is kind
        assert refusal.problem == "what is there already is in westeurope, and does not move"
        assert refusal.remedy == "give --region westeurope, or another --name"
        assert told(thing, replace(want, owner=owner)) is None
        assert told(thing, None) is None


@pytest.mark.parametrize(
    ("owner", "refused"),
    [(None, False), (Mark("demo", "brought"), False), (Mark("other"), False), (Mark("demo"), True)],
)
def test_an_account_of_the_users_own_may_be_anywhere(owner: Mark | None, *, refused: bool) -> None:
    assert (
        told(an_account(named=True), account_state(region="westeurope", owner=owner)) is not None
    ) == refused


def test_a_group_may_be_anywhere() -> None:
    assert told(GROUP, ResourceGroupState(region="westeurope", owner=Mark("demo"))) is None
