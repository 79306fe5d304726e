"""Managed identities: resources that are principals too."""

from __future__ import annotations

import uuid

import pytest

from cwiictl.sandbox.azure.world import TENANT
from tests.cwiictl.sandbox.azure.manager import GROUP, IDENTITIES, WEST, Manager, error, heard, told

VERSION = "2024-11-30"


def test_an_identity_is_made_found_changed_and_deleted(manager: Manager) -> None:
    manager.group()
    assert (
        manager.ask(
            "PUT", f"{IDENTITIES}/one", {"location": WEST, "tags": {"a": "b"}}, VERSION
        ).status
        == 201
    )
    assert manager.ask("PUT", f"{IDENTITIES}/one", {"location": WEST}, VERSION).status == 200
    manager.identities.update("g", "one", {"tags": {"c": "d"}})
    found = manager.identities.get("G", "ONE")
    assert (found.name, found.tags, found.tenant_id) == ("one", {"c": "d"}, TENANT)
    assert len({uuid.UUID(found.client_id), uuid.UUID(found.principal_id)}) == 2
    assert manager.ask("DELETE", f"{IDENTITIES}/one", version=VERSION).status == 200
    assert manager.ask("DELETE", f"{IDENTITIES}/one", version=VERSION).status == 204
    words = "The Resource 'Microsoft.ManagedIdentity/userAssignedIdentities/one' under resource group 'g' was not found."
    status, code, sentence = heard(lambda: manager.identities.get("g", "one"))
    assert (status, code) == (404, "ResourceNotFound")
    assert sentence.startswith(words)


def test_an_identity_keeps_its_ids_and_its_place(manager: Manager) -> None:
    manager.group()
    first, second = manager.identity(), manager.identity(tags={"a": "b"})
    assert (first.client_id, first.principal_id) == (second.client_id, second.principal_id)
    words = (
        "The resource 'one' already exists in location 'westeurope' in resource group 'g'. A resource with the same name cannot be created in location"
        " 'eastus'. Please select a new resource name."
    )
    assert heard(lambda: manager.identity(location="eastus")) == (
        409,
        "InvalidResourceLocation",
        words,
    )


def test_its_id_spells_groups_in_its_own_way(manager: Manager) -> None:
    """Who compares ids letter by letter finds out here."""
    manager.group()
    found = manager.identity()
    assert found.id != f"{IDENTITIES}/one"
    assert found.id.lower() == f"{IDENTITIES}/one".lower()


@pytest.mark.parametrize(
    "name", ["ab", "-abc", "a.b.c", "x" * 129, "demo-windows-one", "Login-one"]
)
def test_names_that_are_none(manager: Manager, name: str) -> None:
    manager.group()
    assert error(manager.ask("PUT", f"{IDENTITIES}/{name}", {"location": WEST}, VERSION))[0] == 400


def test_lists_have_pages_of_a_hundred(manager: Manager) -> None:
    manager.group()
    manager.group("h")
    for number in range(101):
        manager.identity(f"i{number:03}")
    manager.identity("other", "h")
    pages = [
        [one.name for one in page] for page in manager.identities.list_by_subscription().by_page()
    ]
    assert [len(page) for page in pages] == [100, 2]
    assert pages[1] == ["i100", "other"]
    assert len(list(manager.identities.list_by_resource_group("h"))) == 1


def test_a_new_identity_of_an_old_name_is_somebody_else(manager: Manager) -> None:
    manager.group()
    before = manager.identity()
    manager.assign(GROUP, before.principal_id)
    manager.identities.delete("g", "one")
    after = manager.identity()
    assert before.principal_id != after.principal_id
    left = list(
        manager.assignments.list_for_scope(GROUP, filter=f"principalId eq '{before.principal_id}'")
    )
    assert len(left) == 1
    assert told(lambda: manager.assign(GROUP, before.principal_id, principalType=None)) == (
        400,
        "PrincipalNotFound",
    )
