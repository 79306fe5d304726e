"""cluster.yaml says all that options say, and lists workloads; create-identity makes one workload from options."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from cwiictl.sandbox.azure.world import SUBSCRIPTION, TENANT
from tests.journeys import asked
from tests.journeys.azure import by_hand
from tests.journeys.azure.by_hand import READER, group_id
from tests.journeys.azure.ground import (
    GROUP,
    INGRESS,
    ISSUER,
    NAME,
    NOTHING,
    REGION,
    REGISTRY,
    SITE,
    AzureGround,
)
from tests.journeys.ground import Done

BILLING = f"{NAME}-shop-billing"
IDENTITY = (
    "-n",
    "shop",
    "--service-account",
    "billing",
    "--service-account",
    "billing-jobs",
    "--role",
    "Reader",
)
FILE = ("--file", "cluster.yaml")
SECTION = {"region": REGION, "subscriptionId": SUBSCRIPTION}
WORKLOAD = {
    "name": "billing",
    "namespace": "shop",
    "serviceAccounts": ["billing", "billing-jobs"],
    "azure": {"roles": ["Reader"]},
}


def cluster(section: dict[str, Any] | None = None, **words: Any) -> str:
    clouds = {"azure": {**SECTION, **(section or {})}}
    told = {
        "apiVersion": "cwii.dev/v1",
        "kind": "Cluster",
        "name": NAME,
        "clouds": clouds,
        "outputDir": "out",
    }
    return yaml.safe_dump({**told, **words}, sort_keys=False)


def identity(ground: AzureGround, *arguments: str) -> Done:
    form = () if {"-o", "--output"} & set(arguments) else ("-o", "json")
    return ground.cwiictl("create-identity", *ground.where, *IDENTITY, *arguments, *form)


# --- the file ---


@pytest.mark.parametrize(
    ("options", "section", "words"),
    [
        ((), {}, {}),
        (("--user-tags", "team=infra,costs=42"), {}, {"tags": {"team": "infra", "costs": "42"}}),
        (
            ("--tenant-id", TENANT, "--azure-env", "AzurePublicCloud"),
            {"tenantId": TENANT, "env": "AzurePublicCloud"},
            {},
        ),
        (
            (
                "--oidc-resource-group-name",
                "house",
                "--storage-account-name",
                "housestore",
                "--blob-container-name",
                "issuers",
            ),
            {
                "oidcResourceGroupName": "house",
                "storageAccountName": "housestore",
                "blobContainerName": "issuers",
            },
            {},
        ),
        (
            (
                "--installation-resource-group-name",
                "site",
                "--dnszone-resource-group-name",
                "zones",
                "--network-resource-group-name",
                "net",
            ),
            {
                "installationResourceGroupName": "site",
                "dnszoneResourceGroupName": "zones",
                "networkResourceGroupName": "net",
            },
            {},
        ),
        (
            (
                "--create-private-storage-account",
                "--issuer-url",
                "https://id.example.org",
                "--preserve-existing-roles",
            ),
            {"createPrivateStorageAccount": True, "preserveExistingRoles": True},
            {"issuer": {"url": "https://id.example.org"}},
        ),
    ],
    ids=["plain", "tags", "tenant", "places", "groups", "private"],
)
def test_the_file_and_the_options_are_the_same_plan(
    ground: AzureGround, options: tuple[str, ...], section: dict[str, Any], words: dict[str, Any]
) -> None:
    for group in ("zones", "net"):
        by_hand.a_group(ground, group)
    before = ground.clouds()
    ground.fresh()
    ground.write("cluster.yaml", cluster(section, credentialsRequests={"dir": "requests"}, **words))
    told = ground.create_all("--dry-run", *options)

    read = ground.cwiictl("create-all", *FILE, "--dry-run", "-o", "json")

    assert (told.code, read.code) == (0, 0), told.err + read.err
    assert read.data == told.data
    assert read.data["checksum"] == told.data["checksum"] != ""
    assert ground.mutating() == []
    assert ground.clouds() == before


def test_only_the_plan_that_was_expected_is_acted_on_and_another_section_is_another_plan(
    ground: AzureGround,
) -> None:
    ground.write("cluster.yaml", cluster(credentialsRequests={"dir": "requests"}))
    checksum = ground.cwiictl("create-all", *FILE, "--dry-run", "-o", "json").data["checksum"]
    others = [
        ground.create_all("--dry-run", *other).data["checksum"]
        for other in (("--region", "westus"), ("--installation-resource-group-name", "x"))
    ]
    assert len({checksum, *others}) == 3

    assert ground.create_all("--expect", others[0]).code == 2
    assert ground.mutating() == []
    assert ground.create_all("--expect", checksum).code == 0


def test_what_tells_of_an_identity_with_a_name_of_its_own_is_outdated_when_that_goes(
    ground: AzureGround,
) -> None:
    ground.write(
        "cluster.yaml",
        cluster(workloads=[{**WORKLOAD, "azure": {"roles": ["Reader"], "identityName": "house"}}]),
    )
    assert ground.cwiictl("create-all", *FILE).code == 0

    gone = ground.cwiictl("delete", *FILE, "--yes", "-o", "json")

    assert gone.things[f"azure/identity/{GROUP}/house"] == "dropped"
    assert "out/manifests/shop-billing-credentials.yaml" in gone.data["outdated"]


def test_a_workload_of_the_file_is_trusted_for_what_the_webhook_projects_and_left_over_when_it_goes(
    ground: AzureGround,
) -> None:
    own = {
        **WORKLOAD,
        "name": "own",
        "serviceAccounts": ["own"],
        "azure": {"dataPermissions": ["Microsoft.Storage/storageAccounts/blobServices/read"]},
    }
    ground.write("cluster.yaml", cluster(workloads=[WORKLOAD, own]))

    done = ground.cwiictl("create-all", *FILE, "--bits", "2048", "-o", "json")

    assert done.code == 0, done.out
    made = ground.clouds()
    assert {
        (each["issuer"], each["subject"], *each["audiences"])
        for each in made["identities"][BILLING]["credentials"].values()
    } == {
        (ISSUER, f"system:serviceaccount:shop:{account}", "api://AzureADTokenExchange")
        for account in ("billing", "billing-jobs")
    }
    assert [
        (each["scope"], each["role"])
        for each in made["assignments"]
        if each["principal"] == BILLING
    ] == [(group_id(SITE).lower(), READER)]
    assert list(made["roles"]) == [f"{NAME}-shop-own"]
    ground.fresh()
    assert ground.cwiictl("status", *FILE, "-o", "json").but("as wanted") == {}
    ground.write("cluster.yaml", cluster(workloads=[WORKLOAD]))
    left = ground.cwiictl("status", *FILE, "-o", "json")
    assert left.code == 3
    assert set(left.but("as wanted")) == {
        f"azure/{kind}{NAME}-shop-own" for kind in (f"identity/{GROUP}/", f"role-assignments/{GROUP}/", "custom-role/")
    }  # fmt: skip
    assert ground.mutating() == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (cluster({"regoin": "x"}), ("cluster.yaml", "regoin", "region")),
        (
            cluster({"subscriptionId": "1234"}, workloads=[WORKLOAD]),
            ("1234", "clouds.azure.subscriptionId"),
        ),
        (cluster(workloads=[{**WORKLOAD, "azure": {"rolls": []}}]), ("rolls", "roles")),
        (
            cluster(
                workloads=[
                    {**WORKLOAD, "azure": {"scopes": ["/subscriptions/x"], "roles": ["Reader"]}}
                ]
            ),
            ("/subscriptions/x", "is not the id of a scope"),
        ),
        (
            cluster(workloads=[{**WORKLOAD, "azure": {"scopes": [group_id("a")]}}]),
            ("nothing is to hold there",),
        ),
        (
            cluster(workloads=[{**WORKLOAD, "azure": {"permissions": ["read"]}}]),
            ("'read' is not an action",),
        ),
    ],
    ids=range(6),
)
def test_what_the_file_says_wrongly_is_told_with_its_place_before_any_call(
    ground: AzureGround, text: str, words: tuple[str, ...]
) -> None:
    asked.refused(ground, text, words)


# --- one workload ---


@pytest.fixture
def made(ground: AzureGround) -> AzureGround:
    ground.keys()
    assert ground.create_all().code == 0
    ground.fresh()
    return ground


def test_one_identity_is_made_and_its_service_accounts_are_printed_with_label_and_annotations(
    made: AzureGround,
) -> None:
    done = identity(made, "-o", "yaml")

    accounts = asked.printed(done)
    client = made.arm("GET", made.identity(BILLING))["properties"]["clientId"]
    assert {json.dumps(each["metadata"]["labels"]) for each in accounts} == {
        json.dumps({"azure.workload.identity/use": "true"})
    }
    assert {json.dumps(each["metadata"]["annotations"], sort_keys=True) for each in accounts} == {
        json.dumps(
            {
                "azure.workload.identity/client-id": client,
                "azure.workload.identity/tenant-id": TENANT,
                "cwii.dev/az-audience": "api://AzureADTokenExchange",
                "cwii.dev/az-client-id": client,
                "cwii.dev/az-inject": "true",
                "cwii.dev/az-tenant-id": TENANT,
            }
        )
    }
    tags = made.clouds()["identities"][BILLING]["tags"]
    assert (tags["cwii.dev_origin"], tags[f"cwii.dev_cluster_{NAME}"]) == (
        "create-identity",
        "owned",
    )
    made.fresh()
    assert identity(made).but("as wanted") == {}
    assert made.mutating() == []


def test_it_is_never_left_over_to_create_all_and_goes_with_the_cluster(made: AzureGround) -> None:
    identity(made)

    shown = made.status()
    assert (shown.code, shown.but("as wanted", "present")) == (0, {})
    assert shown.things[f"azure/identity/{GROUP}/{BILLING}"] == "present"
    pruned = made.create_all("--prune", "--yes")
    assert (pruned.code, pruned.but("as wanted")) == (0, {})
    assert BILLING in made.clouds()["identities"]

    gone = made.delete("--yes", "--delete-oidc-resource-group")
    assert {
        gone.things[f"azure/identity/{GROUP}/{title}"] for title in (BILLING, INGRESS, REGISTRY)
    } == {"dropped"}
    assert made.clouds() == NOTHING


def test_it_does_not_narrow_what_create_all_has_made_unless_it_is_told_to_take_that_over(
    made: AzureGround,
) -> None:
    made.write("cluster.yaml", cluster(workloads=[WORKLOAD]))

    def whole(ground: AzureGround, *words: str) -> Done:
        return ground.cwiictl("create-all", *FILE, *words, "-o", "json")

    def single(ground: AzureGround, *words: str) -> Done:
        return identity(ground, "--scope", group_id(GROUP), *words)

    asked.kept_apart(made, f"azure/identity/{GROUP}/{BILLING}", whole, single, "create-all")


def test_what_a_failed_run_has_made_is_told_with_what_to_run(made: AzureGround) -> None:
    credentials = (
        "Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials/write"
    )
    made.sandbox.faults.deny = {"Microsoft.Authorization/permissions/read", credentials}

    asked.unfinished(identity(made, "-o", "yaml"), f"azure/identity/{GROUP}/{BILLING}", credentials)

    assert BILLING in made.clouds()["identities"]
    made.sandbox.faults.deny = set()
    assert identity(made).code == 0


def test_a_dry_run_has_a_word_for_each_id_that_azure_gives(made: AzureGround) -> None:
    done = identity(made, "--dry-run", "-o", "yaml")

    (annotations, _) = (each["metadata"]["annotations"] for each in asked.printed(done))
    assert (
        annotations["cwii.dev/az-client-id"] == f"<client_id of azure/identity/{GROUP}/{BILLING}>"
    )
    assert "What stands between < and > below is known when it is made." in done.err
    assert made.mutating() == []


def test_without_an_issuer_of_the_cluster_nobody_is_made_that_would_believe_a_stranger(
    ground: AzureGround,
) -> None:
    """The account of its name may be anybody's in the world."""
    done = identity(ground, "-o", "text")

    assert done.code == 2
    assert "create-identity-provider" in done.err
    assert ground.mutating() == []
    assert ground.clouds() == NOTHING


def test_an_identity_of_a_cluster_with_another_issuer_does_not_believe_the_usual_one(
    made: AzureGround,
) -> None:
    path = made.identity(INGRESS)
    tags = made.arm("GET", path)["tags"]
    for title in (INGRESS, REGISTRY):
        made.arm(
            "PATCH",
            made.identity(title),
            {"tags": {**tags, "cwii.dev_issuer": "https://oidc.example.org"}},
        )
    made.fresh()

    done = identity(made, "-o", "text")

    assert done.code == 2
    assert "--issuer-url https://oidc.example.org" in done.err
    assert made.mutating() == []


def test_an_identity_that_is_given_nothing_is_made_and_that_is_said(made: AzureGround) -> None:
    done = made.cwiictl(
        "create-identity", *made.where, "-n", "shop", "--service-account", "billing", "-o", "yaml"
    )

    assert done.code == 0, done.err
    assert (
        "shop/billing is given nothing in Azure: say it with --role, unless others give it something."
        in done.err
    )
    assert BILLING in made.clouds()["identities"]
    assert "is given nothing" not in identity(made, "--dry-run").err
