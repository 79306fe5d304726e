"""Resource groups: where they are, how they go, and what goes with them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.cwiictl.sandbox.azure.manager import GROUP, HERE, IDENTITIES, Manager, error, heard, told
from tests.cwiictl.sandbox.azure.tenant import Tenant
from tests.cwiictl.sandbox.front import Clock

Begin = Callable[..., Tenant]


def test_a_group_is_made_found_changed_and_listed(manager: Manager) -> None:
    assert manager.ask("PUT", GROUP, {"location": "West Europe", "tags": {"a": "b"}}).status == 201
    assert manager.ask("PUT", GROUP, {"location": "westeurope"}).status == 200
    assert manager.groups.check_existence("G")
    assert not manager.groups.check_existence("h")
    manager.groups.update("g", {"tags": {"c": "d"}})
    found = manager.groups.get("g")
    assert (found.id, found.location, found.tags, found.properties.provisioning_state) == (
        GROUP,
        "westeurope",
        {"c": "d"},
        "Succeeded",
    )
    assert [one.name for one in manager.groups.list()] == ["g"]


def test_a_group_stays_where_it_is(manager: Manager) -> None:
    manager.group()
    words = "Invalid resource group location 'eastus'. The Resource group already exists in location 'westeurope'."
    assert heard(lambda: manager.group(location="eastus")) == (
        409,
        "InvalidResourceGroupLocation",
        words,
    )


def test_what_is_not_there_has_its_own_code(manager: Manager) -> None:
    assert heard(lambda: manager.groups.get("g")) == (
        404,
        "ResourceGroupNotFound",
        "Resource group 'g' could not be found.",
    )
    assert told(lambda: manager.groups.begin_delete("g")) == (404, "ResourceGroupNotFound")
    assert told(manager.identity) == (404, "ResourceGroupNotFound")


@pytest.mark.parametrize("body", [{}, {"location": ""}])
def test_a_group_is_somewhere(manager: Manager, body: object) -> None:
    assert error(manager.ask("PUT", GROUP, body))[:2] == (400, "LocationRequired")


@pytest.mark.parametrize("name", ["ends.", "a b", "x" * 91])
def test_names_that_are_none(manager: Manager, name: str) -> None:
    assert (
        error(
            manager.ask(
                "PUT",
                f"{HERE}/resourceGroups/{name.replace(' ', '%20')}",
                {"location": "westeurope"},
            )
        )[0]
        == 400
    )


@pytest.mark.parametrize(
    ("tags", "code"),
    [
        ({f"k{number}": "v" for number in range(51)}, "TooManyTags"),
        ({"k" * 513: "v"}, "InvalidTagNameLength"),
        ({"k": "v" * 257}, "InvalidTagValueLength"),
        ({"a/b": "v"}, "InvalidTagNameCharacters"),
        ({"k": 1}, "InvalidRequestContent"),
    ],
)
def test_tags_that_are_too_many_or_too_long(manager: Manager, tags: object, code: str) -> None:
    assert error(manager.ask("PUT", GROUP, {"location": "westeurope", "tags": tags}))[:2] == (
        400,
        code,
    )


def test_groups_are_filtered_by_their_tags(manager: Manager) -> None:
    manager.group("one", tags={"owner": "cwii"})
    manager.group("two", tags={"owner": "others"})
    assert [
        one.name for one in manager.groups.list(filter="tagName eq 'owner' and tagValue eq 'cwii'")
    ] == ["one"]
    assert told(lambda: manager.groups.list(filter="colour eq 'blue'")) == (
        400,
        "InvalidFilterInQueryString",
    )


def test_lists_have_pages(manager: Manager) -> None:
    for number in range(5):
        manager.group(f"g{number}")
    pages = [[one.name for one in page] for page in manager.groups.list(top=2).by_page()]
    assert pages == [["g0", "g1"], ["g2", "g3"], ["g4"]]


def test_a_deletion_takes_its_time_and_says_where_to_ask(begin: Begin) -> None:
    clock = Clock()
    manager = Manager(begin(clock=clock, deploy=30.0))
    manager.group()
    answer = manager.ask("DELETE", GROUP)
    assert (answer.status, answer.headers["retry-after"]) == (202, "15")
    where = (
        answer.headers["location"]
        .removeprefix("https://management.azure.com")
        .replace("?api-version=2022-09-01", "")
    )
    assert manager.ask("GET", where).status == 202
    assert manager.groups.get("g").properties.provisioning_state == "Deleting"
    assert told(manager.identity) == (409, "ResourceGroupBeingDeleted")
    clock.now += 30
    assert manager.ask("GET", where).status == 200
    assert not manager.groups.check_existence("g")
    assert manager.ask("PUT", GROUP, {"location": "eastus"}).status == 201


def test_what_is_in_a_group_goes_with_it(begin: Begin) -> None:
    manager = Manager(begin(deploy=0))
    manager.group()
    manager.group("kept")
    identity = manager.identity()
    manager.account()
    stays = manager.assign(f"{HERE}/resourceGroups/kept", identity.principal_id)
    manager.assign(GROUP, identity.principal_id)
    manager.groups.begin_delete("g").result()
    assert list(manager.identities.list_by_subscription()) == []
    assert list(manager.storage.storage_accounts.list()) == []
    left = [
        one.id
        for one in manager.assignments.list_for_subscription(
            filter=f"principalId eq '{identity.principal_id}'"
        )
    ]
    assert left == [stays.id]


def test_all_things_of_a_group_are_listed_by_type_and_tag(begin: Begin) -> None:
    manager = Manager(begin(deploy=0))
    manager.group()
    manager.identity(tags={"owner": "cwii"})
    manager.account()
    zone = f"{GROUP}/providers/Microsoft.Network/dnsZones/example.org"
    manager.ask("PUT", zone, {"location": "global", "properties": {}}, "2018-05-01")
    assert [one.type for one in manager.resources.resources.list_by_resource_group("g")] == [
        "Microsoft.ManagedIdentity/userAssignedIdentities",
        "Microsoft.Network/dnsZones",
        "Microsoft.Storage/storageAccounts",
    ]
    chosen = manager.resources.resources.list(filter="tagName eq 'owner' and tagValue eq 'cwii'")
    assert [one.name for one in chosen] == ["one"]
    kind = "resourceType eq 'Microsoft.Network/dnsZones'"
    assert [one.name for one in manager.resources.resources.list(filter=kind)] == ["example.org"]
    assert json.loads(manager.ask("GET", zone, version="2018-05-01").body)["location"] == "global"


def test_tags_can_be_set_by_themselves(manager: Manager) -> None:
    manager.group(tags={"a": "b"})
    manager.identity(tags={"c": "d"})
    path = f"{GROUP}/providers/Microsoft.Resources/tags/default"

    def patched(operation: str, **tags: str) -> Any:
        answer = manager.ask(
            "PATCH", path, {"operation": operation, "properties": {"tags": tags}}, "2021-04-01"
        )
        return json.loads(answer.body)["properties"]["tags"]

    assert patched("Merge", e="f") == {"a": "b", "e": "f"}
    assert patched("Delete", a="b") == {"e": "f"}
    assert patched("Replace", g="h") == manager.groups.get("g").tags == {"g": "h"}
    own = manager.ask(
        "GET", f"{IDENTITIES}/one/providers/Microsoft.Resources/tags/default", version="2021-04-01"
    )
    assert json.loads(own.body)["properties"]["tags"] == {"c": "d"}
    assert error(manager.ask("PATCH", path, {"operation": "Shuffle"}, "2021-04-01"))[:2] == (
        400,
        "InvalidTagsPatchOperation",
    )


def test_others_may_be_there_in_numbers(manager: Manager) -> None:
    manager.tenant.sandbox.crowd(150, "AzureCloud")
    manager.tenant.sandbox.crowd(50, "AzureCloud")
    assert len({one.name for one in manager.identities.list_by_subscription()}) == 200
    assert len(list(manager.assignments.list_for_subscription())) == 201
    assert [one.name for one in manager.groups.list()] == ["strangers"]
