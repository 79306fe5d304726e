"""Who may do it: the least role that is printed is enough and hardly more, and what is lacking is said before anything is written."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.sandbox.gcp.world import OPERATOR, PROJECT, SECOND
from tests.journeys import denial
from tests.journeys.gcp import by_hand
from tests.journeys.gcp.by_hand import IMPERSONATE
from tests.journeys.gcp.conftest import Enter
from tests.journeys.gcp.ground import (
    ACCOUNTS,
    BUCKET,
    DISCOVERY,
    INGRESS,
    JWKS,
    LEFT,
    NAME,
    NOTHING,
    PERMISSIONS,
    POOL,
    POOLS,
    PROVIDER,
    REGISTRY,
    SHARED,
    GcpGround,
)
from tests.journeys.ground import Done
from tests.journeys.turns import made, rotate

COMMANDS = ("create", "status", "delete", "rotate")
APIS = ["cloudresourcemanager", "iam", "iamcredentials", "sts", "storage"]


def role(ground: GcpGround, command: str, *options: str) -> Any:
    done = ground.cwiictl("permissions", command, *ground.where, *options)
    assert done.code == 0, done.err
    return done.data


def printed(ground: GcpGround, command: str) -> set[str]:
    told = role(ground, command)
    assert told["stage"] == "GA"
    assert not any("*" in each for each in told["includedPermissions"])
    return set(told["includedPermissions"])


def needed(ground: GcpGround) -> set[str]:
    """Of all that was asked, whoever refused it, by cwiictl."""
    return {
        _named(permission)
        for seen in ground.sandbox.record[ground.before :]
        for permission in seen.permissions
    }


def _named(permission: str) -> str:
    """Google calls those of pools by two names, of which only one can be in a role."""
    return permission.replace("iam.workloadIdentityPool", "iam.googleapis.com/workloadIdentityPool")


def _drift(ground: GcpGround) -> None:
    """Of everything, so that a run has to write all that it ever writes."""
    by_hand.bucket(ground, BUCKET, labels={"name": "theirs"})
    by_hand.set_access(
        ground,
        BUCKET,
        [each for each in by_hand.access(ground, BUCKET) if "allUsers" not in each["members"]],
    )
    by_hand.upload(ground, BUCKET, DISCOVERY, "{}", "application/json")
    by_hand.pool(ground, displayName="theirs")
    by_hand.provider(ground, disabled=True)
    for title in (INGRESS, REGISTRY):
        by_hand.trust(
            ground,
            ground.account(title),
            [{"role": IMPERSONATE, "members": [f"serviceAccount:{OPERATOR}"]}],
        )
    ground.rest("POST", "iam", f"{ACCOUNTS}/{ground.account(INGRESS)}:disable", {})
    by_hand.account(
        ground,
        ground.account(REGISTRY),
        displayName=f"{REGISTRY} ",
        description="cwii.dev/cluster/demo=owned cwii.dev/origin=create-all",
    )
    by_hand.role(ground, SHARED, includedPermissions=["storage.buckets.get"])
    by_hand.revoked(ground, "roles/dns.admin", f"serviceAccount:{ground.account(INGRESS)}")


# What this journey does not need: one thing is read by itself only where it alone is asked for, or where Google is late; what lies in a bucket is looked at
# only where it may be another's; to write over an object is to delete it, which the sandbox does not ask for; nothing adopted is let go of; all APIs are on.
ALONE = {"iam.roles.get", "iam.serviceAccounts.get"}
LET_GO = {
    "iam.googleapis.com/workloadIdentityPoolProviders.update",
    "iam.roles.update",
    "iam.serviceAccounts.update",
}
QUOTA = "serviceusage.services.use"  # of a person's credentials, which are no project's
UNUSED: dict[str, set[str]] = {
    "create": {*ALONE, QUOTA, "storage.objects.delete"},
    "status": {*ALONE, QUOTA, "storage.objects.list"},
    "delete": {"iam.roles.get", *LET_GO, QUOTA, "serviceusage.services.get"},
}


def test_the_printed_role_is_enough_for_every_command_and_holds_nothing_unheard_of(
    ground: GcpGround,
) -> None:
    """Made, found, drifted in everything, deleted behind our back, repaired and taken down; and in a pool and a bucket of the user's own."""
    roles = {command: printed(ground, command) for command in COMMANDS}
    used: dict[str, set[str]] = {command: set() for command in roles}

    def step(command: str, done: Done, *codes: int) -> None:
        assert done.code in codes, done.out
        used[command] |= needed(ground)
        assert needed(ground) <= roles[command], needed(ground) - roles[command]
        ground.fresh()

    ground.fresh()
    step("create", ground.create_all(), 0)
    step("status", ground.status(), 0)
    step("status", ground.verify(), 0)
    _drift(ground)
    ground.fresh()
    step("status", ground.status(), 3)
    step("create", ground.create_all("--replace-keys", "--user-tags", "a=b"), 0)
    by_hand.gone(ground, f"{POOLS}/{POOL}/providers/{PROVIDER}")
    by_hand.gone(ground, f"{POOLS}/{POOL}")
    by_hand.gone(ground, f"/v1/projects/{PROJECT}/roles/{SHARED}")
    ground.fresh()
    step("create", ground.create_all(), 0)
    step("delete", ground.delete("--yes", "--delete-shared-roles"), 0)
    assert ground.clouds() == NOTHING

    house = ("--workload-identity-pool", "house", "--workload-identity-provider", "ours")
    by_hand.a_pool(ground, "house")
    by_hand.a_bucket(ground, "house-bucket", public=True)
    ground.fresh()
    step("create", ground.create_all(*house, "--gcs-bucket", "house-bucket"), 0)
    step("delete", ground.delete("--yes", *house), 0)

    assert {
        command: roles[command] - asked for command, asked in used.items() if command != "rotate"
    } == UNUSED


def test_status_may_write_nothing_and_nobody_is_asked(ground: GcpGround) -> None:
    assert all(
        each.rpartition(".")[2] in {"get", "list", "getIamPolicy", "use"}
        for each in printed(ground, "status")
    )
    assert role(ground, "create")["title"] == f"cwiictl create {NAME}"
    assert "serviceusage.services.enable" not in printed(ground, "create")
    assert (
        "serviceusage.services.enable"
        in role(ground, "create", "--enable-apis")["includedPermissions"]
    )
    assert ground.asked() == []


def test_the_printed_role_itself_lets_one_make_all_of_it_and_take_it_down(
    ground: GcpGround,
) -> None:
    permissions = sorted(printed(ground, "create") | printed(ground, "delete"))
    name = by_hand.a_role(ground, "least", tuple(permissions))
    operator = f"serviceAccount:{OPERATOR}"
    by_hand.granted(ground, name, operator)
    by_hand.revoked(ground, "roles/owner", operator)

    assert ground.create_all().code == 0
    assert ground.status().code == 0
    assert ground.delete("--yes").code == 0

    by_hand.granted(ground, "roles/owner", operator)
    by_hand.revoked(ground, name, operator)
    by_hand.gone(ground, f"/v1/{name}")
    assert ground.clouds() == LEFT


# --- denial ---


def test_what_is_lacking_is_named_before_the_first_write_and_stops_nobody_who_needs_it_no_more(
    enter: Enter,
) -> None:
    ground = enter(
        deny=frozenset({"iam.serviceAccounts.create", "resourcemanager.projects.setIamPolicy"})
    )

    denial.foreseen(
        ground,
        PERMISSIONS,
        f"{OPERATOR} may not do iam.serviceAccounts.create, resourcemanager.projects.setIamPolicy",
        NOTHING,
    )

    ground.sandbox.faults.deny = set()
    assert ground.create_all().code == 0
    ground.sandbox.faults.deny = {
        "iam.serviceAccounts.create",
        "resourcemanager.projects.setIamPolicy",
    }
    ground.fresh()
    assert ground.create_all().code == ground.status().code == 0
    assert ground.mutating() == []


@pytest.mark.parametrize(
    ("denied", "thing", "condition"),
    [
        ("storage.buckets.setIamPolicy", f"gcp/bucket/{BUCKET}", "unfinished"),
        ("storage.objects.create", f"gcp/key-set/{BUCKET}/{JWKS}", "failed"),
    ],
)
def test_a_denial_that_could_not_be_foreseen_names_the_permission_and_stops_no_stranger(
    ground: GcpGround, denied: str, thing: str, condition: str
) -> None:
    """As of what is in a bucket, which an owner of the project may do by the bucket's own policy."""
    ground.sandbox.faults.deny = {denied}

    denial.unforeseen(ground, denied, thing, condition)


def test_a_denied_delete_names_the_permission_and_the_issuer_stays(ground: GcpGround) -> None:
    ground.create_all()
    ground.fresh()
    ground.sandbox.faults.deny = {"iam.googleapis.com/workloadIdentityPools.delete"}

    done = ground.delete("--yes")

    assert done.code == 1
    assert set(done.things.values()) == {"failed", "not tried"}
    assert done.things[f"gcp/pool/{POOL}"] == "not tried"
    assert ground.mutating() == []
    assert (
        "iam.workloadIdentityPools.delete" in done.out
        or "iam.googleapis.com/workloadIdentityPools.delete" in done.out
    )
    assert (
        done.things[f"gcp/bucket/{BUCKET}"] == "not tried"
    )  # whoever takes its name would be believed
    ground.sandbox.faults.deny = set()
    assert ground.delete("--yes").code == 0
    assert ground.clouds() == LEFT


# --- APIs that are off ---


def test_apis_that_are_off_are_named_all_at_once_before_the_first_write_and_turned_on_when_that_is_asked_for(
    ground: GcpGround,
) -> None:
    """In a project that has nothing on but what tells that."""
    there = ("--cloud", "gcp", "--name", NAME, "--project", SECOND)
    command = ("create-all", *there, *ground.asking, "--bits", "2048")

    done = ground.cwiictl(*command, "-o", "text")
    assert done.code == 2, done.out
    services = " ".join(f"{api}.googleapis.com" for api in APIS)
    assert (
        f"gcloud services enable {services} --project {SECOND}, or run with --enable-apis"
        in done.err
    )
    assert done.err.count("Error: ") == 1
    assert ground.mutating() == []
    assert not (ground.folder / "out").exists()

    done = ground.cwiictl(*command, "--enable-apis", "-o", "json")
    assert done.code == 0, done.out
    assert {thing for thing, condition in done.things.items() if condition == "repaired"} == {
        f"gcp/api/{api}.googleapis.com" for api in APIS
    }
    assert ground.cwiictl("status", *there, *ground.asking).code == 0
    assert ground.cwiictl("delete", *there, "--yes").code == 0


def test_who_may_only_rotate_keys_can(ground: GcpGround) -> None:
    made(ground)

    assert rotate(ground, "add").code == 0
    assert needed(ground) <= printed(ground, "rotate")
