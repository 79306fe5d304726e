"""Workload identity pools and their providers: limits, deletion that can be taken back, and operations that take their time."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cwiictl.sandbox.front import Clock
from tests.cwiictl.sandbox.gcp.manager import IAM, POOLS, Manager, timed, trust
from tests.cwiictl.sandbox.gcp.owner import NUMBER, Begin, Owner
from tests.cwiictl.sandbox.visitor import key_set

POOL = f"{IAM}/{POOLS}/cluster"
PROVIDER = f"{POOL}/providers/oidc"
NAME = f"projects/{NUMBER}/locations/global/workloadIdentityPools/cluster"
EXISTS = (409, "ALREADY_EXISTS", "Requested entity already exists")
MISSING = (404, "NOT_FOUND", "Requested entity was not found.")
UNMET = (400, "FAILED_PRECONDITION")
DAY = 86_400.0


@pytest.fixture
def manager(owner: Owner) -> Manager:
    return Manager(owner)


def test_a_pool_is_made_found_changed_and_listed(manager: Manager) -> None:
    made = manager.pool(displayName="cluster", description="ours")
    assert made["done"] is True
    own = {"name": NAME, "displayName": "cluster", "description": "ours", "state": "ACTIVE"}
    assert manager.done("GET", POOL) == own
    assert made["response"] == {
        "@type": "type.googleapis.com/google.iam.v1.WorkloadIdentityPool",
        **own,
    }
    manager.done("PATCH", f"{POOL}?updateMask=disabled,display_name", {"disabled": True})
    assert manager.done("GET", f"{IAM}/{NAME}") == {
        "name": NAME,
        "description": "ours",
        "disabled": True,
        "state": "ACTIVE",
    }
    assert [
        one["name"] for one in manager.done("GET", f"{IAM}/{POOLS}")["workloadIdentityPools"]
    ] == [NAME]


def test_a_provider_is_made_found_changed_and_listed(manager: Manager) -> None:
    manager.pool()
    manager.provider(attributeCondition="true")
    assert manager.done("GET", PROVIDER) == {
        "name": f"{NAME}/providers/oidc",
        "state": "ACTIVE",
        "attributeCondition": "true",
        **trust(),
    }
    manager.done(
        "PATCH",
        f"{PROVIDER}?updateMask=oidc.allowed_audiences,attributeCondition",
        {"oidc": {"allowedAudiences": ["openshift"]}},
    )
    found = manager.done("GET", PROVIDER)
    assert found["oidc"] == {
        "issuerUri": "https://issuer.example.org",
        "allowedAudiences": ["openshift"],
    }
    assert "attributeCondition" not in found
    assert len(manager.done("GET", f"{POOL}/providers")["workloadIdentityPoolProviders"]) == 1


@pytest.mark.parametrize("name", ["abc", "x" * 33, "Upper", "gcp-mine", "under_score"])
def test_names_that_are_none(manager: Manager, name: str) -> None:
    assert manager.refused("POST", f"{IAM}/{POOLS}?workloadIdentityPoolId={name}", {})[:2] == (
        400,
        "INVALID_ARGUMENT",
    )
    manager.pool()
    assert manager.refused(
        "POST", f"{POOL}/providers?workloadIdentityPoolProviderId={name}", trust()
    )[:2] == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize(
    "changes",
    [
        {"displayName": "x" * 33},
        {"description": "x" * 257},
        {"labels": {}},
        {"oidc": {"issuerUri": "http://issuer.example.org"}},
        {"oidc": {}},
        {
            "oidc": {
                "issuerUri": "https://issuer.example.org",
                "allowedAudiences": [str(number) for number in range(11)],
            }
        },
        {"oidc": {"issuerUri": "https://issuer.example.org", "allowedAudiences": ["x" * 257]}},
        {"oidc": {"issuerUri": "https://issuer.example.org", "jwksJson": "{}"}},
        {"oidc": {"issuerUri": "https://issuer.example.org", "audiences": []}},
        {"attributeMapping": {}},
        {"attributeMapping": {"attribute.namespace": "assertion.sub"}},
        {"attributeMapping": {"google.subject": "assertion.sub", "nonsense": "assertion.sub"}},
        {"attributeCondition": "x" * 4097},
    ],
)
def test_what_is_no_provider(manager: Manager, changes: dict[str, Any]) -> None:
    manager.pool()
    assert manager.refused(
        "POST", f"{POOL}/providers?workloadIdentityPoolProviderId=oidc", trust(**changes)
    )[:2] == (400, "INVALID_ARGUMENT")
    assert manager.refused("GET", PROVIDER) == MISSING


def test_keys_can_be_uploaded_and_replaced(manager: Manager) -> None:
    manager.pool()
    one, two = key_set(k1=0).decode(), key_set(k1=0, k2=1).decode()
    manager.provider(oidc={"issuerUri": "https://issuer.example.org", "jwksJson": one})
    assert manager.done("GET", PROVIDER)["oidc"]["jwksJson"] == one
    manager.done("PATCH", f"{PROVIDER}?updateMask=oidc.jwks_json", {"oidc": {"jwksJson": two}})
    assert len(json.loads(manager.done("GET", PROVIDER)["oidc"]["jwksJson"])["keys"]) == 2
    manager.done(
        "PATCH",
        f"{PROVIDER}?updateMask=oidc",
        {"oidc": {"issuerUri": "https://issuer.example.org"}},
    )
    assert "jwksJson" not in manager.done("GET", PROVIDER)["oidc"]


@pytest.mark.parametrize("mask", ["", "?updateMask=nonsense"])
def test_a_change_says_what_it_changes(manager: Manager, mask: str) -> None:
    manager.pool()
    assert manager.refused("PATCH", f"{POOL}{mask}", {"disabled": True})[:2] == (
        400,
        "INVALID_ARGUMENT",
    )


def test_what_is_deleted_keeps_its_name_and_can_come_back(manager: Manager) -> None:
    manager.pool()
    manager.provider()
    manager.done("DELETE", POOL)
    found = manager.done("GET", POOL)
    assert (found["state"], "expireTime" in found) == ("DELETED", True)
    assert manager.refused("POST", f"{IAM}/{POOLS}?workloadIdentityPoolId=cluster", {}) == EXISTS
    assert manager.done("GET", f"{IAM}/{POOLS}") == {}
    assert len(manager.done("GET", f"{IAM}/{POOLS}?showDeleted=true")["workloadIdentityPools"]) == 1
    assert manager.refused("PATCH", f"{POOL}?updateMask=disabled", {})[:2] == UNMET
    assert manager.refused("DELETE", POOL)[:2] == UNMET
    assert (
        manager.refused("POST", f"{POOL}/providers?workloadIdentityPoolProviderId=other", trust())[
            :2
        ]
        == UNMET
    )
    manager.done("POST", f"{POOL}:undelete")
    assert manager.done("GET", POOL)["state"] == "ACTIVE"
    assert manager.done("GET", PROVIDER)["state"] == "ACTIVE"
    assert manager.refused("POST", f"{POOL}:undelete")[:2] == UNMET


def test_a_deleted_provider_can_come_back_too(manager: Manager) -> None:
    manager.pool()
    manager.provider()
    manager.done("DELETE", PROVIDER)
    assert manager.done("GET", PROVIDER)["state"] == "DELETED"
    assert (
        manager.refused("POST", f"{POOL}/providers?workloadIdentityPoolProviderId=oidc", trust())
        == EXISTS
    )
    manager.done("POST", f"{PROVIDER}:undelete")
    assert manager.done("GET", PROVIDER)["state"] == "ACTIVE"


def test_after_thirty_days_a_name_is_free(begin: Begin) -> None:
    clock = Clock()
    manager = timed(begin, clock)
    manager.pool()
    manager.done("DELETE", POOL)
    clock.now += 30 * DAY
    assert manager.refused("GET", POOL) == MISSING
    manager.pool()


def test_operations_take_their_time(begin: Begin) -> None:
    clock = Clock()
    manager = timed(begin, clock, deploy=2)
    begun = manager.pool()
    assert begun == {"name": begun["name"]}
    assert manager.done("GET", POOL)["state"] == "ACTIVE"
    assert (
        manager.refused("POST", f"{POOL}/providers?workloadIdentityPoolProviderId=oidc", trust())
        == MISSING
    )
    assert manager.done("GET", f"{IAM}/{begun['name']}") == begun
    clock.now += 2
    assert manager.done("GET", f"{IAM}/{begun['name']}")["response"]["name"] == NAME
    begun = manager.provider()
    clock.now += 2
    assert manager.done("GET", f"{IAM}/{begun['name']}")["done"] is True
    assert manager.refused("GET", f"{IAM}/{NAME}/operations/nonsense") == MISSING


def test_there_is_one_location(manager: Manager) -> None:
    where = POOLS.replace("global", "europe-west1")
    assert manager.refused("POST", f"{IAM}/{where}?workloadIdentityPoolId=cluster", {})[0] == 400
