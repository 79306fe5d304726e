"""`create-identities --preset hypershift-azure`: what `hypershift create iam azure` makes, made like everything else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cwiictl.sandbox.azure.world import SUBSCRIPTION
from tests.journeys.azure.ground import ISSUER as HOSTED
from tests.journeys.azure.ground import NOTHING, WHOLE, AzureGround
from tests.journeys.ground import Done

ISSUER = "https://issuer.example.org"
GROUPS = ("demo-x7k2p", "demo-vnet-x7k2p", "demo-nsg-x7k2p", "dns")
SET = ("--set", "infraID=x7k2p", "--set", "dnsResourceGroup=dns")
COMPONENTS = {
    "disk": "disk",
    "file": "file",
    "imageRegistry": "image-registry",
    "ingress": "ingress",
    "cloudProvider": "cloud-provider",
    "nodePoolManagement": "node-pool-mgmt",
    "network": "network",
    "controlPlaneOperator": "control-plane-operator",
}


def run(ground: AzureGround, *arguments: str | Path) -> Done:
    preset = (
        "--preset",
        "hypershift-azure",
        "--issuer-url",
        ISSUER,
        "--issuer-exists",
        "--output-file",
        "iam.json",
        "-o",
        "json",
    )
    return ground.cwiictl("create-identities", *ground.where, *preset, *arguments)


def client_ids(ground: AzureGround) -> dict[str, str]:
    found = ground.listed(f"{WHOLE}/providers/Microsoft.ManagedIdentity/userAssignedIdentities")
    return {each["name"]: each["properties"]["clientId"] for each in found}


@pytest.fixture
def guest(ground: AzureGround) -> AzureGround:
    """After `hypershift create infra azure`, whose resource groups the roles hold in."""
    for name in GROUPS:
        ground.arm("PUT", f"{WHOLE}/resourceGroups/{name}", {"location": "eastus"})
    return ground


def test_it_makes_the_identities_and_tells_hypershift_who_they_are(guest: AzureGround) -> None:
    done = run(guest, *SET)

    assert done.code == 0, done.err
    known = client_ids(guest)
    assert json.loads((guest.folder / "iam.json").read_text()) == {
        key: {"clientID": known[f"demo-{name}-x7k2p"]} for key, name in COMPONENTS.items()
    }
    assert done.data["files"] == ["iam.json"], "and no Secrets: HyperShift writes its own"
    assert not (guest.folder / "manifests").exists()


def test_every_token_that_hypershift_trusts_is_trusted(guest: AzureGround) -> None:
    assert run(guest, *SET).code == 0

    identities = guest.clouds()["identities"]
    assert identities.keys() == {f"demo-{name}-x7k2p" for name in COMPONENTS.values()}
    trusted = [
        each for identity in identities.values() for each in identity["credentials"].values()
    ]
    assert len(trusted) == 13
    assert {(each["issuer"], *each["audiences"]) for each in trusted} == {(ISSUER, "openshift")}
    csi = "system:serviceaccount:openshift-cluster-csi-drivers:azure-disk-csi-driver"
    assert {
        name: each["subject"] for name, each in identities["demo-disk-x7k2p"]["credentials"].items()
    } == {
        "demo-disk-fed-id-node": f"{csi}-node-sa",
        "demo-disk-fed-id-operator": f"{csi}-operator",
        "demo-disk-fed-id-controller": f"{csi}-controller-sa",
    }


def test_its_roles_hold_in_the_groups_that_hypershift_makes(guest: AzureGround) -> None:
    assert run(guest, *SET).code == 0

    given: list[dict[str, Any]] = guest.clouds()["assignments"]
    ingress = [each for each in given if each["principal"] == "demo-ingress-x7k2p"]
    assert (
        len([each for each in given if each["principal"].endswith("-x7k2p")])
        == 3 + 3 + 3 + 3 + 1 + 2 + 1 + 2
    )
    assert {each["scope"].rpartition("/")[2] for each in ingress} == {
        "demo-x7k2p",
        "demo-vnet-x7k2p",
        "dns",
    }
    assert {(each["role"], each["type"]) for each in ingress} == {
        ("0336e1d3-7a87-462b-b6db-342b63f7802c", "ServicePrincipal")
    }


def test_a_second_run_is_silent(guest: AzureGround) -> None:
    assert run(guest, *SET).code == 0
    before = (guest.folder / "iam.json").stat().st_mtime_ns
    guest.fresh()
    again = run(guest, *SET)

    assert again.code == 0
    assert again.but("as wanted") == {}
    assert guest.mutating() == []
    assert (guest.folder / "iam.json").stat().st_mtime_ns == before


def test_delete_takes_it_down_like_everything_else(guest: AzureGround) -> None:
    before = guest.clouds()
    assert run(guest, *SET).code == 0

    assert guest.delete("--yes", "--delete-oidc-resource-group").code == 0

    assert guest.clouds() == {
        **NOTHING,
        "groups": before["groups"],
        "assignments": before["assignments"],
    }


def test_it_is_left_over_to_no_other_command(guest: AzureGround) -> None:
    assert run(guest, *SET, "--issuer-url", HOSTED).code == 0
    before = guest.clouds()["identities"]

    done = guest.create_all("--prune", "--yes")

    assert done.code == 0, done.err
    assert "left over" not in done.things.values()
    after = guest.clouds()["identities"]
    assert {name: after[name] for name in before} == before


def test_before_there_is_a_group_the_roles_can_be_left_to_hypershift(ground: AzureGround) -> None:
    before = ground.clouds()["assignments"]
    vault = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/keys/providers/Microsoft.KeyVault/vaults/etcd"

    done = run(
        ground,
        "--set",
        "infraID=x7k2p",
        "--set",
        "assignRoles=false",
        "--set",
        "kms=true",
        "--set",
        f"keyVault={vault}",
    )

    assert done.code == 0, done.err
    assert not [thing for thing in done.things if thing.startswith("azure/role-assignments/")], (
        "nothing was given"
    )
    assert ground.clouds()["assignments"] == before
    assert (
        json.loads((ground.folder / "iam.json").read_text())["kmsClientID"]
        == client_ids(ground)["demo-kms-x7k2p"]
    )
    principal = ground.listed(
        f"{WHOLE}/providers/Microsoft.ManagedIdentity/userAssignedIdentities"
    )[0]["properties"]["principalId"]
    reader = f"{WHOLE}/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7"
    role = {
        "properties": {
            "roleDefinitionId": reader,
            "principalId": principal,
            "principalType": "ServicePrincipal",
        }
    }
    ground.arm(
        "PUT",
        f"{WHOLE}/providers/Microsoft.Authorization/roleAssignments/33333333-3333-4333-8333-333333333333",
        role,
    )

    assert run(ground, "--set", "infraID=x7k2p", "--set", "assignRoles=false").code == 0
    assert len(ground.clouds()["assignments"]) == len(before) + 1, "what HyperShift gave them stays"


WRONG = [
    (
        ("--set", "infraID=x7k2p"),
        "The preset hypershift-azure needs dnsResourceGroup.",
        "--set dnsResourceGroup=VALUE",
    ),
    (
        ("--set", "infraId=x7k2p"),
        "The preset hypershift-azure has no variable 'infraId'.",
        "Did you mean --set infraID?",
    ),
    (("--set", "infraID"), "--set infraID sets nothing.", "infraID="),
    (
        (*SET, "--preset", "hypershift"),
        "There is no preset 'hypershift'.",
        "Did you mean --preset hypershift-",
    ),
    ((*SET, "--credentials-requests-dir", "requests"), "exclude one another.", "once for each"),
    ((*SET, "--preset", ""), "--set is for a preset, and none is given.", "--preset NAME"),
]


@pytest.mark.parametrize(("arguments", "problem", "remedy"), WRONG)
def test_what_cannot_be_meant_is_found_before_the_first_call(
    ground: AzureGround, arguments: tuple[str, ...], problem: str, remedy: str
) -> None:
    done = run(ground, *arguments)

    assert done.code == 2
    assert problem in done.err
    assert remedy in done.err
    assert ground.asked() == []


def test_a_file_that_its_product_takes_must_be_asked_for_and_fit(ground: AzureGround) -> None:
    asked = ("create-identities", *ground.where, "--preset", "hypershift-azure", *SET)
    assert "has a file to write" in ground.cwiictl(*asked).err

    done = ground.cwiictl(*asked, "--output-file", "requests")
    assert done.code == 2
    assert ground.asked() == []


def test_it_is_for_azure(ground: AzureGround) -> None:
    done = ground.cwiictl(
        "create-identities",
        "--cloud",
        "aws",
        "--name",
        "demo",
        "--region",
        "us-east-1",
        "--preset",
        "hypershift-azure",
        "--output-file",
        "x",
    )

    assert (done.code, ground.asked()) == (2, [])
    assert "The preset hypershift-azure asks nothing of aws" in done.err
