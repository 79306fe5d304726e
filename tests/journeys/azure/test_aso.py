"""`--output-format aso`: the same identities, for people who keep them in Git and have Azure Service Operator make them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from tests.cwiictl.clouds.azure.crds import refusals
from tests.journeys.azure.ground import GROUP, INGRESS, NOTHING, SITE, WHOLE, AzureGround
from tests.journeys.ground import Done

ISSUER = "https://issuer.example.org"
ISSUED = ("--issuer-url", ISSUER, "--issuer-exists")
READER = "acdd72a7-3385-48ef-bd42-f606fba81ae7"
BILLING = ("-n", "shop", "--service-account", "billing")


def run(
    ground: AzureGround, *arguments: str, form: str = "json", command: str = "create-identities"
) -> Done:
    return ground.cwiictl(command, *ground.where, *ISSUED, *arguments, "-o", form)


def declared(ground: AzureGround, *arguments: str) -> list[Any]:
    done = run(
        ground,
        "--credentials-requests-dir",
        "requests",
        "--output-dir",
        "git",
        "--output-format",
        "aso",
        *arguments,
    )
    assert done.code == 0, done.err
    return [
        one
        for path in done.data["files"]
        for one in yaml.safe_load_all((ground.folder / path).read_text())
    ]


def test_a_file_for_each_identity_that_the_definitions_accept(ground: AzureGround) -> None:
    objects = declared(ground, "--credential-from", "aso-credential")

    assert [refusal for one in objects for refusal in refusals(one)] == []
    assert {path.name for path in (ground.folder / "git/aso").iterdir()} == {
        f"resource-group-{GROUP}.yaml", f"{INGRESS}.yaml", "demo-openshift-image-registry-installer-cloud-credentials.yaml",
    }  # fmt: skip
    assert {
        one["metadata"]["annotations"]["serviceoperator.azure.com/credential-from"]
        for one in objects
    } == {"aso-credential"}


def test_nothing_is_made_in_azure(ground: AzureGround) -> None:
    before = ground.clouds()
    ground.fresh()
    declared(ground)

    assert ground.mutating() == []
    assert ground.clouds() == before


def test_a_second_run_leaves_the_files_as_they_are_and_a_dry_run_writes_none(
    ground: AzureGround,
) -> None:
    planned = run(
        ground,
        "--credentials-requests-dir",
        "requests",
        "--output-dir",
        "git",
        "--output-format",
        "aso",
        "--dry-run",
    )
    assert planned.code == 0
    assert not (ground.folder / "git").exists()

    declared(ground)
    before = {path: path.stat().st_mtime_ns for path in (ground.folder / "git/aso").iterdir()}
    declared(ground)

    assert {
        path: path.stat().st_mtime_ns for path in (ground.folder / "git/aso").iterdir()
    } == before
    assert set(planned.data["files"]) == {
        path.relative_to(ground.folder).as_posix() for path in before
    }


def test_create_identity_prints_them_and_asks_nobody_what_a_guid_means(ground: AzureGround) -> None:
    done = run(
        ground,
        *BILLING,
        "--role",
        READER,
        "--output-format",
        "aso",
        form="yaml",
        command="create-identity",
    )

    assert done.code == 0, done.err
    objects = list(yaml.safe_load_all(done.out))
    assert [one["kind"] for one in objects] == [
        "ResourceGroup",
        "UserAssignedIdentity",
        "FederatedIdentityCredential",
        "RoleAssignment",
    ]
    assert [refusal for one in objects for refusal in refusals(one)] == []
    assert objects[2]["spec"]["audiences"] == ["api://AzureADTokenExchange"]
    assert ground.asked() == []


def test_create_identity_looks_up_the_name_of_a_role_and_writes_to_a_file(
    ground: AzureGround,
) -> None:
    done = run(
        ground,
        *BILLING,
        "--role",
        "Reader",
        "--output-format",
        "aso",
        "--write",
        "billing.yaml",
        command="create-identity",
    )

    assert done.code == 0, done.err
    assert (ground.folder / "billing.yaml").read_text() == done.data["manifest"]
    assert READER in done.data["manifest"]
    assert ground.mutating() == []

    done = run(
        ground, *BILLING, "--role", "Raeder", "--output-format", "aso", command="create-identity"
    )
    assert (done.code, done.data["remedy"]) == (2, "did you mean Reader?")


def test_a_preset_can_be_declared_too(ground: AzureGround) -> None:
    preset = (
        "--preset",
        "hypershift-azure",
        "--set",
        "infraID=x7k2p",
        "--set",
        "dnsResourceGroup=dns",
    )
    done = run(ground, *preset, "--output-dir", "git", "--output-format", "aso")

    assert done.code == 0, done.err
    objects = [
        one
        for path in done.data["files"]
        for one in yaml.safe_load_all((ground.folder / path).read_text())
    ]
    assert [refusal for one in objects for refusal in refusals(one)] == []
    kinds = [one["kind"] for one in objects]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "ResourceGroup": 1, "UserAssignedIdentity": 8, "FederatedIdentityCredential": 13, "RoleAssignment": 18,
    }  # fmt: skip
    assert ground.asked() == []


def test_what_the_operator_makes_of_them_is_what_would_be_made(ground: AzureGround) -> None:
    ground.arm("PUT", f"{WHOLE}/resourceGroups/{SITE}", {"location": "eastus"})
    before = ground.clouds()["assignments"]
    made = run(ground, "--credentials-requests-dir", "requests", "--output-dir", "out")
    assert made.code == 0, made.err
    wanted = seen(ground)
    assert ground.delete("--yes").code == 0
    assert seen(ground) == (
        NOTHING["identities"],
        {},
        {json.dumps(each, sort_keys=True) for each in bare(before)},
    )

    Operator(ground).apply(declared(ground))

    assert seen(ground) == wanted


def seen(ground: AzureGround) -> tuple[Any, Any, set[str]]:
    """Without our marks, which the operator has no reason to write."""
    clouds = ground.clouds()
    roles = {
        name: {"permissions": role["permissions"], "scopes": sorted(map(str.lower, role["scopes"]))}
        for name, role in clouds["roles"].items()
    }
    identities = {
        name: {"location": each["location"], "credentials": each["credentials"]}
        for name, each in clouds["identities"].items()
    }
    return (
        identities,
        roles,
        {json.dumps(each, sort_keys=True) for each in bare(clouds["assignments"])},
    )


def bare(assignments: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    yield from (
        {key: str(value).lower() for key, value in each.items() if key != "description"}
        for each in assignments
    )


class Operator:
    """What Azure Service Operator does with these, in short: owners first, and an identity's ids into its ConfigMap."""

    ORDER = (
        "ResourceGroup",
        "UserAssignedIdentity",
        "FederatedIdentityCredential",
        "RoleDefinition",
        "RoleAssignment",
    )

    def __init__(self, ground: AzureGround) -> None:
        self.ground = ground
        self.ids: dict[tuple[str, str], str] = {}  # by kind and name in Kubernetes
        self.config: dict[tuple[str, str], str] = {}

    def apply(self, objects: list[Any]) -> None:
        for one in sorted(objects, key=lambda one: self.ORDER.index(one["kind"])):
            self.ids[one["kind"], one["metadata"]["name"]] = getattr(
                self, f"_{one['kind'].lower()}"
            )(one["spec"])

    def _resourcegroup(self, spec: Mapping[str, Any]) -> str:
        return self.ground.arm(
            "PUT",
            f"{WHOLE}/resourceGroups/{spec['azureName']}",
            {"location": spec["location"], "tags": spec["tags"]},
        )["id"]

    def _userassignedidentity(self, spec: Mapping[str, Any]) -> str:
        owner = self._owner(spec, "ResourceGroup")
        path = f"{owner}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{spec['azureName']}"
        made = self.ground.arm("PUT", path, {"location": spec["location"], "tags": spec["tags"]})
        for key, kept in spec["operatorSpec"]["configMaps"].items():
            self.config[kept["name"], kept["key"]] = made["properties"][key]
        return made["id"]

    def _federatedidentitycredential(self, spec: Mapping[str, Any]) -> str:
        path = f"{self._owner(spec, 'UserAssignedIdentity')}/federatedIdentityCredentials/{spec['azureName']}"
        return self.ground.arm(
            "PUT",
            path,
            {"properties": {key: spec[key] for key in ("issuer", "subject", "audiences")}},
        )["id"]

    def _roledefinition(self, spec: Mapping[str, Any]) -> str:
        blocks = [
            {
                key: each.get(key, [])
                for key in ("actions", "notActions", "dataActions", "notDataActions")
            }
            for each in spec["permissions"]
        ]
        scopes = [each["armId"] for each in spec["assignableScopesReferences"]]
        told = {
            "roleName": spec["roleName"],
            "type": spec["type"],
            "description": spec["description"],
            "permissions": blocks,
            "assignableScopes": scopes,
        }
        path = f"{spec['owner']['armId']}/providers/Microsoft.Authorization/roleDefinitions/{spec['azureName']}"
        return self.ground.arm("PUT", path, {"properties": told})["id"]

    def _roleassignment(self, spec: Mapping[str, Any]) -> str:
        reference, principal = spec["roleDefinitionReference"], spec["principalIdFromConfig"]
        role = reference.get("armId") or self.ids[reference["kind"], reference["name"]]
        told = {
            "roleDefinitionId": role,
            "principalId": self.config[principal["name"], principal["key"]],
            "principalType": spec["principalType"],
        }
        path = f"{spec['owner']['armId']}/providers/Microsoft.Authorization/roleAssignments/{spec['azureName']}"
        return self.ground.arm("PUT", path, {"properties": told})["id"]

    def _owner(self, spec: Mapping[str, Any], kind: str) -> str:
        return spec["owner"].get("armId") or self.ids[kind, spec["owner"]["name"]]


WRONG = [
    (("--credential-from", "s"), "--credential-from is for resources of Azure Service Operator"),
    (
        ("--output-format", "aso", "--credential-from", "S!"),
        "--credential-from S! is not the name of a Secret",
    ),
    (
        ("--output-format", "aso", "--installer", "openshift"),
        "--installer does not go with --output-format aso",
    ),
    (("--output-format", "aso", "--expect", "x"), "--expect does not go with --output-format aso"),
    (("--output-format", "aso", "--adopt", "x"), "--adopt does not go with --output-format aso"),
    (
        (
            "--output-format",
            "aso",
            "--cloud",
            "aws",
            "--aws-region",
            "us-east-1",
            "--azure-region",
            "eastus",
        ),
        "--output-format aso is for Azure alone",
    ),
]


@pytest.mark.parametrize(("arguments", "problem"), WRONG)
def test_what_does_not_go_together_is_found_before_the_first_call(
    ground: AzureGround, arguments: tuple[str, ...], problem: str
) -> None:
    where = (
        tuple(word for word in ground.where if word not in {"--region", "eastus"})
        if "--azure-region" in arguments
        else ground.where
    )
    done = ground.cwiictl(
        "create-identities", *where, *ISSUED, "--credentials-requests-dir", "requests", *arguments
    )

    assert done.code == 2
    assert problem in done.err
    assert ground.asked() == []
