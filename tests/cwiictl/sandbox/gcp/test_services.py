"""Which APIs are on, what is heard from those that are not, and turning them on."""

from __future__ import annotations

import pytest

from cwiictl.sandbox.gcp.world import NUMBER, PROJECT, SECOND, SECOND_NUMBER
from tests.cwiictl.sandbox.front import Clock
from tests.cwiictl.sandbox.gcp.manager import HERE, IAM, MANAGER, USAGE, Manager, timed
from tests.cwiictl.sandbox.gcp.owner import Begin, Owner

SERVICES = f"{USAGE}/{HERE}/services"
THERE = f"projects/{SECOND}"


@pytest.fixture
def manager(owner: Owner) -> Manager:
    return Manager(owner)


def test_services_are_found_one_by_one_together_and_listed(manager: Manager) -> None:
    found = manager.done("GET", f"{SERVICES}/iam.googleapis.com")
    assert (found["name"], found["state"]) == (
        f"projects/{NUMBER}/services/iam.googleapis.com",
        "ENABLED",
    )
    both = manager.done(
        "GET",
        f"{SERVICES}:batchGet?names={HERE}/services/sts.googleapis.com&names={HERE}/services/dns.googleapis.com",
    )
    assert [one["state"] for one in both["services"]] == ["ENABLED", "DISABLED"]
    on = manager.done("GET", f"{SERVICES}?filter=state:ENABLED&pageSize=200")["services"]
    assert len(on) == 6


def test_an_api_that_is_off_says_how_to_turn_it_on(manager: Manager) -> None:
    status, told = manager.ask("POST", f"{IAM}/{THERE}/serviceAccounts", {"accountId": "cwii-one"})
    error = told["error"]
    assert (status, error["status"]) == (403, "PERMISSION_DENIED")
    assert (
        f"has not been used in project {SECOND_NUMBER} before or it is disabled."
        in error["message"]
    )
    info = next(one for one in error["details"] if one["@type"].endswith("ErrorInfo"))
    assert (info["reason"], info["metadata"]["service"], info["metadata"]["consumer"]) == (
        "SERVICE_DISABLED", "iam.googleapis.com", f"projects/{SECOND_NUMBER}",
    )  # fmt: skip


def test_resource_manager_asks_who_calls_and_not_whose_the_project_is(manager: Manager) -> None:
    assert manager.done("GET", f"{MANAGER}/{THERE}")["projectId"] == SECOND
    manager.done("POST", f"{SERVICES}/cloudresourcemanager.googleapis.com:disable")
    assert "is disabled" in manager.refused("GET", f"{MANAGER}/{THERE}")[2]


def test_an_api_is_on_when_the_operation_is_done(begin: Begin) -> None:
    clock = Clock()
    manager = timed(begin, clock, deploy=2, lag=1)
    begun = manager.done(
        "POST",
        f"{USAGE}/{THERE}/services:batchEnable",
        {"serviceIds": ["iam.googleapis.com", "sts.googleapis.com"]},
    )
    assert begun == {"name": begun["name"]}
    assert (
        manager.done("GET", f"{USAGE}/{THERE}/services/iam.googleapis.com")["state"] == "DISABLED"
    )
    clock.now += 2
    done = manager.done("GET", f"{USAGE}/{begun['name']}")
    assert [one["state"] for one in done["response"]["services"]] == ["ENABLED", "ENABLED"]
    assert manager.refused("GET", f"{IAM}/{THERE}/serviceAccounts")[0] == 403
    clock.now += 1
    assert manager.done("GET", f"{IAM}/{THERE}/serviceAccounts") == {}


def test_what_is_on_already_needs_no_operation(manager: Manager) -> None:
    done = manager.done("POST", f"{SERVICES}/iam.googleapis.com:enable")
    assert (done["name"], done["done"]) == ("operations/noop.DONE_OPERATION", True)


def test_a_service_that_nobody_knows(manager: Manager) -> None:
    words = "Not found or permission denied for service(s): nonsense.googleapis.com."
    assert manager.refused("POST", f"{SERVICES}/nonsense.googleapis.com:enable") == (
        403,
        "PERMISSION_DENIED",
        words,
    )


def test_twenty_at_once(manager: Manager) -> None:
    assert manager.refused(
        "POST", f"{SERVICES}:batchEnable", {"serviceIds": ["iam.googleapis.com"] * 21}
    )[:2] == (400, "INVALID_ARGUMENT")
    assert manager.refused("POST", f"{SERVICES}:batchEnable", {})[0] == 400


def test_who_may_not_turn_it_on_is_told_which(manager: Manager) -> None:
    manager.owner.sandbox.faults.deny = {"serviceusage.services.enable"}
    words = "Permission denied to enable service [dns.googleapis.com]"
    assert manager.refused("POST", f"{SERVICES}/dns.googleapis.com:enable") == (
        403,
        "PERMISSION_DENIED",
        words,
    )


def test_a_project_lends_its_quota_only_to_who_may_use_it(manager: Manager) -> None:
    email = manager.account()["email"]
    other = manager.other(email)
    other.headers = {**(other.headers or {}), "X-Goog-User-Project": PROJECT}
    assert other.refused("GET", f"{MANAGER}/{HERE}")[2].startswith(
        f"Caller does not have required permission to use project {PROJECT}."
    )
