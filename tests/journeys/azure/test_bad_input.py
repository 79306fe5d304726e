"""What cannot be meant: one sentence of what, one of what to do, exit code 2, and nothing written here or in Azure."""

from __future__ import annotations

import re
import subprocess

import pytest

from cwiictl.sandbox.azure.world import SUBSCRIPTION
from tests.examples import an_azure_object, text, two_azure_requests
from tests.journeys.azure.ground import NAME, NOTHING, REGION, AzureGround
from tests.journeys.ground import PROGRAMS, Done

TOLD = re.compile(r"Error: (?P<what>[^\n]+)[.?]\n  (?P<remedy>[^\n]+)[.?]\n")
OTHER = "99999999-9999-4999-8999-999999999999"


def refused(ground: AzureGround, done: Done, *words: str, reads: bool = False) -> None:
    """In two sentences that hold these words; whatever was there is there, and nothing else."""
    assert done.code == 2, done.err
    assert done.out == ""
    told = TOLD.fullmatch(done.err)
    assert told, done.err
    for word in words:
        assert word.lower() in done.err.lower(), done.err
    if reads:
        assert ground.mutating() == []
    else:
        assert ground.asked() == []
    assert "out" not in ground.files()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--name", "A_B"), ("'A_B'", "lower-case")),
        (("--region", "../x"), ("'../x'", "give the name of a region.")),
        (("--region", "eu-west-1"), ("'eu-west-1' is written as AWS writes", "give one of Azure with --region")),
        (("--azure-region", "westus"), ("--region says eastus, and --azure-region says westus", "leave --region out")),
        (("--cloud", "aws", "--region", "", "--aws-region", "us-east-1", "--azure-region", "us-east-1"), ("--azure-region 'us-east-1' is written as AWS",)),
        (("--cloud", "aws", "--region", "", "--aws-region", "eastus", "--azure-region", REGION), ("AWS has no region 'eastus'", "with --aws-region")),
        (("--region", ""), ("Azure needs --region", "--region REGION")),
        (("--subscription-id", "1234"), ("'1234'", "--subscription-id", "the id of a subscription")),
        (("--subscription-id", ""), ("Azure needs --subscription-id",)),
        (("--tenant-id", "contoso"), ("'contoso'", "--tenant-id")),
        (("--azure-env", "AzureGermanCloud"), ("'AzureGermanCloud'", "--azure-env")),
        (("--storage-account-name", "Has-Hyphens"), ("has-hyphens", "3 to 24 letters and digits")),
        (("--blob-container-name", "a--b"), ("'a--b'", "single '-'")),
        (("--oidc-resource-group-name", "ends."), ("'ends.'", "--oidc-resource-group-name")),
        (("--installation-resource-group-name", "a b"), ("'a b'", "--installation-resource-group-name")),
        (("--dnszone-resource-group-name", "a/b"), ("'a/b'", "--dnszone-resource-group-name")),
        (("--network-resource-group-name", "a?"), ("'a?'", "--network-resource-group-name")),
        (("--oidc-resource-group-name", NAME), ("cannot be in one resource group", "--installation-resource-group-name")),
        (("--installation-resource-group-name", f"{NAME}-OIDC"), ("cannot be in one resource group",)),
        (("--user-tags", "a/b=c"), ("a/b", "tag")),
        (("--user-tags", "Azure-x=c"), ("azure-x", "do not begin with")),
        (("--user-tags", f"a={'x' * 257}"), ("256 characters",)),
        (("--user-tags", "a=1,A=2"), ("differ only in case",)),
        (("--user-tags", ",".join(f"k{n}=v" for n in range(41))), ("41 tags", "40")),
        (("--user-tags", "a"), ("no list of tags",)),
        (("--s3-bucket", "house"), ("--s3-bucket is for AWS", "add --cloud aws, or leave --s3-bucket out")),
        (("--aws-region", "us-east-1"), ("--aws-region is for AWS",)),
        (("--cloud", "aws"), ("--region eastus does not say for which cloud", "--aws-region and --azure-region")),
        (("--cloud", "aws", "--region", "", "--azure-region", REGION), ("AWS needs --aws-region",)),
        (("--cloud", "aws,azure"), ("--cloud aws,azure is no cloud", "--cloud aws --cloud azure")),
        (("--cloud", "azrue"), ("'azrue'", "did you mean --cloud azure?")),
        (("--issuer-in", "aws"), ("--issuer-in aws is not among the clouds",)),
        (("--create-private-storage-account",), ("nobody could read the issuer", "--issuer-url")),
    ],
)  # fmt: skip
def test_what_is_said_wrongly_is_refused_before_anything_is_written(
    ground: AzureGround, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    refused(ground, ground.create_all(*arguments, "-o", "text"), *words, reads=bool(ground.asked()))


@pytest.mark.parametrize(
    "scope", ["house", "/subscriptions/1234", f"/subscriptions/{SUBSCRIPTION}/resourceGroups/"]
)
def test_delete_also_where_nothing_can_be_is_refused(ground: AzureGround, scope: str) -> None:
    refused(
        ground,
        ground.delete("--also", scope, "--yes", "-o", "text"),
        scope.rstrip("/").lower(),
        "is not the id of a scope",
    )


@pytest.mark.parametrize(
    ("where", "words"),
    [
        (
            ("--region", "eastsu"),
            ("no region eastsu for the subscription", "did you mean --region eastus?"),
        ),
        (
            ("--region", "westeurope", "--azure-env", "AzureUSGovernmentCloud"),
            ("no region westeurope for the subscription", "usgovvirginia"),
        ),
    ],
    ids=["mistyped", "another cloud's"],
)
def test_a_region_that_azure_does_not_have_is_found_before_the_first_write(
    ground: AzureGround, where: tuple[str, ...], words: tuple[str, ...]
) -> None:
    for how in ("--dry-run", "--bits=2048"):
        done = ground.create_all(*where, how, "-o", "text")
        assert done.code == 2, done.out
        assert all(word in done.err.lower() for word in words), done.err
    assert ground.mutating() == []
    assert "out" not in ground.files()


def test_delete_needs_no_region(ground: AzureGround) -> None:
    done = ground.cwiictl(
        "delete", "--cloud", "azure", "--name", NAME, "--subscription-id", SUBSCRIPTION, "--yes"
    )

    assert (done.code, "Nothing of this cluster is there" in done.out) == (0, True)


# --- the requests ---


def many(count: int) -> str:
    return text(
        an_azure_object(
            "many",
            "n",
            "s",
            *(f"account-{number:02}" for number in range(count)),
            roleBindings=[{"role": "Reader"}],
        )
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (many(21), ("n/s has 21 ServiceAccounts", "at most 20", "split")),
        (
            text(an_azure_object("a", "n", "s", roleBindings=[{"role": "Contributer"}])),
            ("a.yaml:1: there is no role 'Contributer'", "did you mean Contributor"),
        ),
        (
            text(
                an_azure_object(
                    "a", "n", "s", permission=["a/b"], roleBindings=[{"role": "Reader"}]
                )
            ),
            ("has the key 'permission'", "did you mean permissions"),
        ),
        (
            text(an_azure_object("a", "n", "s", roleBindings=[{"role": "Fruit Picker"}])),
            ("no role 'Fruit Picker'",),
        ),
        (text(an_azure_object("a", "n", "s", roleBindings=[])), ("asks Azure for nothing",)),
        (text(an_azure_object("a", "n", "s", roleBindings="Reader")), ("providerSpec",)),
        (
            text(an_azure_object("a", "n", "s", permissions=["read all of it"])),
            ("'read all of it' is not an action",),
        ),
        (
            text(an_azure_object("a", "n", "s", roleBindings=[{"role": "Reader"}])).replace(
                "AzureProviderSpec", "AzurProviderSpec"
            ),
            ("AzurProviderSpec",),
        ),
    ],
    ids=[
        "21 accounts",
        "nearly a role",
        "nearly a key",
        "no role",
        "nothing",
        "no list",
        "no action",
        "no kind",
    ],
)
def test_requests_that_cannot_be_followed_are_refused_before_the_first_write(
    ground: AzureGround, content: str, words: tuple[str, ...]
) -> None:
    ground.requests({"a.yaml": content, **two_azure_requests()})

    refused(ground, ground.create_all("-o", "text"), *words, reads=True)
    assert ground.clouds() == NOTHING


def test_twenty_service_accounts_are_believed(ground: AzureGround) -> None:
    ground.requests({"a.yaml": many(20)})

    assert ground.create_all().code == 0
    assert len(ground.clouds()["identities"][f"{NAME}-n-s"]["credentials"]) == 20


# --- who asks ---


@pytest.mark.parametrize("command", ["create-all", "status", "delete"])
def test_without_credentials_nothing_is_asked(ground: AzureGround, command: str) -> None:
    nobody = {
        name: value
        for name, value in ground.sandbox.environment().items()
        if not name.startswith(("AZURE_CLIENT", "AZURE_TENANT"))
    }
    arguments = [
        str(PROGRAMS / "cwiictl"),
        command,
        *ground.where,
        *(() if command == "delete" else ground.asking),
    ]
    ran = subprocess.run(
        arguments, cwd=ground.folder, env=nobody, capture_output=True, text=True, check=False
    )

    refused(
        ground,
        Done(ran.returncode, ran.stdout, ran.stderr),
        "there are no Azure credentials to act with",
        "az login",
        reads=True,
    )


def test_credentials_that_are_not_whole_are_told_as_such(ground: AzureGround) -> None:
    refused(
        ground,
        ground.create_all("-o", "text", AZURE_CLIENT_ID=""),
        "the Azure credentials are not whole",
        "az login",
    )


def test_credentials_that_entra_does_not_know_are_told_as_such(ground: AzureGround) -> None:
    done = ground.create_all("-o", "text", AZURE_CLIENT_SECRET="not the secret")

    refused(ground, done, "does not accept the credentials", "AADSTS7000215", reads=True)


@pytest.mark.parametrize("command", ["create-all", "status", "delete"])
def test_another_tenant_than_the_pinned_one_is_refused_before_anything_else(
    ground: AzureGround, command: str
) -> None:
    asking = ("--yes",) if command == "delete" else ground.asking
    done = ground.cwiictl(command, *ground.where, *asking, "--tenant-id", OTHER)

    refused(ground, done, OTHER, "--tenant-id", "log in to the right tenant")


def test_a_subscription_that_the_caller_does_not_see_is_named(ground: AzureGround) -> None:
    done = ground.create_all("--subscription-id", OTHER, "-o", "text")

    assert done.code == 2
    assert done.err.count("Azure does not show who asks that subscription") == 1
    assert "azure/" not in done.out + done.err  # no table of what cannot be seen
    assert "--subscription-id" in done.err
    assert ground.mutating() == []
    assert "out" not in ground.files()
