"""gRPC through the door: google-cloud-iam as it is, answered by what answers REST."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from google.api_core import exceptions
from google.cloud import iam_admin_v1
from google.iam.v1 import policy_pb2  # pyright: ignore[reportMissingTypeStubs] - it has none

from cwiictl.sandbox.gcp.world import OPERATOR, PROJECT
from tests.cwiictl.sandbox.gcp.owner import ACCOUNT, IAM, Begin, Owner

WHERE = f"projects/{PROJECT}"
NAME = f"{WHERE}/serviceAccounts/{ACCOUNT}"


def create(owner: Owner, name: str = "csi-driver") -> Any:
    return owner.iam.create_service_account(
        request={"name": WHERE, "account_id": name, "service_account": {"display_name": "CSI"}},
        retry=None,
    )


def test_a_service_account_is_the_same_over_grpc_and_over_rest(owner: Owner) -> None:
    made = create(owner)
    assert (made.email, made.display_name) == (ACCOUNT, "CSI")
    told = owner.session.get(f"{IAM}/serviceAccounts/{ACCOUNT}").json()
    assert (told["uniqueId"], told["displayName"]) == (made.unique_id, "CSI")
    assert ACCOUNT in [
        one.email for one in owner.iam.list_service_accounts(request={"name": WHERE})
    ]


def test_what_is_changed_is_what_the_mask_names(owner: Owner) -> None:
    create(owner)
    wish = {
        "service_account": {"name": NAME, "description": "drives", "display_name": "other"},
        "update_mask": {"paths": ["description"]},
    }
    owner.iam.patch_service_account(request=wish)
    found = owner.iam.get_service_account(request={"name": NAME})
    assert (found.description, found.display_name) == ("drives", "CSI")


def test_a_policy_is_read_and_written_with_its_etag_and_conditions(owner: Owner) -> None:
    create(owner)
    asked: Any = {"resource": NAME, "options": {"requested_policy_version": 3}}
    policy = owner.iam.get_iam_policy(request=asked)
    stale = owner.iam.get_iam_policy(request=asked)
    binding: Any = policy_pb2.Binding(
        role="roles/iam.workloadIdentityUser", members=[f"serviceAccount:{OPERATOR}"]
    )
    binding.condition.title, binding.condition.expression = "always", "true"
    policy.bindings.append(binding)
    policy.version = 3
    owner.iam.set_iam_policy(request={"resource": NAME, "policy": policy})
    found = owner.iam.get_iam_policy(request=asked)
    assert (found.version, found.bindings[0].condition.title) == (3, "always")
    assert (
        owner.iam.get_iam_policy(request={"resource": NAME})
        .bindings[0]
        .role.startswith("roles/iam.workloadIdentityUser_withcond_")
    )
    stale.version = 3
    with pytest.raises(exceptions.Aborted, match="There were concurrent policy changes"):
        owner.iam.set_iam_policy(request={"resource": NAME, "policy": stale}, retry=None)


def test_a_role_lives_and_dies(owner: Owner) -> None:
    role = f"{WHERE}/roles/cwii_csi"
    wish = {
        "title": "CSI",
        "included_permissions": ["storage.buckets.get"],
        "stage": iam_admin_v1.Role.RoleLaunchStage.GA,
    }
    owner.iam.create_role(request={"parent": WHERE, "role_id": "cwii_csi", "role": wish})
    owner.iam.update_role(
        request={"name": role, "role": {"title": "New"}, "update_mask": {"paths": ["title"]}}
    )
    found = owner.iam.get_role(request={"name": role})
    assert (found.title, list(found.included_permissions)) == ("New", ["storage.buckets.get"])
    assert owner.iam.delete_role(request={"name": role}).deleted
    assert [one.name for one in owner.iam.list_roles(request={"parent": WHERE})] == []
    assert [
        one.name for one in owner.iam.list_roles(request={"parent": WHERE, "show_deleted": True})
    ] == [role]
    assert not owner.iam.undelete_role(request={"name": role}).deleted


def test_permissions_are_tested(begin: Begin) -> None:
    owner = begin(deny=frozenset({"iam.serviceAccounts.delete"}))
    create(owner)
    asked = ["iam.serviceAccounts.get", "iam.serviceAccounts.delete"]
    assert (
        list(
            owner.iam.test_iam_permissions(
                request={"resource": NAME, "permissions": asked}
            ).permissions
        )
        == asked[:1]
    )


def _twice(owner: Owner) -> None:
    create(owner)
    create(owner)


def _invalid(owner: Owner) -> None:
    create(owner, "X")


def _missing(owner: Owner) -> None:
    owner.iam.get_service_account(request={"name": NAME}, retry=None)


def _off(owner: Owner) -> None:
    owner.project.services.pop("iam.googleapis.com")
    create(owner)


def _denied(owner: Owner) -> None:
    owner.sandbox.faults.deny = {"iam.serviceAccounts.create"}
    create(owner)


def _expired(owner: Owner) -> None:
    owner.refresh(owner.credentials)
    owner.sandbox.faults.expired = True
    create(owner)


@pytest.mark.parametrize(
    ("act", "error", "words"),
    [
        (_twice, exceptions.AlreadyExists, "already exists within project"),
        (_invalid, exceptions.InvalidArgument, "X"),
        (_missing, exceptions.NotFound, "nknown service account"),
        (_off, exceptions.PermissionDenied, "has not been used in project"),
        (
            _denied,
            exceptions.PermissionDenied,
            r"Permission 'iam\.serviceAccounts\.create' denied on resource",
        ),
        (_expired, exceptions.Unauthenticated, "Request had invalid authentication credentials"),
    ],
)
def test_a_refusal_has_its_code(
    owner: Owner, act: Callable[[Owner], None], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        act(owner)


def test_a_refusal_tells_programs_why(owner: Owner) -> None:
    with pytest.raises(exceptions.PermissionDenied) as caught:
        _off(owner)
    told: Any = caught.value
    assert (told.reason, told.domain, told.metadata["service"]) == (
        "SERVICE_DISABLED",
        "googleapis.com",
        "iam.googleapis.com",
    )


@pytest.mark.parametrize("seed", range(6))
def test_faults_come_over_grpc_too(begin: Begin, seed: int) -> None:
    owner = begin(seed=seed)
    owner.refresh(owner.credentials)
    owner.sandbox.faults.rate = 1.0
    with pytest.raises(
        (
            exceptions.ResourceExhausted,
            exceptions.ServiceUnavailable,
            exceptions.InternalServerError,
        )
    ):
        create(owner)
    assert ACCOUNT not in owner.world.accounts


def test_calls_are_recorded_as_what_they_are(owner: Owner) -> None:
    create(owner)
    owner.iam.get_iam_policy(request={"resource": NAME})
    seen = [
        (one.host, one.action, one.status, one.mutating)
        for one in owner.sandbox.record
        if one.host == "iam.googleapis.com"
    ]
    assert seen == [
        ("iam.googleapis.com", "iam.serviceAccounts.create", 200, True),
        ("iam.googleapis.com", "iam.serviceAccounts.getIamPolicy", 200, False),
    ]


def test_the_nth_write_is_the_last_that_is_carried_out(owner: Owner) -> None:
    ended = threading.Event()
    owner.sandbox.faults.on_end = ended.set
    owner.sandbox.faults.end_after = 2
    create(owner)
    for name in ("second-one", "third-one"):
        with pytest.raises(exceptions.ServiceUnavailable):
            create(owner, name)
    assert ended.is_set()
    assert set(owner.world.accounts) == {
        OPERATOR,
        ACCOUNT,
        f"second-one@{PROJECT}.iam.gserviceaccount.com",
    }


def test_what_iam_does_not_have_is_unimplemented(owner: Owner) -> None:
    with pytest.raises(exceptions.MethodNotImplemented):
        owner.iam.lint_policy(request={"full_resource_name": NAME}, retry=None)


def test_many_call_at_once(owner: Owner) -> None:
    owner.sandbox.faults.latency = 0.2
    names = [f"account-{number}" for number in range(20)]
    threads = [threading.Thread(target=create, args=(owner, name)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert {f"{name}@{PROJECT}.iam.gserviceaccount.com" for name in names} < set(
        owner.world.accounts
    )


CHILD = """
from google.cloud import iam_admin_v1
client = iam_admin_v1.IAMClient()
made = client.create_service_account(request={"name": "projects/cwii-sandbox", "account_id": "csi-driver"})
print(made.email)
"""


def test_the_sdk_finds_its_way_by_the_environment_alone(owner: Owner) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        env=owner.sandbox.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.strip() == ACCOUNT, done.stderr


def test_large_messages_go_both_ways(owner: Owner) -> None:
    create(owner)
    owner.world.accounts[ACCOUNT].description = "x" * 2_000_000
    assert len(owner.iam.get_service_account(request={"name": NAME}).description) == 2_000_000
    wish = {
        "service_account": {"name": NAME, "description": "y" * 2_000_000},
        "update_mask": {"paths": ["description"]},
    }
    with pytest.raises(exceptions.InvalidArgument):
        owner.iam.patch_service_account(request=wish)


def test_a_sandbox_ends_at_once_while_somebody_calls(begin: Begin) -> None:
    owner = begin()
    create(owner)
    start = time.monotonic()
    owner.sandbox._held.close()  # pyright: ignore[reportPrivateUsage] - the double is looked into from here alone
    assert time.monotonic() - start < 2


def test_who_speaks_http_1_1_is_not_talked_to_in_another_way(owner: Owner) -> None:
    """The same host, the same moment: calls and requests."""
    create(owner)
    answer = owner.session.get(f"{IAM}/serviceAccounts/{ACCOUNT}")
    raw: Any = answer.raw
    assert (answer.status_code, raw.version) == (200, 11)
