"""Custom roles: what they may hold, how many there are, and their long end."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.sandbox.gcp.world import PROJECT, Role
from tests.cwiictl.sandbox.front import Clock
from tests.cwiictl.sandbox.gcp.manager import HERE, IAM, Manager, binding, timed
from tests.cwiictl.sandbox.gcp.owner import Begin, Owner

ROLES = f"{IAM}/{HERE}/roles"
ROLE = f"{ROLES}/cwii_one"
GET = "compute.disks.get"
DAY = 86_400.0


@pytest.fixture
def manager(owner: Owner) -> Manager:
    return Manager(owner)


def test_a_role_is_made_found_changed_and_listed(manager: Manager) -> None:
    made = manager.role("cwii_one", "compute.disks.list", GET, description="ours", stage="GA")
    assert made["includedPermissions"] == [GET, "compute.disks.list"]
    assert (made["name"], made["title"], made["description"], made["stage"]) == (
        f"{HERE}/roles/cwii_one",
        "cwii",
        "ours",
        "GA",
    )
    assert manager.done("GET", ROLE) == made
    changed = manager.done(
        "PATCH",
        f"{ROLE}?updateMask=includedPermissions",
        {"includedPermissions": [GET], "title": "other"},
    )
    assert (changed["includedPermissions"], changed["title"]) == ([GET], "cwii")
    assert manager.done("GET", f"{ROLES}?view=FULL") == {"roles": [changed]}
    assert "includedPermissions" not in manager.done("GET", ROLES)["roles"][0]


def test_who_changes_a_role_after_somebody_else_is_told(manager: Manager) -> None:
    made = manager.role()
    manager.done("PATCH", f"{ROLE}?updateMask=title", {"title": "other", "etag": made["etag"]})
    assert manager.refused(
        "PATCH", f"{ROLE}?updateMask=title", {"title": "mine", "etag": made["etag"]}
    )[:2] == (409, "ABORTED")


def test_what_is_not_there_is_said(manager: Manager) -> None:
    assert manager.refused("GET", ROLE) == (
        404,
        "NOT_FOUND",
        f"The role named {HERE}/roles/cwii_one was not found.",
    )
    assert manager.refused("GET", f"{IAM}/roles/nonsense") == (
        404,
        "NOT_FOUND",
        "The role named roles/nonsense was not found.",
    )


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("ab", {}),
        ("with-dash", {}),
        ("x" * 65, {}),
        ("cwii_one", {"title": "x" * 101}),
        ("cwii_one", {"description": "x" * 257}),
        ("cwii_one", {"stage": "NONSENSE"}),
        ("cwii_one", {"permissions": []}),
        ("cwii_one", {"includedPermissions": ["compute.disks.*"]}),
    ],
)
def test_what_is_no_role(manager: Manager, name: str, more: dict[str, Any]) -> None:
    assert manager.refused("POST", ROLES, {"roleId": name, "role": more})[:2] == (
        400,
        "INVALID_ARGUMENT",
    )


@pytest.mark.parametrize(
    "permission",
    [
        "resourcemanager.projects.list",
        "storage.buckets.nonsense",
        "resourcemanager.organizations.get",
        "iam.roles",
    ],
)
def test_permissions_that_a_projects_role_cannot_have(manager: Manager, permission: str) -> None:
    wanted = {"roleId": "cwii_one", "role": {"includedPermissions": [GET, permission]}}
    assert manager.refused("POST", ROLES, wanted) == (
        400,
        "INVALID_ARGUMENT",
        f"Permission {permission} is not valid.",
    )
    unfit = manager.done("POST", f"{IAM}/permissions:queryTestablePermissions", {"pageSize": 1000})[
        "permissions"
    ]
    fit = {one["name"] for one in unfit if "customRolesSupportLevel" not in one}
    assert GET in fit
    assert permission not in fit


def test_a_deleted_role_gives_nothing_and_can_come_back_within_a_week(begin: Begin) -> None:
    clock = Clock()
    manager = timed(begin, clock)
    manager.role()
    email = manager.account()["email"]
    manager.set(binding(f"{HERE}/roles/cwii_one", f"serviceAccount:{email}"))
    assert manager.other(email).tested(GET) == [GET]
    assert manager.done("DELETE", ROLE)["deleted"] is True
    assert manager.other(email).tested(GET) == []
    assert manager.done("GET", ROLES) == {}
    assert manager.done("GET", f"{ROLES}?showDeleted=true")["roles"][0]["deleted"] is True
    words = "You can't create a role_id (cwii_one) which has been marked for deletion."
    assert manager.refused("POST", ROLES, {"roleId": "cwii_one"}) == (
        400,
        "FAILED_PRECONDITION",
        words,
    )
    words = f"You can't delete role_id ({HERE}/roles/cwii_one) as it is already deleted."
    assert manager.refused("DELETE", ROLE) == (400, "FAILED_PRECONDITION", words)
    assert manager.refused("PATCH", f"{ROLE}?updateMask=title", {"title": "x"})[:2] == (
        400,
        "FAILED_PRECONDITION",
    )
    manager.done("POST", f"{ROLE}:undelete")
    assert manager.other(email).tested(GET) == [GET]
    assert manager.refused("POST", f"{ROLE}:undelete")[:2] == (400, "FAILED_PRECONDITION")


def test_after_a_week_it_is_lost_and_after_37_days_its_name_is_free_of_all_it_was(
    begin: Begin,
) -> None:
    clock = Clock()
    manager = timed(begin, clock)
    manager.role()
    email = manager.account()["email"]
    manager.set(binding(f"{HERE}/roles/cwii_one", f"serviceAccount:{email}"))
    manager.done("DELETE", ROLE)
    clock.now += 7 * DAY
    assert manager.refused("POST", f"{ROLE}:undelete")[:2] == (400, "FAILED_PRECONDITION")
    assert manager.done("GET", f"{ROLES}?showDeleted=true") == {}
    clock.now += 30 * DAY
    manager.role()
    assert manager.other(email).tested(GET) == []


def test_a_project_has_three_hundred_and_the_deleted_ones_count(manager: Manager) -> None:
    for number in range(299):
        manager.owner.world.roles[PROJECT, f"role_{number}"] = Role(
            PROJECT, f"role_{number}", "", "", ()
        )
    manager.role()
    manager.done("DELETE", ROLE)
    words = "Maximum number of roles reached. Maximum is: 300"
    assert manager.refused("POST", ROLES, {"roleId": "one_more"}) == (
        429,
        "RESOURCE_EXHAUSTED",
        words,
    )


def test_what_is_new_is_neither_listed_nor_granted_at_once(begin: Begin) -> None:
    clock = Clock()
    manager = timed(begin, clock)
    email = manager.account()["email"]
    manager.owner.sandbox.faults.lag = 5
    manager.role()
    given = binding(f"{HERE}/roles/cwii_one", f"serviceAccount:{email}")
    assert manager.done("GET", ROLE)["title"] == "cwii"
    assert manager.done("GET", ROLES) == {}
    assert (
        manager.unset(given)[2]
        == f"Role ({HERE}/roles/cwii_one) does not exist in the resource's hierarchy."
    )
    clock.now += 5
    assert len(manager.done("GET", ROLES)["roles"]) == 1
    manager.set(given)


def test_googles_own_roles_can_be_looked_at(manager: Manager) -> None:
    found = manager.done("GET", f"{IAM}/roles/iam.serviceAccountAdmin")
    assert "iam.serviceAccounts.create" in found["includedPermissions"]
    assert "iam.serviceAccounts.getAccessToken" not in found["includedPermissions"]
    assert f"roles/{PROJECT}" not in [
        one["name"] for one in manager.done("GET", f"{IAM}/roles")["roles"]
    ]
    assert (
        manager.done("GET", f"{IAM}/roles?pageSize=1")["roles"][0]["name"]
        == "roles/artifactregistry.reader"
    )
