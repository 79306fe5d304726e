"""Role definitions and assignments: who may do what, where, and from when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cwiictl.sandbox.azure.world import OPERATOR, PERSON, SECOND, TENANT
from tests.cwiictl.sandbox.azure.manager import (
    GROUP,
    HERE,
    READER,
    Manager,
    definition,
    heard,
    told,
)
from tests.cwiictl.sandbox.azure.tenant import Tenant
from tests.cwiictl.sandbox.front import Clock

Begin = Callable[..., Tenant]
NAME = "6f412028-f32b-538a-b69c-7bdf8e5d78f5"
OTHER = "7f412028-f32b-538a-b69c-7bdf8e5d78f5"
NOBODY = "eeeeeeee-0000-4000-8000-000000000001"
BLOBS = "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1"


@pytest.fixture
def ready(manager: Manager) -> Manager:
    manager.group()
    return manager


def names(manager: Manager, scope: str, wanted: str = "") -> list[str]:
    return [
        one.name
        for one in manager.assignments.list_for_scope(scope, filter=wanted or None)
        if one.principal_id != OPERATOR
    ]


def test_azures_own_roles_are_found_by_name_and_have_their_guids(manager: Manager) -> None:
    def guid(name: str) -> list[str]:
        return [one.name for one in manager.definitions.list(HERE, filter=f"roleName eq '{name}'")]

    assert guid("Storage Blob Data Contributor") == ["ba92f5b4-2d11-453d-a403-e96b0029c9fe"]
    assert guid("dns zone contributor") == ["befefa01-2a29-4197-83a8-272ff33ce314"]
    assert guid("No Such Role") == []
    found = manager.definitions.get(HERE, READER)
    assert (found.id, found.role_name, found.role_type) == (
        definition(READER),
        "Reader",
        "BuiltInRole",
    )


def test_everybody_may_read_what_azures_own_roles_are(begin: Begin) -> None:
    tenant = begin()
    bearer = {
        "Authorization": f"Bearer {tenant.tokens.issue(NOBODY, NOBODY, 'https://management.azure.com', TENANT)}"
    }
    path = "/providers/Microsoft.Authorization/roleDefinitions"

    def asked(path: str) -> int:
        return tenant.ask(
            "GET", f"https://management.azure.com{path}?api-version=2022-04-01", bearer
        ).status

    assert [asked(path), asked(f"{path}/{READER}"), asked(f"{HERE}{path}")] == [200, 200, 404]


def test_a_custom_role_is_made_changed_listed_and_deleted(ready: Manager) -> None:
    made = ready.define(
        "cwii one",
        NAME,
        actions=["Microsoft.Network/*/read"],
        dataActions=["Microsoft.Storage/*/read"],
    )
    assert (made.name, made.role_type, made.permissions[0].data_actions) == (
        NAME,
        "CustomRole",
        ["Microsoft.Storage/*/read"],
    )
    ready.define("cwii two", NAME)
    found = ready.definitions.get_by_id(definition(NAME))
    assert (found.role_name, found.permissions[0].actions, found.created_on) == (
        "cwii two",
        ["*/read"],
        made.created_on,
    )
    assert [
        one.role_name for one in ready.definitions.list(GROUP, filter="type eq 'CustomRole'")
    ] == ["cwii two"]
    assert ready.definitions.delete(HERE, NAME).name == NAME
    assert ready.definitions.delete(HERE, NAME) is None
    assert told(lambda: ready.definitions.get(HERE, NAME)) == (404, "RoleDefinitionDoesNotExist")


def test_no_two_roles_have_one_name(ready: Manager) -> None:
    ready.define("cwii one", NAME)
    assert told(lambda: ready.define("CWII one", OTHER)) == (
        409,
        "RoleDefinitionWithSameNameExists",
    )
    assert told(lambda: ready.define("Reader", OTHER)) == (409, "RoleDefinitionWithSameNameExists")


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"scopes": ()}, "RoleDefinitionMissingAssignableScopes"),
        (
            {"scopes": ("/subscriptions/99999999-9999-4999-8999-999999999999",)},
            "LinkedAuthorizationFailed",
        ),
        ({"actions": ["Nonsense"]}, "InvalidActionOrNotAction"),
        ({"notActions": ["*/read"]}, "RoleDefinitionMissingPermissions"),
        ({"guid": "cwii"}, "InvalidRoleDefinitionId"),
    ],
)
def test_what_is_no_role(ready: Manager, more: dict[str, Any], code: str) -> None:
    assert told(lambda: ready.define("cwii one", **more))[1] == code


def test_azures_own_roles_cannot_be_changed(ready: Manager) -> None:
    assert told(lambda: ready.define("mine", READER))[0] == 400
    assert told(lambda: ready.definitions.delete(HERE, READER))[0] == 400


def test_a_role_that_somebody_has_is_not_deleted(ready: Manager) -> None:
    ready.define("cwii one", NAME)
    made = ready.assign(GROUP, NOBODY, NAME)
    assert told(lambda: ready.definitions.delete(HERE, NAME)) == (
        400,
        "RoleDefinitionHasAssignments",
    )
    ready.assignments.delete_by_id(made.id)
    assert ready.definitions.delete(HERE, NAME).name == NAME


def test_a_custom_role_is_assigned_only_where_it_may_be(ready: Manager) -> None:
    ready.group("h")
    ready.define("cwii one", NAME, scopes=(GROUP,))
    assert ready.assign(GROUP, NOBODY, NAME).principal_id == NOBODY
    assert told(lambda: ready.assign(f"{HERE}/resourceGroups/h", NOBODY, NAME)) == (
        400,
        "RoleDefinitionDoesNotExist",
    )


def test_an_assignment_is_made_found_changed_and_deleted(ready: Manager) -> None:
    made = ready.assign(GROUP, NOBODY, name=NAME, description="why")
    assert (made.id, made.scope, made.role_definition_id) == (
        f"{GROUP}/providers/Microsoft.Authorization/roleAssignments/{NAME}",
        GROUP,
        definition(READER),
    )
    assert (made.principal_id, made.principal_type, made.description, made.created_by) == (
        NOBODY,
        "ServicePrincipal",
        "why",
        OPERATOR,
    )
    again = ready.assign(GROUP, NOBODY, name=NAME, description="because")
    assert (again.description, again.created_on) == ("because", made.created_on)
    assert ready.assignments.get_by_id(made.id).description == "because"
    assert ready.assignments.delete(GROUP, NAME).name == NAME
    assert ready.assignments.delete(GROUP, NAME) is None
    assert told(lambda: ready.assignments.get(GROUP, NAME)) == (404, "RoleAssignmentNotFound")


def test_scope_role_and_principal_together_are_one(ready: Manager) -> None:
    ready.assign(GROUP, NOBODY, name=NAME)
    words = f"The role assignment already exists. The ID of the existing role assignment is {NAME.replace('-', '')}."
    assert heard(
        lambda: ready.assign(
            GROUP.upper().replace("SUBSCRIPTIONS", "subscriptions"), NOBODY, name=OTHER
        )
    ) == (409, "RoleAssignmentExists", words)
    assert ready.assign(HERE, NOBODY, name=OTHER).scope == HERE
    ready.assign(GROUP, NOBODY, BLOBS)


def test_a_subscription_takes_four_thousand(ready: Manager) -> None:
    ready.tenant.sandbox.crowd(3998, "AzureCloud")
    ready.assign(GROUP, NOBODY)
    assert told(lambda: ready.assign(HERE, NOBODY)) == (400, "RoleAssignmentLimitExceeded")


@pytest.mark.parametrize(
    "change", [{"principal": PERSON, "principalType": "User"}, {"role": BLOBS}, {"scope": HERE}]
)
def test_an_assignment_never_becomes_another(ready: Manager, change: dict[str, str]) -> None:
    ready.assign(GROUP, NOBODY, name=NAME)
    words = "Tenant ID, application ID, principal ID, and scope are not allowed to be updated."
    same = {"scope": GROUP, "principal": NOBODY, "name": NAME}
    assert heard(lambda: ready.assign(**{**same, **change})) == (
        400,
        "RoleAssignmentUpdateNotPermitted",
        words,
    )


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"principal": "nobody"}, "InvalidPrincipalId"),
        ({"principalType": None}, "PrincipalNotFound"),
        ({"principalType": "Robot"}, "InvalidPrincipalType"),
        ({"principal": PERSON}, "UnmatchedPrincipalType"),
        ({"role": OTHER}, "RoleDefinitionDoesNotExist"),
        ({"name": "mine"}, "InvalidRoleAssignmentId"),
    ],
)
def test_what_is_no_assignment(ready: Manager, more: dict[str, Any], code: str) -> None:
    assert told(lambda: ready.assign(**{"scope": GROUP, "principal": NOBODY, **more})) == (
        400,
        code,
    )


def test_an_assignment_is_on_something_that_is_there(ready: Manager) -> None:
    zone = f"{GROUP}/providers/Microsoft.Network/dnsZones/example.org"
    assert told(lambda: ready.assign(f"{HERE}/resourceGroups/none", NOBODY)) == (
        404,
        "ResourceGroupNotFound",
    )
    assert told(lambda: ready.assign(zone, NOBODY)) == (404, "ResourceNotFound")
    ready.ask("PUT", zone, {"location": "global"}, "2018-05-01")
    assert ready.assign(zone, NOBODY).scope == zone
    vault = f"{GROUP}/providers/Microsoft.KeyVault/vaults/v"
    assert ready.assign(vault, NOBODY).scope == vault
    assert (
        Manager(ready.tenant, SECOND).assign(f"/subscriptions/{SECOND}", NOBODY).scope
        == f"/subscriptions/{SECOND}"
    )


def test_a_list_has_what_is_above_and_below_unless_it_is_told_not_to(ready: Manager) -> None:
    ready.identity()
    identity = f"{GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/one"
    above, there, below = (ready.assign(scope, NOBODY).name for scope in (HERE, GROUP, identity))
    other = ready.assign(GROUP, PERSON, principalType="User").name
    assert set(names(ready, GROUP)) == {above, there, below, other}
    assert set(names(ready, GROUP, "atScope()")) == {above, there, other}
    assert set(names(ready, GROUP, f"principalId eq '{NOBODY}'")) == {above, there, below}
    assert set(names(ready, GROUP, f"atScope() and assignedTo('{PERSON}')")) == {other}
    assert told(lambda: ready.assignments.list_for_scope(GROUP, filter="atScope() or x")) == (
        400,
        "InvalidFilterInQueryString",
    )


def test_a_new_principal_is_known_late_unless_one_says_what_it_is(begin: Begin) -> None:
    clock = Clock()
    manager = Manager(begin(clock=clock, lag=10.0))
    manager.group()
    one = manager.identity()
    status, code, words = heard(lambda: manager.assign(GROUP, one.principal_id, principalType=None))
    assert (status, code) == (400, "PrincipalNotFound")
    assert words.startswith(
        f"Principal {one.principal_id.replace('-', '')} does not exist in the directory {TENANT}."
    )
    manager.assign(GROUP, one.principal_id)
    clock.now += 10
    assert (
        manager.assign(HERE, one.principal_id, principalType=None).principal_type
        == "ServicePrincipal"
    )


def test_what_is_new_is_listed_late_and_found_by_its_id_at_once(begin: Begin) -> None:
    clock = Clock()
    manager = Manager(begin(clock=clock, lag=10.0))
    manager.group()
    manager.define("cwii one", NAME)
    made = manager.assign(GROUP, NOBODY)
    custom = "type eq 'CustomRole'"
    assert (names(manager, GROUP), list(manager.definitions.list(HERE, filter=custom))) == ([], [])
    assert told(lambda: manager.assign(GROUP, NOBODY, NAME)) == (400, "RoleDefinitionDoesNotExist")
    assert manager.assignments.get_by_id(made.id).name == made.name
    assert manager.definitions.get(HERE, NAME).role_name == "cwii one"
    clock.now += 10
    assert (names(manager, GROUP), len(list(manager.definitions.list(HERE, filter=custom)))) == (
        [made.name],
        1,
    )
    manager.assign(GROUP, NOBODY, NAME)


def test_what_was_deleted_is_seen_for_a_while(begin: Begin) -> None:
    clock = Clock()
    manager = Manager(begin(clock=clock, lag=10.0))
    manager.group()
    manager.define("cwii one", NAME)
    clock.now += 10
    made = manager.assign(GROUP, NOBODY, NAME)
    clock.now += 10
    manager.assignments.delete_by_id(made.id)
    assert names(manager, GROUP) == [made.name]
    assert told(lambda: manager.definitions.delete(HERE, NAME)) == (
        400,
        "RoleDefinitionHasAssignments",
    )
    clock.now += 10
    assert names(manager, GROUP) == []
    assert manager.definitions.delete(HERE, NAME).name == NAME


def test_a_workload_may_do_what_its_roles_say_where_they_say(begin: Begin) -> None:
    """With a token of its own, and not before the assignment has arrived."""
    clock = Clock()
    tenant = begin(clock=clock, lag=10.0, deploy=0)
    manager = Manager(tenant)
    manager.group()
    manager.group("h")
    one = manager.identity()
    bearer = {
        "Authorization": f"Bearer {tenant.tokens.issue(one.principal_id, one.client_id, 'https://management.azure.com', TENANT)}"
    }

    def asked(method: str, path: str) -> int:
        body = b'{"location": "westeurope"}' if method == "PUT" else b""
        return tenant.ask(
            method, f"https://management.azure.com{path}?api-version=2022-09-01", bearer, body
        ).status

    assert asked("GET", GROUP) == 404
    manager.assign(GROUP, one.principal_id)
    assert asked("GET", GROUP) == 404
    clock.now += 10
    assert [
        asked("GET", GROUP),
        asked("PUT", GROUP),
        asked("GET", f"{HERE}/resourceGroups/h"),
        asked("GET", HERE),
    ] == [200, 403, 403, 200]
