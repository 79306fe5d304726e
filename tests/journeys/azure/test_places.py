"""Where things are that are there already, and who may write blobs there, or may grant that, or neither."""

from __future__ import annotations

import signal

import pytest

from cwiictl.sandbox.azure import Azure
from cwiictl.sandbox.azure.world import OPERATOR
from tests.journeys.azure import by_hand
from tests.journeys.azure.by_hand import (
    BLOBS,
    HOUSE,
    JWKS,
    LENDING,
    SHELF,
    STORE,
    container_id,
    tags,
)
from tests.journeys.azure.conftest import Enter
from tests.journeys.azure.ground import (
    ACCOUNT,
    CONTAINER,
    GROUP,
    NAME,
    NOTHING,
    REGION,
    SITE,
    WHOLE,
    AzureGround,
)

# --- elsewhere ---


def test_a_group_that_is_there_keeps_its_region_and_what_is_made_in_it_has_the_one_that_was_asked_for(
    ground: AzureGround,
) -> None:
    by_hand.a_group(ground, GROUP, tags(NAME), "westeurope")
    by_hand.a_group(ground, SITE, region="westeurope")

    done = ground.create_all()

    assert done.code == 0, done.out
    made = ground.clouds()
    assert {each["location"] for each in made["groups"].values()} == {"westeurope"}
    assert {
        each["location"] for each in (*made["accounts"].values(), *made["identities"].values())
    } == {"eastus"}
    assert ground.create_all().but("as wanted") == {}  # nothing moves
    assert ground.status().code == 0


MISSPELT = (
    ("--region", "eastsu"),
    "Azure has no region eastsu for the subscription",
    "did you mean --region eastus?",
)
CHANGED = (
    ("--region", "westeurope"),
    "what is there already is in eastus, and does not move",
    "give --region eastus, or another --name",
)
COMMANDS = (
    "create-all",
    "status",
    "create-identity-provider",
    "create-identities",
    "create-identity",
    "create-all --dry-run",
)


def asking(ground: AzureGround, command: str) -> tuple[str, ...]:
    """What is asked, without a region."""
    where = tuple(word for word in ground.where if word not in {"--region", REGION})
    name, *more = command.split()
    own = (
        ("--namespace", "shop", "--service-account", "billing")
        if name == "create-identity"
        else ground.asking
    )
    if name == "create-identity-provider":
        own = ("--output-dir", "out")
    return (name, *where, *map(str, own), *more)


@pytest.mark.parametrize(
    ("region", "problem", "remedy"), [MISSPELT, CHANGED], ids=["misspelt", "changed"]
)
def test_another_region_than_a_clusters_is_refused_by_every_command_and_nothing_is_written(
    ground: AzureGround, region: tuple[str, str], problem: str, remedy: str
) -> None:
    assert ground.create_all().code == 0
    assert (
        ground.cwiictl(*asking(ground, "create-identity"), "--region", REGION, "-o", "json").code
        == 0
    )
    before = ground.everything()
    ground.fresh()

    for command in COMMANDS:
        done = ground.cwiictl(*asking(ground, command), *region, "-o", "json")
        assert (done.code, command) == (2, command), done.out
        told = {
            (thing["problem"], thing["remedy"])
            for thing in done.data["things"]
            if thing["condition"] == "failed"
        }
        assert told == {(problem, remedy)}, command

    assert ground.mutating() == []
    assert ground.everything() == before


def test_a_misspelt_region_is_refused_by_status_where_nothing_is(ground: AzureGround) -> None:
    region, problem, remedy = MISSPELT

    done = ground.status(*region)

    assert done.code == 2
    assert [
        (thing["problem"], thing["remedy"])
        for thing in done.data["things"]
        if thing["condition"] == "failed"
    ] == [(problem, remedy)]


def test_a_changed_region_is_said_once_for_all_that_is_there(ground: AzureGround) -> None:
    assert ground.create_all().code == 0

    done = ground.status(*CHANGED[0], "-o", "text")

    assert done.code == 2
    assert (
        done.err
        == "Error: What is there already is in eastus, and does not move.\n  Give --region eastus, or another --name.\n"
    )


def test_where_the_regions_may_not_be_read_what_is_there_says_where_it_is(
    ground: AzureGround,
) -> None:
    assert ground.create_all().code == 0
    ground.sandbox.faults.deny = {"Microsoft.Resources/subscriptions/locations/read"}

    for look in (ground.status, ground.create_all):
        done = look("--region", "eastsu")
        assert done.code == 2, done.out
        assert {
            thing["problem"] for thing in done.data["things"] if thing["condition"] == "failed"
        } == {CHANGED[1]}
    assert ground.status().code == 0


def test_a_region_that_azure_writes_large_is_the_same(ground: AzureGround) -> None:
    assert ground.create_all().code == 0
    place = ground.sandbox._places.find("management.azure.com")  # pyright: ignore[reportPrivateUsage] - no API of Azure's can be made to write so
    assert isinstance(place, Azure)
    world = place._realms["AzureCloud"]._world  # pyright: ignore[reportPrivateUsage] - the same
    for thing in (*world.accounts.values(), *world.identities.values()):
        thing.location = "East US"

    for look in (ground.status, ground.create_all):
        assert look().code == 0
        assert look("--region", "westeurope").code == 2


def test_an_account_of_the_users_own_may_be_in_another_region(ground: AzureGround) -> None:
    by_hand.a_house(ground)
    by_hand.a_shelf(ground)
    own = (
        "--oidc-resource-group-name",
        HOUSE,
        "--storage-account-name",
        STORE,
        "--blob-container-name",
        SHELF,
        "--region",
        "westeurope",
    )

    done = ground.create_all(*own)

    assert done.code == 0, done.out
    made = ground.clouds()
    assert made["accounts"][STORE]["location"] == REGION
    assert {each["location"] for each in made["identities"].values()} == {"westeurope"}
    assert ground.status(*own).code == 0


# --- names ---


@pytest.mark.parametrize("name", ["azure", "login-windows"])
def test_a_cluster_may_be_called_what_azure_takes_in_no_name_of_its_own(
    ground: AzureGround, name: str
) -> None:
    where = tuple(name if word == NAME else word for word in ground.where)

    done = ground.cwiictl("create-all", *where, *ground.asking, "--bits", "2048", "-o", "json")

    assert done.code == 0, done.out
    made = ground.clouds()
    assert len(made["identities"]) == 2
    assert len(made["accounts"]) == 1
    gone = ground.cwiictl("delete", *where, "--yes", "--delete-oidc-resource-group", "-o", "json")
    assert gone.code == 0, gone.out
    assert ground.clouds() == NOTHING


# --- who may write, and who may grant ---


def lent(ground: AzureGround) -> list[str]:
    return [
        seen.action
        for seen in ground.sandbox.record[ground.before :]
        if "/containers/" in seen.path and seen.action in LENDING and seen.status < 400
    ]


def test_whoever_may_write_blobs_lends_nothing(ground: AzureGround) -> None:
    by_hand.assigned(ground, WHOLE, BLOBS, OPERATOR, principalType="ServicePrincipal")
    ground.fresh()

    assert ground.create_all().code == 0
    assert ground.delete("--yes").code == 0

    assert lent(ground) == []


def test_whoever_may_grant_lends_it_to_themselves_and_takes_it_back(ground: AzureGround) -> None:
    assert ground.create_all().code == 0

    assert lent(ground) == list(LENDING)
    assert not any(each["role"] == BLOBS for each in ground.clouds()["assignments"])


def test_what_was_lent_is_taken_back_when_the_run_is_interrupted(enter: Enter) -> None:
    ground = enter(lag=30.0)
    with ground.started(
        "create-identity-provider", *ground.where, "--output-dir", "out", "--bits", "2048"
    ) as process:
        while not lent(ground):
            assert process.poll() is None
            ground.sandbox.faults.delay()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)

    assert process.returncode == 130
    assert lent(ground) == list(LENDING)


def test_whoever_may_do_neither_is_told_the_command_and_goes_on_when_it_was_run(
    ground: AzureGround,
) -> None:
    ground.sandbox.faults.deny = {LENDING[0]}
    issuer = (
        "create-identity-provider",
        *ground.where,
        "--output-dir",
        "out",
        "--bits",
        "2048",
        "-o",
        "json",
    )

    done = ground.cwiictl(*issuer)
    assert done.code == 1
    (told,) = [
        row
        for row in done.data["things"]
        if row["thing"] == f"azure/key-set/{ACCOUNT}/{CONTAINER}/{JWKS}"
    ]
    assert "neither write blobs" in told["problem"]
    scope = container_id(ACCOUNT, CONTAINER)
    assert told["remedy"] == (
        "have somebody run: az role assignment create --role 'Storage Blob Data Contributor'"
        f" --assignee-object-id {OPERATOR} --assignee-principal-type ServicePrincipal --scope {scope.lower() if scope.lower() in told['remedy'] else scope}"
    )
    assert done.but("created", "as wanted", "failed") == {
        f"issuer/https://{ACCOUNT}.blob.core.windows.net/{CONTAINER}": "not tried"
    }
    assert ground.cwiictl(*issuer).code == 1

    ground.sandbox.faults.deny = set()
    given = by_hand.assigned(ground, scope, BLOBS, OPERATOR, principalType="ServicePrincipal")
    ground.sandbox.faults.deny = {LENDING[0]}
    assert ground.cwiictl(*issuer).code == 0
    assert ground.arm("GET", given)  # what others gave is not taken back
