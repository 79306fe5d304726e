"""What ARM asks of everybody: a version, a token, a permission; and how it says no."""

from __future__ import annotations

import json
from collections.abc import Callable

from cwiictl.sandbox.azure.clouds import CLOUDS
from cwiictl.sandbox.azure.world import CLIENT, OPERATOR, SECOND, SUBSCRIPTION, TENANT
from tests.cwiictl.sandbox.azure.manager import (
    ACCOUNTS,
    GROUP,
    HERE,
    IDENTITIES,
    Manager,
    error,
    heard,
    told,
)
from tests.cwiictl.sandbox.azure.tenant import STORAGE, Tenant

Begin = Callable[..., Tenant]
ARM = "https://management.azure.com"


def test_every_request_needs_a_version_of_the_api(manager: Manager) -> None:
    status, code, words = error(manager.ask("GET", GROUP, version=""))
    assert (status, code) == (400, "MissingApiVersionParameter")
    assert "(?api-version=) is required" in words


def test_a_version_that_there_is_not_is_answered_with_those_that_there_are(
    manager: Manager,
) -> None:
    status, code, words = error(manager.ask("GET", GROUP, version="2000-01-01"))
    assert (status, code) == (400, "InvalidApiVersionParameter")
    assert words.startswith(
        "The api-version '2000-01-01' is invalid. The supported versions are '2025-04-01,"
    )
    status, code, words = error(
        manager.ask("GET", f"{IDENTITIES}/one/federatedIdentityCredentials", version="2018-11-30")
    )
    assert (status, code) == (400, "NoRegisteredProviderFound")
    assert "for type 'userAssignedIdentities/federatedIdentityCredentials'" in words
    assert "2024-11-30" in words


def test_what_nobody_has_heard_of_is_not_there(manager: Manager) -> None:
    assert error(manager.ask("GET", f"{GROUP}/providers/Contoso.Things/things/t"))[:2] == (
        404,
        "InvalidResourceNamespace",
    )
    assert error(manager.ask("GET", f"{GROUP}/providers/Microsoft.Storage/things/t"))[:2] == (
        404,
        "InvalidResourceType",
    )
    assert error(manager.ask("GET", f"{ACCOUNTS}/a/things"))[:2] == (404, "InvalidResourceType")
    assert error(manager.ask("GET", "/things"))[:2] == (404, "NotFound")
    assert error(manager.ask("POST", ACCOUNTS))[:2] == (405, "MethodNotAllowed")


def test_who_bears_no_token_hears_where_to_get_one(tenant: Tenant) -> None:
    answer = tenant.ask("GET", f"{ARM}{HERE}?api-version=2022-12-01")
    assert error(answer)[:2] == (401, "AuthenticationFailed")
    assert answer.headers["www-authenticate"].startswith(
        f'Bearer authorization_uri="https://login.microsoftonline.com/{TENANT}"'
    )


def test_tokens_are_for_arm_or_for_nobody_there(tenant: Tenant) -> None:
    def asked(token: str) -> str:
        return error(
            tenant.ask(
                "GET", f"{ARM}{HERE}?api-version=2022-12-01", {"Authorization": f"Bearer {token}"}
            )
        )[1]

    assert asked(tenant.operator.get_token(STORAGE).token) == "InvalidAuthenticationTokenAudience"
    assert asked("rubbish") == "InvalidAuthenticationToken"


def test_expired_tokens_are_told_apart(begin: Begin) -> None:
    tenant = begin()
    manager = Manager(tenant)
    manager.group()
    tenant.sandbox.faults.expired = True
    assert told(lambda: manager.groups.get("g")) == (401, "ExpiredAuthenticationToken")


def test_a_subscription_of_others_is_not_there(manager: Manager) -> None:
    nobodys = "99999999-9999-4999-8999-999999999999"
    status, code, words = heard(Manager(manager.tenant, nobodys).groups.list)
    assert (status, code, words) == (
        404,
        "SubscriptionNotFound",
        f"The subscription '{nobodys}' could not be found.",
    )


def test_the_operator_sees_both_subscriptions_and_the_tenant(manager: Manager) -> None:
    rows = json.loads(manager.ask("GET", "/subscriptions").body)["value"]
    assert [(one["subscriptionId"], one["tenantId"], one["state"]) for one in rows] == [
        (SUBSCRIPTION, TENANT, "Enabled"),
        (SECOND, TENANT, "Enabled"),
    ]
    assert json.loads(manager.ask("GET", HERE).body)["displayName"] == "Sandbox"
    assert [
        one["tenantId"] for one in json.loads(manager.ask("GET", "/tenants").body)["value"]
    ] == [TENANT]
    assert "westeurope" in [
        one["name"] for one in json.loads(manager.ask("GET", f"{HERE}/locations").body)["value"]
    ]


def test_providers_are_registered_and_tell_their_versions(manager: Manager) -> None:
    found = {one.namespace: one for one in manager.resources.providers.list()}
    assert {
        "Microsoft.Storage",
        "Microsoft.ManagedIdentity",
        "Microsoft.Authorization",
        "Microsoft.Resources",
    } <= set(found)
    assert {one.registration_state for one in found.values()} == {"Registered"}
    kinds = {
        one.resource_type: one
        for one in manager.resources.providers.register("microsoft.managedidentity").resource_types
    }
    assert (
        kinds["userAssignedIdentities/federatedIdentityCredentials"].api_versions[0]
        == "2025-05-31-preview"
    )
    assert told(lambda: manager.resources.providers.get("Contoso.Things")) == (
        404,
        "InvalidResourceNamespace",
    )


def test_what_is_denied_is_refused_in_arms_own_sentence(begin: Begin) -> None:
    tenant = begin(
        deny=frozenset(
            {"Microsoft.ManagedIdentity/*/write", "Microsoft.Storage/storageAccounts/read"}
        )
    )
    manager = Manager(tenant)
    manager.group()
    action = "Microsoft.ManagedIdentity/userAssignedIdentities/write"
    words = (
        f"The client '{CLIENT}' with object id '{OPERATOR}' does not have authorization to perform action '{action}' over scope '{IDENTITIES}/one' or the scope"
        " is invalid. If access was recently granted, please refresh your credentials."
    )
    assert heard(manager.identity) == (403, "AuthorizationFailed", words)
    assert told(lambda: manager.storage.storage_accounts.list_by_resource_group("g")) == (
        403,
        "AuthorizationFailed",
    )
    tenant.sandbox.faults.deny.clear()
    assert manager.identity().name == "one"


def test_permissions_are_those_of_the_callers_roles_less_what_is_denied(begin: Begin) -> None:
    tenant = begin(deny=frozenset({"Microsoft.Storage/*"}))
    manager = Manager(tenant)
    manager.group()
    found = list(manager.authorization.permissions.list_for_resource_group("g"))
    assert [(one.actions, one.not_actions, one.data_actions) for one in found] == [
        (["*"], ["Microsoft.Storage/*"], [])
    ]


def test_the_record_has_what_each_request_needs(manager: Manager) -> None:
    manager.group()
    manager.account()
    manager.storage.storage_accounts.list_keys("g", "cwiioidc")
    manager.storage.storage_accounts.check_name_availability(
        {"name": "x", "type": "Microsoft.Storage/storageAccounts"}
    )
    manager.ask("GET", "/subscriptions")
    seen = [
        (one.action, one.mutating, one.permissions)
        for one in manager.tenant.sandbox.record
        if one.host.startswith("management")
    ]
    poll = "Microsoft.Storage/locations/asyncoperations/read"
    names = [
        ("Microsoft.Resources/subscriptions/resourceGroups/write", True),
        ("Microsoft.Storage/storageAccounts/write", True),
        (poll, False),
        ("Microsoft.Storage/storageAccounts/listkeys/action", False),
        ("Microsoft.Storage/checknameavailability/read", False),
    ]
    assert list(dict.fromkeys(seen)) == [
        *((name, writes, (name,)) for name, writes in names),
        ("Microsoft.Resources/subscriptions/read", False, ()),
    ]


def test_faults_have_arms_words(begin: Begin) -> None:
    tenant = begin(failures=1.0, seed=1)
    answers = [tenant.ask("GET", f"{ARM}{HERE}?api-version=2022-12-01") for _ in range(30)]
    assert {error(one)[:2] for one in answers} == {
        (429, "TooManyRequests"),
        (503, "ServiceUnavailable"),
        (500, "InternalServerError"),
    }
    assert {one.headers.get("retry-after") for one in answers if one.status == 429} == {"1"}


def test_the_three_clouds_know_nothing_of_each_other(begin: Begin) -> None:
    tenant = begin(deploy=0)
    for number, cloud in enumerate(CLOUDS):
        manager = Manager(Tenant(tenant.sandbox, cloud))
        assert list(manager.groups.list()) == []
        location = ("westeurope", "usgovvirginia", "chinanorth3")[number]
        manager.group(location=location)
        made = manager.account(location=location)
        assert made.primary_endpoints.blob == f"https://cwiioidc.blob.{cloud.suffix}/"


def test_regions_are_those_of_the_cloud(manager: Manager) -> None:
    assert told(lambda: manager.group(location="usgovvirginia")) == (
        400,
        "LocationNotAvailableForResourceGroup",
    )
    manager.group(location="West Europe")
    wrong = lambda: manager.identities.create_or_update("g", "one", {"location": "atlantis"})
    assert told(wrong) == (400, "LocationNotAvailableForResourceType")


def test_a_reset_leaves_what_was_there_at_first(manager: Manager) -> None:
    manager.group()
    manager.tenant.sandbox.reset()
    assert list(manager.groups.list()) == []
    assert len(list(manager.assignments.list_for_subscription())) == 1
