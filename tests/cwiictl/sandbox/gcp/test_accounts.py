"""Service accounts: their names, and who they are after they were deleted."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.sandbox.gcp.world import PROJECT, ServiceAccount
from tests.cwiictl.sandbox.front import Clock
from tests.cwiictl.sandbox.gcp.manager import HERE, IAM, Manager, binding, timed
from tests.cwiictl.sandbox.gcp.owner import Begin, Owner

ACCOUNTS = f"{IAM}/{HERE}/serviceAccounts"
EMAIL = "cwii-one@cwii-sandbox.iam.gserviceaccount.com"
ONE = f"{ACCOUNTS}/{EMAIL}"
DAY = 86_400.0


@pytest.fixture
def manager(owner: Owner) -> Manager:
    return Manager(owner)


def test_an_account_is_made_found_changed_and_listed(manager: Manager) -> None:
    made = manager.account(displayName="one", description="first")
    assert (made["name"], made["email"], made["projectId"]) == (
        f"{HERE}/serviceAccounts/{EMAIL}",
        EMAIL,
        "cwii-sandbox",
    )
    assert len(made["uniqueId"]) == 21
    assert manager.done("GET", ONE) == made
    assert manager.done("GET", f"{IAM}/projects/-/serviceAccounts/{made['uniqueId']}") == made
    manager.done(
        "PATCH", ONE, {"serviceAccount": {"description": "other"}, "updateMask": "description"}
    )
    assert manager.done("GET", ONE) == {**made, "description": "other"}
    assert manager.done("GET", ACCOUNTS)["accounts"][0]["email"] == EMAIL


def test_a_list_comes_in_pages(manager: Manager) -> None:
    for number in range(3):
        manager.account(f"cwii-{number:02}")
    first = manager.done("GET", f"{ACCOUNTS}?pageSize=3")
    rest = manager.done("GET", f"{ACCOUNTS}?pageSize=3&pageToken={first['nextPageToken']}")
    assert [len(first["accounts"]), len(rest["accounts"])] == [3, 1]
    assert "nextPageToken" not in rest


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"accountId": "short"}, 'The account ID "short" does not have a length between 6 and 30.'),
        (
            {"accountId": "x" * 31},
            f'The account ID "{"x" * 31}" does not have a length between 6 and 30.',
        ),
        (
            {"accountId": "cwii-one-"},
            'The account ID "cwii-one-" does not match "[a-z]([-a-z0-9]*[a-z0-9])".',
        ),
        ({"accountId": "cwii-one", "serviceAccount": {"displayName": "x" * 101}}, None),
        ({"accountId": "cwii-one", "serviceAccount": {"description": "x" * 257}}, None),
        ({"accountId": "cwii-one", "serviceAccount": {"labels": {}}}, None),
    ],
)
def test_what_is_no_account(manager: Manager, body: dict[str, Any], words: str | None) -> None:
    status, code, message = manager.refused("POST", ACCOUNTS, body)
    assert (status, code) == (400, "INVALID_ARGUMENT")
    assert words in {None, message}


def test_a_name_is_taken_once(manager: Manager) -> None:
    manager.account()
    words = "Service account cwii-one already exists within project projects/cwii-sandbox."
    assert manager.refused("POST", ACCOUNTS, {"accountId": "cwii-one"}) == (
        409,
        "ALREADY_EXISTS",
        words,
    )


def test_a_project_has_a_hundred(manager: Manager) -> None:
    for number in range(99):
        one = ServiceAccount(PROJECT, f"cwii-{number:02}", str(number))
        manager.owner.world.accounts[one.email] = one
    words = "Maximum number of service accounts on project reached."
    assert manager.refused("POST", ACCOUNTS, {"accountId": "cwii-more"}) == (
        429,
        "RESOURCE_EXHAUSTED",
        words,
    )


def test_what_is_deleted_is_a_ghost_in_policies_and_its_successor_another(manager: Manager) -> None:
    first = manager.account()
    manager.account("cwii-two")
    member = f"serviceAccount:{EMAIL}"
    manager.set(binding("roles/viewer", member))
    two = f"{ACCOUNTS}/cwii-two@cwii-sandbox.iam.gserviceaccount.com"
    manager.done(
        "POST",
        f"{two}:setIamPolicy",
        {"policy": {"bindings": [binding("roles/iam.workloadIdentityUser", member)]}},
    )
    manager.done("DELETE", ONE)
    ghost = f"deleted:{member}?uid={first['uniqueId']}"
    assert [
        one["members"] for one in manager.policy()["bindings"] if one["role"] == "roles/viewer"
    ] == [[ghost]]
    assert manager.policy(two)["bindings"][0]["members"] == [ghost]
    assert manager.refused("GET", ONE) == (404, "NOT_FOUND", "Unknown service account")
    second = manager.account()
    assert second["uniqueId"] != first["uniqueId"]
    assert manager.other(EMAIL).tested("resourcemanager.projects.get") == []
    manager.set(binding("roles/viewer", ghost, member))
    assert manager.other(EMAIL).tested("resourcemanager.projects.get") == [
        "resourcemanager.projects.get"
    ]


def test_what_is_undeleted_is_itself_again(manager: Manager) -> None:
    made = manager.account()
    manager.set(binding("roles/viewer", f"serviceAccount:{EMAIL}"))
    manager.done("DELETE", ONE)
    assert manager.done("POST", f"{ACCOUNTS}/{made['uniqueId']}:undelete") == {
        "restoredAccount": made
    }
    assert manager.other(EMAIL).tested("resourcemanager.projects.get") == [
        "resourcemanager.projects.get"
    ]


def test_nothing_is_undeleted_after_thirty_days_or_over_a_successor(begin: Begin) -> None:
    clock = Clock()
    manager = timed(begin, clock)
    first = manager.account()["uniqueId"]
    manager.done("DELETE", ONE)
    manager.account()
    assert manager.refused("POST", f"{ACCOUNTS}/{first}:undelete")[:2] == (
        400,
        "FAILED_PRECONDITION",
    )
    manager.done("DELETE", ONE)
    clock.now += 30 * DAY
    assert manager.refused("POST", f"{ACCOUNTS}/{first}:undelete")[0] == 404


def test_what_is_new_is_not_seen_everywhere_at_once(begin: Begin) -> None:
    clock = Clock()
    manager = timed(begin, clock, lag=5)
    manager.account()
    assert manager.refused("GET", ONE)[0] == 404
    assert len(manager.done("GET", ACCOUNTS)["accounts"]) == 1
    assert manager.unset(binding("roles/viewer", f"serviceAccount:{EMAIL}")) == (
        400,
        "INVALID_ARGUMENT",
        f"Service account {EMAIL} does not exist.",
    )
    assert manager.refused("POST", ACCOUNTS, {"accountId": "cwii-one"})[0] == 409
    clock.now += 5
    manager.set(binding("roles/viewer", f"serviceAccount:{EMAIL}"))
    assert len(manager.done("GET", ACCOUNTS)["accounts"]) == 2


def test_a_disabled_account_is_nobody(manager: Manager) -> None:
    manager.account()
    other = manager.other(EMAIL)
    manager.done("POST", f"{ONE}:disable")
    assert manager.done("GET", ONE)["disabled"] is True
    assert other.refused("GET", ONE)[:2] == (401, "UNAUTHENTICATED")
    manager.done("POST", f"{ONE}:enable")
    assert other.refused("GET", ONE)[:2] == (403, "PERMISSION_DENIED")
