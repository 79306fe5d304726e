"""Policies: etags, conditions, and whom and what they may name."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.sandbox.gcp.world import PROJECT
from tests.cwiictl.sandbox.front import Clock
from tests.cwiictl.sandbox.gcp.manager import HERE, IAM, MANAGER, OPERATORS, Manager, binding, timed
from tests.cwiictl.sandbox.gcp.owner import NUMBER, Begin, Owner

EMAIL = f"cwii-one@{PROJECT}.iam.gserviceaccount.com"
MEMBER = f"serviceAccount:{EMAIL}"
ACCOUNT = f"{IAM}/{HERE}/serviceAccounts/{EMAIL}"
GET = "resourcemanager.projects.get"
CONDITION = 'resource.name.startsWith("projects/cwii-sandbox")'


@pytest.fixture
def manager(owner: Owner) -> Manager:
    made = Manager(owner)
    made.account()
    return made


def test_who_writes_after_somebody_else_is_told(manager: Manager) -> None:
    read = manager.policy()
    manager.set(binding("roles/viewer", MEMBER))
    status, code, message = manager.unset(etag=read["etag"])
    assert (status, code) == (409, "ABORTED")
    assert message.startswith(
        "There were concurrent policy changes. Please retry the whole read-modify-write with exponential backoff."
    )
    assert len(manager.policy()["bindings"]) == 2
    manager.set(etag=manager.policy()["etag"])
    assert manager.policy()["bindings"] == [OPERATORS]


def test_without_an_etag_everything_is_overwritten(manager: Manager) -> None:
    manager.set(binding("roles/browser", MEMBER, condition=CONDITION), version=3)
    manager.set()
    assert manager.policy()["bindings"] == [OPERATORS]


def test_conditions_are_hidden_from_who_does_not_know_them(manager: Manager) -> None:
    manager.set(binding("roles/storage.admin", MEMBER, condition=CONDITION), version=3)
    known, unknown = manager.policy(), manager.policy(version=1)
    assert (known["version"], known["bindings"][1]["condition"]) == (
        3,
        {"title": "some", "expression": CONDITION},
    )
    assert unknown["version"] == 1
    assert unknown["bindings"][1]["role"].startswith("roles/storage.admin_withcond_")
    assert "condition" not in unknown["bindings"][1]


def test_who_does_not_know_conditions_does_not_remove_them(manager: Manager) -> None:
    manager.set(binding("roles/storage.admin", MEMBER, condition=CONDITION), version=3)
    read = manager.policy(version=1)
    words = (
        "Specified policy version (1) cannot be less than the existing policy version (3). For more information, please refer to"
        " https://cloud.google.com/iam/docs/policies#versions."
    )
    assert manager.unset(etag=read["etag"], version=1) == (400, "INVALID_ARGUMENT", words)
    assert manager.unset(*read["bindings"][1:])[:2] == (400, "INVALID_ARGUMENT")
    assert (
        manager.unset(binding("roles/storage.admin", MEMBER, condition=CONDITION), version=1)[0]
        == 400
    )
    assert len(manager.policy()["bindings"]) == 2


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (CONDITION, True),
        ('resource.name.startsWith("projects/cwii-second")', False),
        ('resource.type == "storage.googleapis.com/Bucket"', False),
        ('request.time < timestamp("2000-01-01T00:00:00Z")', False),
        ('request.time > timestamp("2000-01-01T00:00:00Z") && true', True),
        ("nonsense(", False),
    ],
)
def test_a_binding_holds_under_its_condition(
    manager: Manager, condition: str, *, holds: bool
) -> None:
    manager.set(binding("roles/browser", MEMBER, condition=condition), version=3)
    assert manager.other(EMAIL).tested(GET) == [GET] * holds


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (binding("roles/viewer", "serviceAccount:nobody@cwii-sandbox.iam.gserviceaccount.com"),
         "Service account nobody@cwii-sandbox.iam.gserviceaccount.com does not exist."),
        (binding("roles/viewer", "somebody"), 'Policy members must be of the form "<type>:<value>".'),
        (binding("roles/nonsense", MEMBER), "Role roles/nonsense is not supported for this resource."),
        (binding(f"{HERE}/roles/nonsense", MEMBER), f"Role ({HERE}/roles/nonsense) does not exist in the resource's hierarchy."),
        (binding("roles/viewer", "allUsers"), "Member allUsers is not supported for this resource."),
        (binding("roles/viewer", MEMBER, condition=CONDITION), "Conditions can't be set on primitive roles"),
        (binding("roles/viewer", "principal://nonsense"), "Invalid principal identifier: principal://nonsense"),
        (binding("roles/viewer", *(f"user:{number}@example.org" for number in range(1500))),
         "The number of members in the policy (1,501) is larger than the maximum allowed size 1,500."),
    ],
)  # fmt: skip
def test_whom_and_what_a_policy_cannot_name(
    manager: Manager, given: dict[str, Any], words: str
) -> None:
    assert manager.unset(given, version=3) == (400, "INVALID_ARGUMENT", words)
    assert manager.policy()["bindings"] == [OPERATORS]


def test_a_policy_is_never_missing(manager: Manager) -> None:
    assert manager.refused("POST", f"{MANAGER}/{HERE}:setIamPolicy", {})[:2] == (
        400,
        "INVALID_ARGUMENT",
    )
    assert (
        manager.refused("POST", f"{MANAGER}/{HERE}:setIamPolicy", {"policy": {"binding": []}})[0]
        == 400
    )
    assert manager.policy()["bindings"] == [OPERATORS]


def test_googles_own_agents_and_strangers_may_be_named(manager: Manager) -> None:
    members = [
        "group:a@example.org",
        f"serviceAccount:{NUMBER}-compute@developer.gserviceaccount.com",
        "user:a@example.org",
    ]
    manager.set(binding("roles/viewer", *reversed(members)))
    assert manager.policy()["bindings"][1]["members"] == members


def test_the_principals_of_a_pool_that_is_not_there_cannot_be_named(manager: Manager) -> None:
    pool = f"projects/{NUMBER}/locations/global/workloadIdentityPools/cluster"
    user = binding(
        "roles/iam.workloadIdentityUser",
        f"principal://iam.googleapis.com/{pool}/subject/system:serviceaccount:n:s",
    )
    code, message = manager.unset(user, where=ACCOUNT)[1:]
    assert (code, message.startswith(f"Identity Pool does not exist ({pool}).")) == (
        "INVALID_ARGUMENT",
        True,
    )
    manager.pool()
    manager.set(user, where=ACCOUNT)
    assert user in manager.policy(ACCOUNT)["bindings"]


def test_bindings_of_the_same_role_are_one_and_empty_ones_none(manager: Manager) -> None:
    manager.set(
        binding("roles/viewer", "user:a@example.org"),
        binding("roles/browser"),
        binding("roles/viewer", MEMBER),
    )
    assert manager.policy()["bindings"][1:] == [
        binding("roles/viewer", MEMBER, "user:a@example.org")
    ]


def test_a_grant_and_its_end_take_effect_after_the_lag(begin: Begin) -> None:
    clock = Clock()
    manager = timed(begin, clock)
    manager.account()
    other = manager.other(EMAIL)
    manager.owner.sandbox.faults.lag = 5
    clock.now += 5
    manager.set(binding("roles/viewer", MEMBER))
    clock.now += 3
    manager.set(binding("roles/viewer", MEMBER), binding("roles/browser", "user:a@example.org"))
    assert other.tested(GET) == []
    assert len(manager.policy()["bindings"]) == 3
    clock.now += 2
    assert other.tested(GET) == [GET]
    manager.set()
    assert other.tested(GET) == [GET]
    clock.now += 5
    assert other.tested(GET) == []


def test_domain_restricted_sharing_refuses_everybody(manager: Manager) -> None:
    manager.owner.project.domains_only = True
    words = "One or more users named in the policy do not belong to a permitted customer."
    public = binding("roles/iam.serviceAccountTokenCreator", "allAuthenticatedUsers")
    assert manager.unset(public, where=ACCOUNT) == (400, "FAILED_PRECONDITION", words)
    manager.owner.project.domains_only = False
    manager.set(public, where=ACCOUNT)
