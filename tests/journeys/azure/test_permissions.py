"""Who may do it: the least role that is printed is enough and hardly more, and what is lacking is said before anything is written."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.sandbox.azure.world import CLIENT, OPERATOR, SUBSCRIPTION
from tests.journeys import denial
from tests.journeys.azure import by_hand
from tests.journeys.azure.by_hand import CONTRIBUTOR, READER, group_id, tags
from tests.journeys.azure.conftest import Enter
from tests.journeys.azure.ground import (
    ACCOUNT,
    CONTAINER,
    GROUP,
    INGRESS,
    NAME,
    NOTHING,
    REGISTRY,
    SITE,
    WHOLE,
    AzureGround,
)
from tests.journeys.ground import Done
from tests.journeys.turns import made, rotate

COMMANDS = ("create", "status", "delete", "rotate")
PERMISSIONS = f"azure/permissions/{CLIENT}"
IDENTITY, ASSIGNMENT = (
    "Microsoft.ManagedIdentity/userAssignedIdentities",
    "Microsoft.Authorization/roleAssignments",
)


def role(ground: AzureGround, command: str) -> Any:
    done = ground.cwiictl("permissions", command, *ground.where)
    assert done.code == 0, done.err
    return done.data


def printed(ground: AzureGround, command: str) -> set[str]:
    """What it gives; which is also a role that Azure would take."""
    told = role(ground, command)
    assert told["IsCustom"] is True
    assert told["AssignableScopes"] == [WHOLE]
    assert not any("*" in action for action in (*told["Actions"], *told["DataActions"]))
    return {action.lower() for action in (*told["Actions"], *told["DataActions"])}


def needed(ground: AzureGround) -> set[str]:
    """Of all that was asked, whoever refused it, by cwiictl."""
    return {
        permission.lower()
        for seen in ground.sandbox.record[ground.before :]
        for permission in seen.permissions
    }


def _drift(ground: AzureGround) -> None:
    """Of everything, so that a run has to write all that it ever writes."""
    ground.arm("PATCH", group_id(GROUP), {"tags": tags(NAME, Name="theirs")})
    ground.changed(
        by_hand.account_id(ACCOUNT), minimumTlsVersion="TLS1_0", allowSharedKeyAccess=True
    )
    by_hand.upload(ground, (ACCOUNT, CONTAINER), "openid/v1/jwks", b'{"keys": []}')
    by_hand.a_container(
        ground,
        ACCOUNT,
        CONTAINER,
        public="None",
        cwii_mark=f"cwii.dev/cluster/{NAME}=owned cwii.dev/origin=create-all",
    )
    credential = {
        "issuer": "https://another.example.org",
        "subject": "x",
        "audiences": ["openshift"],
    }
    ground.arm(
        "PUT",
        f"{by_hand.identity_id(INGRESS)}/federatedIdentityCredentials/theirs",
        {"properties": credential},
    )
    found = ground.arm("GET", by_hand.identity_id(REGISTRY))
    ground.arm(
        "PUT", by_hand.identity_id(REGISTRY), {**found, "tags": {**found["tags"], "Name": "theirs"}}
    )
    by_hand.assigned(ground, group_id(SITE), READER, found["properties"]["principalId"])
    (own,) = ground.custom_roles()
    own["properties"]["permissions"][0]["actions"] = ["Microsoft.Storage/storageAccounts/read"]
    ground.arm("PUT", f"{WHOLE}/{by_hand.ROLES}/{own['name']}", {"properties": own["properties"]})


# What this journey does not need: nobody looks for an account that is not there, and no identity and no role is let go of.
LOOKED_FOR = "microsoft.storage/checknameavailability/read"
LET_GO = {f"{IDENTITY}/write".lower(), "microsoft.authorization/roledefinitions/write"}
UNUSED: dict[str, set[str]] = {
    "create": set(),
    "status": {LOOKED_FOR},
    "delete": {LOOKED_FOR, *LET_GO},
}


def test_the_printed_role_is_enough_for_every_command_and_holds_nothing_unheard_of(
    ground: AzureGround,
) -> None:
    """Made, found, drifted in everything, repaired and taken down, by who may write blobs and by who may not."""
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
    step("delete", ground.delete("--yes", "--delete-oidc-resource-group"), 0)
    assert ground.clouds() == NOTHING

    brought = (
        "--oidc-resource-group-name",
        "house",
        "--storage-account-name",
        "house",
        "--blob-container-name",
        "house",
    )
    by_hand.a_group(ground, "house")
    by_hand.an_account(ground, "house", "house", allowBlobPublicAccess=True)
    by_hand.a_container(ground, "house", "house", "house")
    ground.fresh()
    step("create", ground.create_all(*brought), 0)
    step("delete", ground.delete("--yes"), 0)

    assert {
        command: roles[command] - asked for command, asked in used.items() if command != "rotate"
    } == UNUSED


def test_status_and_the_reading_of_others_may_write_nothing(ground: AzureGround) -> None:
    assert all(action.endswith("/read") for action in printed(ground, "status"))


def test_it_asks_no_cloud(ground: AzureGround) -> None:
    assert role(ground, "create")["Name"] == f"cwiictl create {NAME}"
    assert ground.asked() == []


# --- denial ---


def test_what_is_lacking_is_named_before_the_first_write(enter: Enter) -> None:
    ground = enter(deny=frozenset({f"{IDENTITY}/write", f"{ASSIGNMENT}/write"}))

    denial.foreseen(
        ground, PERMISSIONS, f"{CLIENT} may not do {ASSIGNMENT}/write, {IDENTITY}/write", NOTHING
    )


def test_who_may_not_make_a_group_is_told_so_where_one_is_missing_and_not_where_it_is_there(
    enter: Enter,
) -> None:
    ground = enter()
    ground.sandbox.faults.deny = {"Microsoft.Resources/subscriptions/resourceGroups/write"}
    done = ground.create_all()
    assert done.code == 1
    assert "may not do Microsoft.Resources/subscriptions/resourceGroups/write" in done.out
    assert ground.mutating() == []

    ground.sandbox.faults.deny = set()
    by_hand.a_group(ground, GROUP, {**tags(NAME)})
    by_hand.a_group(ground, SITE, tags(NAME))
    ground.sandbox.faults.deny = {"Microsoft.Resources/subscriptions/resourceGroups/write"}
    assert ground.create_all().code == 0


def test_who_lacks_what_nothing_needs_today_is_not_stopped(ground: AzureGround) -> None:
    ground.create_all()
    ground.sandbox.faults.deny = {"*/write", "*/delete"}
    ground.fresh()

    assert ground.create_all().code == 0
    assert ground.status().code == 0
    assert ground.mutating() == []


@pytest.mark.parametrize(
    ("denied", "thing", "condition"),
    [
        (f"{IDENTITY}/write", f"azure/identity/{GROUP}/{INGRESS}", "failed"),
        (
            f"{IDENTITY}/federatedIdentityCredentials/write",
            f"azure/identity/{GROUP}/{INGRESS}",
            "unfinished",
        ),
        (f"{ASSIGNMENT}/write", f"azure/role-assignments/{GROUP}/{INGRESS}", "failed"),
        (
            "Microsoft.Authorization/roleDefinitions/write",
            f"azure/custom-role/{REGISTRY}",
            "failed",
        ),
        (
            "Microsoft.Storage/storageAccounts/write",
            f"azure/storage-account/{GROUP}/{ACCOUNT}",
            "failed",
        ),
    ],
)
def test_a_denial_that_could_not_be_foreseen_names_the_action_and_stops_no_stranger(
    enter: Enter, denied: str, thing: str, condition: str
) -> None:
    """As where who runs this may not ask what they may."""
    denial.unforeseen(
        enter(deny=frozenset({"Microsoft.Authorization/permissions/read", denied})),
        denied,
        thing,
        condition,
    )


def test_a_delete_that_lacks_something_says_so_before_anything_is_dropped(
    ground: AzureGround,
) -> None:
    ground.create_all()
    ground.sandbox.faults.deny = {f"{IDENTITY}/delete"}

    denial.not_dropped(
        ground,
        PERMISSIONS,
        f"{CLIENT} may not do {IDENTITY}/delete, which taking these things down needs",
    )


def test_a_delete_that_was_denied_what_nobody_could_foresee_names_the_action_and_the_issuer_stays(
    ground: AzureGround,
) -> None:
    ground.create_all()
    ground.sandbox.faults.deny = {"Microsoft.Authorization/permissions/read", f"{IDENTITY}/delete"}

    done = ground.delete("--yes", "--delete-oidc-resource-group")

    assert done.code == 1
    assert done.things[f"azure/identity/{GROUP}/{INGRESS}"] == "failed"
    assert f"{IDENTITY}/delete" in done.out
    assert (
        done.things[f"azure/storage-account/{GROUP}/{ACCOUNT}"] == "not tried"
    )  # whoever takes its name would be believed
    left = ground.clouds()
    assert sorted(left["identities"]) == sorted([INGRESS, REGISTRY])
    assert list(left["accounts"]) == [ACCOUNT]
    ground.sandbox.faults.deny = set()
    assert ground.delete("--yes", "--delete-oidc-resource-group").code == 0
    assert ground.clouds() == NOTHING


def test_the_printed_role_itself_lets_one_make_all_of_it(ground: AzureGround) -> None:
    """And no more than Contributor, which owners of a subscription often give, and which may not give roles: that is said beforehand."""
    told = role(ground, "create")
    assert not {
        action for action in told["Actions"] if action.lower().startswith("microsoft.compute")
    }
    whole = next(
        each
        for each in ground.listed(f"{WHOLE}/providers/Microsoft.Authorization/roleAssignments")
        if each["properties"]["principalId"] == OPERATOR
    )
    contributor = by_hand.assigned(
        ground, WHOLE, CONTRIBUTOR, OPERATOR, principalType="ServicePrincipal"
    )
    ground.arm("DELETE", whole["id"])
    ground.fresh()

    done = ground.create_all()

    assert done.code == 1
    assert (
        f"{CLIENT} may not do Microsoft.Authorization/roleAssignments/delete, Microsoft.Authorization/roleAssignments/write"
        in done.out
    )
    assert ground.mutating() == []
    assert contributor.startswith(f"/subscriptions/{SUBSCRIPTION}/")


def test_who_may_only_rotate_keys_can(ground: AzureGround) -> None:
    made(ground)

    assert rotate(ground, "add").code == 0
    lending = {f"microsoft.authorization/roleassignments/{verb}" for verb in ("write", "delete")}
    assert needed(ground) - lending <= printed(ground, "rotate"), (
        "who has it need not lend it to themselves"
    )
