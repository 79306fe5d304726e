"""What a cluster needs in Azure follows from what was asked, to the letter, and with no call to anybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import pytest

from cwiictl.clouds.azure import clearance, connect, plan, telling
from cwiictl.clouds.azure.permissions import COMMANDS, WRITE, Grant, least, making
from cwiictl.clouds.azure.resources.custom_role import Powers
from cwiictl.clouds.azure.resources.known_region import KnownRegion, KnownRegionState
from cwiictl.clouds.azure.spec import Ask, Role, Spec
from cwiictl.clouds.permissions import Permissions, PermissionsState
from cwiictl.engine.resource import Known, Mark, Plan, Resource
from cwiictl.errors import BadInput, Denied
from cwiictl.model import Cluster
from tests.contracts.shelf import Shelf, Thing, World
from tests.cwiictl.clouds.azure.planned import OWN, found, given, identity, things, wanted, whole
from tests.cwiictl.clouds.azure.told import SUBSCRIPTION, TENANT, a_group, a_spec, the_stores
from tests.examples import a_cluster, a_workload


def test_the_issuer_and_the_cluster_are_not_in_one_group() -> None:
    for told in (
        {"group": "demo"},
        {"installation": "Demo-oidc"},
        {"group": "x", "installation": "X"},
    ):
        with pytest.raises(BadInput, match="one resource group"):
            connect(a_spec(**told), a_cluster(), 1)


@pytest.mark.parametrize(
    "tags",
    [
        {"a/b": ""},
        {"a<b": ""},
        {"a" * 129: ""},
        {"Microsoft.x": ""},
        {"a": "x" * 257},
        {"a": "", "A": ""},
        {"name": "x"},
        {f"t{n}": "" for n in range(41)},
    ],
)
def test_tags_that_azure_does_not_take_are_refused_before_the_first_call(
    tags: dict[str, str],
) -> None:
    with pytest.raises(BadInput):
        connect(a_spec(), Cluster("demo", tags), 1)


def test_tags_that_azure_takes_are_taken() -> None:
    plan.judged(a_spec(), Cluster("demo", {"team": "payments, of course", "cost:center": "a/b"}))


def asked_about(things: Sequence[Resource[Any]]) -> list[Permissions]:
    return list(clearance.permitted(the_stores(), things))


def test_a_region_that_there_is_not_stands_against_a_run_whatever_is_there() -> None:
    things = whole(a_workload())
    (region,) = (thing for thing in things.values() if isinstance(thing, KnownRegion))
    seen = found((region, KnownRegionState(others=("eastus2", "westus"))))

    assert region.objection(Known()) is None
    for thing in things.values():
        problem = region.objection(seen)
        assert isinstance(problem, BadInput)
        assert (problem.problem, problem.remedy) == (
            "Azure has no region eastus for the subscription",
            "did you mean --region eastus2?",
        )
        if thing is not region:
            seen.learn(thing, KnownRegionState())


def test_the_region_is_asked_for_by_whoever_makes_only_a_part() -> None:
    for part in (whole(), Plan(things())):
        assert [thing.name for thing in part.values() if isinstance(thing, KnownRegion)] == [
            "eastus"
        ]


def test_of_what_is_in_another_region_nothing_is_said_where_there_is_none_of_the_name() -> None:
    who = identity()
    there = (who, replace(wanted(who), region="westus", owner=OWN))
    (region,) = who.group.places

    assert who.objection(found(there, (region, KnownRegionState(others=("westus",))))) is None
    for seen in (found(there), found(there, (region, KnownRegionState()))):
        assert isinstance(who.objection(seen), BadInput)


def test_a_lacking_permission_stands_against_a_run_only_if_something_is_missing() -> None:
    made = whole(a_workload(), asked=Ask((Role("Reader"),), Powers(frozenset({"*/read"}))))
    for asked in asked_about(tuple(made.values())):
        assert asked.objection(Known()) is None, (
            "who could not be asked lacks nothing until Azure says so"
        )
        seen = found(
            (asked, PermissionsState(lacking=("Microsoft.Storage/storageAccounts/write",)))
        )

        problem = asked.objection(seen)
        assert isinstance(problem, Denied)
        assert problem.problem.startswith(
            "somebody may not do Microsoft.Storage/storageAccounts/write"
        )
        for thing in asked.things:
            assert asked.objection(seen) is not None
            seen.learn(thing, PermissionsState())
        assert asked.objection(seen) is None
        assert asked.differing(PermissionsState(), PermissionsState(lacking=("x",))) == ()


def test_who_may_make_no_resource_group_is_stopped_only_where_one_is_missing() -> None:
    groups, rest = asked_about(tuple(whole(a_workload()).values()))

    assert {thing.name for thing in groups.things} == {"demo", "demo-oidc"}
    assert groups.address != rest.address
    assert not {thing.address for thing in groups.things} & {thing.address for thing in rest.things}
    (only,) = asked_about(groups.things)
    assert only == groups
    assert not tuple(clearance.permitted(the_stores(), ()))


def test_permissions_are_asked_where_things_are_made() -> None:
    grants: list[Grant] = []
    stores = the_stores()
    store: Any = Shelf(World(), "azure/permissions")

    def permissions(asked: tuple[Grant, ...]) -> Any:
        grants.extend(asked)
        return store

    made = whole(
        a_workload(),
        asked=Ask((Role("Reader"),), Powers(frozenset({"*/read"})), (a_group("vault"),)),
    )
    tuple(clearance.permitted(replace(stores, permissions=permissions), tuple(made.values())))

    scopes = {
        grant.actions[0].removeprefix("Microsoft.").rpartition("/")[0]: grant.scope
        for grant in grants
    }
    assert scopes == {
        "Resources/subscriptions/resourceGroups": f"/subscriptions/{SUBSCRIPTION}",
        "Storage/storageAccounts": a_group("demo-oidc"),
        "Storage/storageAccounts/blobServices/containers": a_group("demo-oidc"),
        "ManagedIdentity/userAssignedIdentities": a_group("demo-oidc"),
        "Authorization/roleDefinitions": f"/subscriptions/{SUBSCRIPTION}",
        "Authorization/roleAssignments": a_group("vault"),
    }


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_least_policy_is_a_role_as_az_takes_it(command: str) -> None:
    role = least(command, a_spec(), a_cluster())

    assert role["IsCustom"] is True
    assert role["AssignableScopes"] == [f"/subscriptions/{SUBSCRIPTION}"]
    assert "Microsoft.ManagedIdentity/userAssignedIdentities/read" in role["Actions"]
    assert not any(action.endswith("*") for action in role["Actions"] + role["DataActions"])
    assert any(action.endswith("/delete") for action in role["DataActions"]) == (
        command == "delete"
    )


def test_who_has_the_least_policy_lacks_nothing() -> None:
    lacking = {
        action for kind in WRITE for grant in making({kind: ("/",)}) for action in grant.actions
    }

    assert lacking <= set(least("create", a_spec(), a_cluster())["Actions"])


class Marked(Shelf):
    """It holds what it is told to hold."""

    def owned(self, cluster: str, /) -> dict[str, Mark]:
        return {
            "demo-oidc": Mark(cluster),
            "demo": Mark(cluster),
            "full": Mark(cluster),
            "theirs": Mark(cluster, "brought"),
        }

    def vacant(self, group: str, /) -> bool:
        return group == "demo"


def test_a_group_of_ours_goes_only_if_it_was_asked_for_and_one_of_the_users_is_let_go() -> None:
    shelf: Any = Marked(World(), "azure/groups", bulk=False)
    for doomed in ("", "demo-oidc"):
        groups = plan.walk(replace(the_stores(doomed=doomed), groups=shelf)).around[0]

        assert groups.owned("demo").keys() == {"theirs", *([doomed, "demo"] if doomed else [])}
        assert (groups.kind, groups.bulk, groups.patience) == (
            shelf.kind,
            shelf.bulk,
            shelf.patience,
        )


def test_a_group_that_is_taken_down_is_looked_at_let_go_and_dropped_where_it_is() -> None:
    shelf: Any = Shelf(World(), "azure/groups")
    groups = plan.walk(replace(the_stores(doomed="demo-oidc"), groups=shelf)).around[0]
    state: Any = Thing(value="x", owner=OWN)
    groups.put("demo-oidc", state, None)

    assert groups.get(["demo-oidc"]) == shelf.get(["demo-oidc"])
    assert groups.get(["demo-oidc"])["demo-oidc"].owner == OWN
    groups.drop("demo-oidc")
    assert not shelf.get(["demo-oidc"])


def test_things_are_taken_down_from_last_made_to_first() -> None:
    stores = the_stores()
    walk = plan.walk(stores)

    assert [store.kind.partition("/")[2] for store in (*walk.around, *walk.hosting)] == [
        "groups",
        "accounts",
        "containers",
        "issuers",
    ]
    assert [store.kind.partition("/")[2] for store in walk.lent] == ["documents", "key_sets"]
    assert [store.kind.partition("/")[2] for store in (*walk.trusting, *walk.using)] == [
        "identities",
        "custom_roles",
        "assignments",
        "lent_roles",
    ]


def test_bindings_are_for_the_identities_that_are_there() -> None:
    there, failed = identity(name="there", token_path="/token"), identity(name="failed")
    state = replace(wanted(there), client_id="c", tenant_id=TENANT)

    (binding,) = telling.bindings([there, failed, given()], found((there, state)))

    assert binding.workload.name == "there"
    assert binding.data == {
        "azure_client_id": "c",
        "azure_tenant_id": TENANT,
        "azure_region": "eastus",
        "azure_subscription_id": SUBSCRIPTION,
        "azure_federated_token_file": "/token",
    }
    assert not {key for key in binding.annotations if key.startswith("azure.")}, (
        "tokens of a request are for another than azwi asks for"
    )
    assert binding.labels == {}


@pytest.mark.parametrize(
    ("world", "more"),
    [
        ("", {}),
        (
            "AzureUSGovernmentCloud",
            {"cwii.dev/az-authority-host": "https://login.microsoftonline.us/"},
        ),
    ],
)
def test_a_service_account_is_told_in_our_words_and_in_azures(
    world: str, more: dict[str, str]
) -> None:
    there = identity(world=world, asker="webhook")

    (binding,) = telling.bindings(
        [there], found((there, replace(wanted(there), client_id="c", tenant_id="t")))
    )

    assert binding.annotations == {
        "cwii.dev/az-inject": "true",
        "cwii.dev/az-client-id": "c",
        "cwii.dev/az-tenant-id": "t",
        "cwii.dev/az-audience": f"api://AzureADTokenExchange{'USGov' if world else ''}",
        "azure.workload.identity/client-id": "c",
        "azure.workload.identity/tenant-id": "t",
        **more,
    }


def test_a_cloud_has_all_that_is_asked_of_one() -> None:
    from cwiictl.clouds import aws, azure  # noqa: PLC0415 - side by side

    assert azure.__all__ == aws.__all__
    assert all(hasattr(azure, name) for name in azure.__all__)
    assert {f.name for f in fields(Spec) if "option" not in f.metadata} == set()


def test_a_group_that_a_role_holds_in_and_that_is_not_there_is_found_before_the_first_write() -> (
    None
):
    (asked,) = given(asked=Ask((Role("reader"),), scopes=(a_group("valt"),))).groups

    problem = asked.objection(Known())

    assert isinstance(problem, BadInput)
    assert "no resource group valt" in problem.problem
