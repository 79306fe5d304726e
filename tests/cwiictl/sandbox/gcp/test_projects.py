"""Projects, who may do what in them, and what is denied on top."""

from __future__ import annotations

import pytest

from cwiictl.sandbox.gcp.world import NUMBER, PROJECT, SECOND
from tests.cwiictl.sandbox.gcp.manager import HERE, IAM, MANAGER, POOLS, Manager, binding
from tests.cwiictl.sandbox.gcp.owner import Owner

V1 = "cloudresourcemanager.googleapis.com/v1"
EMAIL = f"cwii-one@{PROJECT}.iam.gserviceaccount.com"


@pytest.fixture
def manager(owner: Owner) -> Manager:
    return Manager(owner)


def test_a_project_looks_different_in_each_version(manager: Manager) -> None:
    old, new = (
        manager.done("GET", f"{V1}/{HERE}"),
        manager.done("GET", f"{MANAGER}/projects/{NUMBER}"),
    )
    assert (old["projectId"], old["projectNumber"], old["lifecycleState"]) == (
        PROJECT,
        NUMBER,
        "ACTIVE",
    )
    assert (new["projectId"], new["name"], new["state"]) == (
        PROJECT,
        f"projects/{NUMBER}",
        "ACTIVE",
    )
    assert [
        one["projectId"] for one in manager.done("GET", f"{MANAGER}/projects:search")["projects"]
    ] == [PROJECT, SECOND]


def test_a_project_that_is_not_there_is_one_that_one_may_not_see(manager: Manager) -> None:
    assert manager.refused("GET", f"{V1}/projects/nonsense") == (
        403,
        "PERMISSION_DENIED",
        "The caller does not have permission",
    )
    words = "Permission 'resourcemanager.projects.get' denied on resource '//cloudresourcemanager.googleapis.com/projects/nonsense' (or it may not exist)."
    assert manager.refused("GET", f"{MANAGER}/projects/nonsense") == (
        403,
        "PERMISSION_DENIED",
        words,
    )
    assert (
        manager.tested("resourcemanager.projects.get", where=f"{MANAGER}/projects/nonsense") == []
    )


def test_who_has_no_role_may_nothing(manager: Manager) -> None:
    manager.account()
    other = manager.other(EMAIL)
    words = "Permission 'iam.serviceAccounts.create' denied on resource (or it may not exist)."
    assert other.refused("POST", f"{IAM}/{HERE}/serviceAccounts", {"accountId": "cwii-two"}) == (
        403,
        "PERMISSION_DENIED",
        words,
    )
    words = f"Permission 'iam.workloadIdentityPools.create' denied on resource '//iam.googleapis.com/{HERE}/locations/global' (or it may not exist)."
    assert other.refused("POST", f"{IAM}/{POOLS}?workloadIdentityPoolId=cluster", {}) == (
        403,
        "PERMISSION_DENIED",
        words,
    )
    assert other.done("GET", f"{MANAGER}/projects:search") == {"projects": []}


@pytest.mark.parametrize(
    ("role", "has", "lacks"),
    [
        ("roles/viewer", "compute.disks.get", "compute.disks.create"),
        ("roles/editor", "iam.serviceAccounts.create", "resourcemanager.projects.setIamPolicy"),
        (
            "roles/owner",
            "resourcemanager.projects.setIamPolicy",
            "iam.serviceAccounts.getAccessToken",
        ),
        ("roles/owner", "storage.buckets.create", "storage.buckets.setIamPolicy"),
        (
            "roles/iam.workloadIdentityPoolAdmin",
            "iam.googleapis.com/workloadIdentityPools.create",
            "iam.serviceAccounts.create",
        ),
        (
            "roles/iam.workloadIdentityPoolAdmin",
            "iam.workloadIdentityPoolProviders.update",
            "iam.roles.create",
        ),
        (
            "roles/iam.serviceAccountAdmin",
            "iam.serviceAccounts.setIamPolicy",
            "iam.serviceAccounts.actAs",
        ),
        ("roles/iam.roleAdmin", "iam.roles.undelete", "resourcemanager.projects.setIamPolicy"),
        (
            "roles/resourcemanager.projectIamAdmin",
            "resourcemanager.projects.setIamPolicy",
            "iam.roles.get",
        ),
        (
            "roles/serviceusage.serviceUsageAdmin",
            "serviceusage.services.enable",
            "resourcemanager.projects.get",
        ),
        ("roles/storage.admin", "storage.buckets.setIamPolicy", "compute.disks.get"),
        (
            "roles/iam.workloadIdentityUser",
            "iam.serviceAccounts.getAccessToken",
            "iam.serviceAccounts.signJwt",
        ),
        ("roles/compute.storageAdmin", "compute.disks.create", "compute.instances.create"),
    ],
)
def test_a_role_gives_what_it_gives(manager: Manager, role: str, has: str, lacks: str) -> None:
    manager.account()
    manager.set(binding(role, f"serviceAccount:{EMAIL}"))
    assert manager.other(EMAIL).tested(has, lacks) == [has]


def test_an_accounts_own_policy_counts_for_it_alone(manager: Manager) -> None:
    manager.account()
    manager.account("cwii-two")
    one, two = (
        f"{IAM}/{HERE}/serviceAccounts/cwii-{name}@{PROJECT}.iam.gserviceaccount.com"
        for name in ("one", "two")
    )
    manager.done(
        "POST",
        f"{two}:setIamPolicy",
        {
            "policy": {
                "bindings": [binding("roles/iam.serviceAccountAdmin", f"serviceAccount:{EMAIL}")]
            }
        },
    )
    other = manager.other(EMAIL)
    assert other.done("GET", two)["email"].startswith("cwii-two")
    assert other.refused("GET", one)[0] == 403
    assert other.tested("iam.serviceAccounts.delete", "compute.disks.get", where=two) == [
        "iam.serviceAccounts.delete"
    ]


def test_what_is_denied_is_denied_to_owners_too(manager: Manager) -> None:
    manager.owner.sandbox.faults.deny = {
        "iam.serviceAccounts.cre*",
        "resourcemanager.projects.setIamPolicy",
    }
    words = "Permission 'iam.serviceAccounts.create' denied on resource (or it may not exist)."
    assert manager.refused("POST", f"{IAM}/{HERE}/serviceAccounts", {"accountId": "cwii-two"}) == (
        403,
        "PERMISSION_DENIED",
        words,
    )
    assert manager.unset()[0] == 403
    assert manager.tested("iam.serviceAccounts.create", "iam.serviceAccounts.delete") == [
        "iam.serviceAccounts.delete"
    ]


def test_there_are_permissions_that_are_none(manager: Manager) -> None:
    words = "Permission iam.roles.nonsense is not valid for this resource."
    assert manager.refused(
        "POST", f"{MANAGER}/{HERE}:testIamPermissions", {"permissions": ["iam.roles.nonsense"]}
    ) == (400, "INVALID_ARGUMENT", words)
    assert (
        manager.refused("POST", f"{MANAGER}/{HERE}:testIamPermissions", {"permissions": ["iam.*"]})[
            0
        ]
        == 400
    )


def test_requests_are_recorded_by_the_permission_that_they_need(manager: Manager) -> None:
    manager.account()
    manager.policy()
    manager.set()
    manager.tested("iam.roles.get")
    seen = [
        (one.action, one.mutating, one.permissions)
        for one in manager.owner.sandbox.record
        if one.host in {"iam.googleapis.com", "cloudresourcemanager.googleapis.com"}
    ]
    create, read, write = (
        "iam.serviceAccounts.create",
        "resourcemanager.projects.getIamPolicy",
        "resourcemanager.projects.setIamPolicy",
    )
    assert seen[:3] == [(create, True, (create,)), (read, False, (read,)), (write, True, (write,))]
    assert seen[3] == ("resourcemanager.projects.testIamPermissions", False, ())


def test_whoever_says_nothing_of_themselves_is_not_served(owner: Owner) -> None:
    answer = owner.ask("GET", f"https://{MANAGER}/{HERE}")
    assert answer.status == 401
    owner.sandbox.faults.expired = True
    assert (
        owner.ask("GET", f"https://{MANAGER}/{HERE}", headers={"Authorization": "Bearer x"}).status
        == 401
    )


def test_faults_are_told_as_google_does(manager: Manager) -> None:
    manager.done("GET", f"{MANAGER}/{HERE}")
    manager.headers = manager.owner.issue(f"operator@{PROJECT}.iam.gserviceaccount.com")
    manager.owner.sandbox.faults.rate = 1.0
    heard = {manager.refused("GET", f"{MANAGER}/{HERE}")[:2] for _ in range(30)}
    assert heard == {(429, "RESOURCE_EXHAUSTED"), (503, "UNAVAILABLE"), (500, "INTERNAL")}


def test_a_universe_of_its_own_has_its_own_world(owner: Owner) -> None:
    answer = owner.ask(
        "GET",
        f"https://iam.apis-sandbox.goog/v1/{HERE}/serviceAccounts",
        headers=owner.issue(f"operator@{PROJECT}.iam.gserviceaccount.com"),
    )
    assert answer.status == 401


def test_after_a_reset_there_is_what_there_was_in_the_beginning(manager: Manager) -> None:
    manager.account()
    manager.pool()
    manager.owner.sandbox.reset()
    assert len(manager.done("GET", f"{IAM}/{HERE}/serviceAccounts")["accounts"]) == 1
    assert manager.done("GET", f"{IAM}/{POOLS}") == {}
