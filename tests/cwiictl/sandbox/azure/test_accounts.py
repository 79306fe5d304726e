"""Storage accounts and containers, as ARM has them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

from cwiictl.sandbox.azure.world import SECOND
from tests.cwiictl.sandbox.azure.manager import ACCOUNTS, WEST, Manager, error, heard, told
from tests.cwiictl.sandbox.azure.tenant import Tenant
from tests.cwiictl.sandbox.front import Clock

Begin = Callable[..., Tenant]
VERSION = "2023-05-01"
WANTED: dict[str, Any] = {"location": WEST, "sku": {"name": "Standard_LRS"}, "kind": "StorageV2"}
PATH = f"{ACCOUNTS}/cwiioidc"


@pytest.fixture
def ready(manager: Manager) -> Manager:
    manager.group()
    return manager


def put(manager: Manager, path: str = PATH, **changes: Any) -> Any:
    return manager.ask("PUT", path, {**WANTED, **changes}, VERSION)


def contain(manager: Manager, name: str = "oidc", **properties: Any) -> Any:
    return manager.storage.blob_containers.create("g", "cwiioidc", name, {"properties": properties})


def test_an_account_is_made_in_the_background(begin: Begin) -> None:
    clock = Clock()
    manager = Manager(begin(clock=clock, deploy=5.0))
    manager.group()
    answer = put(manager)
    assert (answer.status, answer.headers["retry-after"], answer.body) == (202, "5", b"")
    where = (
        answer.headers["location"].removeprefix("https://management.azure.com").partition("?")[0]
    )
    assert manager.ask("GET", where, version=VERSION).status == 202
    assert (
        manager.storage.storage_accounts.get_properties(
            "g", "cwiioidc"
        ).properties.provisioning_state
        == "Creating"
    )
    clock.now += 5
    made = json.loads(manager.ask("GET", where, version=VERSION).body)
    assert (made["name"], made["properties"]["provisioningState"]) == ("cwiioidc", "Succeeded")
    assert put(manager).status == 200
    assert manager.ask("GET", f"{where}x", version=VERSION).status == 404


def test_what_is_set_is_kept_and_what_is_not_has_its_default(ready: Manager) -> None:
    ready.account(minimumTlsVersion="TLS1_2", allowSharedKeyAccess=False)
    found = ready.storage.storage_accounts.update(
        "g", "cwiioidc", {"tags": {"a": "b"}, "properties": {"allowBlobPublicAccess": True}}
    )
    own = found.properties
    assert (
        own.minimum_tls_version,
        own.allow_shared_key_access,
        own.allow_blob_public_access,
        own.enable_https_traffic_only,
    ) == ("TLS1_2", False, True, True)
    assert (found.tags, found.kind, found.sku.name) == ({"a": "b"}, "StorageV2", "Standard_LRS")
    assert (own.public_network_access, own.network_rule_set.default_action) == ("Enabled", "Allow")
    assert own.primary_endpoints.blob == "https://cwiioidc.blob.core.windows.net/"


def test_anonymous_reading_is_off_unless_it_is_asked_for(ready: Manager) -> None:
    assert ready.account().properties.allow_blob_public_access is False


@pytest.mark.parametrize("name", ["azure", "ourwindows", "loginhere", "xbox"])
def test_words_that_azure_keeps_for_itself_are_in_no_name(ready: Manager, name: str) -> None:
    assert error(put(ready, f"{ACCOUNTS}/{name}"))[:2] == (400, "ReservedResourceName")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"sku": None}, "InvalidValuesForRequestParameters"),
        ({"kind": "Barrel"}, "InvalidValuesForRequestParameters"),
        ({"location": None}, "LocationRequired"),
        ({"properties": {"minimumTlsVersion": "SSL3"}}, "InvalidValuesForRequestParameters"),
        ({"properties": {"allowBlobPublicAccess": "yes"}}, "InvalidValuesForRequestParameters"),
        ({"tags": {"k" * 129: "v"}}, "InvalidTagNameLength"),
        ({"tags": {"Azure-costs": "v"}}, "InvalidTagName"),
    ],
)
def test_what_is_no_account(ready: Manager, changes: dict[str, Any], code: str) -> None:
    assert error(put(ready, **changes))[:2] == (400, code)


@pytest.mark.parametrize("name", ["ab", "Cwii", "cwii-oidc", "x" * 25])
def test_names_that_are_none(ready: Manager, name: str) -> None:
    words = (
        f"{name} is not a valid storage account name. Storage account name must be between 3 and 24 characters in length and use numbers and lower-case letters"
        " only."
    )
    assert error(put(ready, f"{ACCOUNTS}/{name}")) == (400, "AccountNameInvalid", words)


def test_names_are_the_worlds(begin: Begin) -> None:
    manager = Manager(begin(deploy=0, strangers=frozenset({"theirs"})))
    manager.group()
    manager.group("h")
    manager.account()
    assert heard(lambda: manager.account("theirs")) == (
        409,
        "StorageAccountAlreadyTaken",
        "The storage account named theirs is already taken.",
    )
    assert told(lambda: manager.account(group="h")) == (409, "StorageAccountInAnotherResourceGroup")
    second = Manager(manager.tenant, SECOND)
    second.group()
    assert told(second.account) == (409, "StorageAccountAlreadyTaken")
    assert told(lambda: manager.storage.storage_accounts.get_properties("g", "theirs")) == (
        404,
        "ResourceNotFound",
    )


def test_one_can_ask_for_a_name_first(begin: Begin) -> None:
    manager = Manager(begin(deploy=0, strangers=frozenset({"theirs"})))

    def asked(name: str) -> tuple[bool, str | None]:
        found = manager.storage.storage_accounts.check_name_availability(
            {"name": name, "type": "Microsoft.Storage/storageAccounts"}
        )
        return found.name_available, found.reason

    assert [asked(name) for name in ("cwiioidc", "theirs", "A")] == [
        (True, None),
        (False, "AlreadyExists"),
        (False, "AccountNameInvalid"),
    ]


def test_an_account_stays_where_it_is(ready: Manager) -> None:
    ready.account()
    assert told(lambda: ready.account(location="eastus")) == (409, "InvalidResourceLocation")


def test_an_account_that_is_gone_is_gone_for_everybody(ready: Manager) -> None:
    scope = ready.account().id
    ready.assign(scope, "eeeeeeee-0000-4000-8000-000000000001")
    assert [one.name for one in ready.storage.storage_accounts.list()] == ["cwiioidc"]
    assert ready.ask("DELETE", PATH, version=VERSION).status == 200
    assert ready.ask("DELETE", PATH, version=VERSION).status == 204
    assert list(ready.storage.storage_accounts.list_by_resource_group("g")) == []
    assert (
        list(
            ready.assignments.list_for_subscription(
                filter="principalId eq 'eeeeeeee-0000-4000-8000-000000000001'"
            )
        )
        == []
    )


def test_keys_are_two_and_can_be_made_new(ready: Manager) -> None:
    ready.account()
    first = [
        one.value for one in ready.storage.storage_accounts.list_keys("g", "cwiioidc").keys_property
    ]
    assert [len(base64.b64decode(one)) for one in first] == [64, 64]
    second = [
        one.value
        for one in ready.storage.storage_accounts.regenerate_key(
            "g", "cwiioidc", {"keyName": "key2"}
        ).keys_property
    ]
    assert second[0] == first[0]
    assert second[1] != first[1]


def test_a_container_is_made_found_changed_and_deleted(ready: Manager) -> None:
    ready.account(allowBlobPublicAccess=True)
    path = f"{PATH}/blobServices/default/containers/oidc"
    assert ready.ask("PUT", path, {"properties": {"publicAccess": "blob"}}, VERSION).status == 201
    assert ready.ask("PUT", path, {"properties": {}}, VERSION).status == 200
    before = ready.storage.blob_containers.get("g", "cwiioidc", "oidc")
    assert (before.public_access, before.metadata) == ("Blob", None)
    ready.storage.blob_containers.update(
        "g", "cwiioidc", "oidc", {"properties": {"publicAccess": "None", "metadata": {"a": "b"}}}
    )
    after = ready.storage.blob_containers.get("g", "cwiioidc", "oidc")
    assert (after.public_access, after.metadata) == ("None", {"a": "b"})
    assert before.etag != after.etag
    assert [one.name for one in ready.storage.blob_containers.list("g", "cwiioidc")] == ["oidc"]
    assert ready.ask("DELETE", path, version=VERSION).status == 200
    assert ready.ask("DELETE", path, version=VERSION).status == 204
    assert told(lambda: ready.storage.blob_containers.get("g", "cwiioidc", "oidc")) == (
        404,
        "ContainerNotFound",
    )


def test_the_name_of_a_container_is_not_free_at_once(begin: Begin) -> None:
    clock = Clock()
    manager = Manager(begin(clock=clock, deploy=30.0))
    manager.group()
    put(manager)
    contain(manager)
    manager.storage.blob_containers.delete("g", "cwiioidc", "oidc")
    assert told(lambda: contain(manager)) == (409, "ContainerBeingDeleted")
    clock.now += 30
    assert contain(manager).name == "oidc"


def test_no_container_is_open_in_an_account_that_forbids_it(ready: Manager) -> None:
    ready.account()
    words = "Public access is not permitted on this storage account."
    assert heard(lambda: contain(ready, publicAccess="Blob")) == (
        409,
        "PublicAccessNotPermitted",
        words,
    )
    assert contain(ready).public_access == "None"
    assert told(lambda: contain(ready, publicAccess="World")) == (
        400,
        "InvalidValuesForRequestParameters",
    )


@pytest.mark.parametrize("name", ["ab", "Oidc", "a--b", "-ab", "x" * 64])
def test_names_that_are_no_containers(ready: Manager, name: str) -> None:
    ready.account()
    assert error(ready.ask("PUT", f"{PATH}/blobServices/default/containers/{name}", {}, VERSION))[
        :2
    ] == (400, "ContainerOperationFailure")


def test_the_blob_service_can_be_set(ready: Manager) -> None:
    ready.account()
    kept = {"deleteRetentionPolicy": {"enabled": True, "days": 7}}
    ready.storage.blob_services.set_service_properties("g", "cwiioidc", {"properties": kept})
    found = ready.storage.blob_services.get_service_properties("g", "cwiioidc")
    assert found.blob_service_properties.delete_retention_policy.days == 7
    assert len(list(ready.storage.blob_services.list("g", "cwiioidc"))) == 1
