"""What is not ours is refused before anything is written, and taken over only by name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cwiictl.sandbox.azure.world import OPERATOR, PERSON
from tests.journeys import foreign
from tests.journeys.azure import by_hand
from tests.journeys.azure.by_hand import READER, group_id, tags
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
    SUBJECT,
    AzureGround,
)

Make = Callable[[AzureGround, str], str]
OURS = f"cwii.dev_cluster_{NAME}"
IDENTITY = f"azure/identity/{GROUP}/{INGRESS}"
CREDENTIAL = {
    "issuer": "https://another.example.org",
    "subject": SUBJECT,
    "audiences": ["openshift"],
}


def a_group(ground: AzureGround, cluster: str = "") -> str:
    by_hand.a_group(ground, GROUP, tags(cluster))
    return f"azure/resource-group/{GROUP}"


def a_group_of_ours(ground: AzureGround) -> None:
    if ground.arm("GET", group_id(GROUP)) is None:
        by_hand.a_group(ground, GROUP, tags(NAME))


def an_account(ground: AzureGround, cluster: str = "") -> str:
    a_group_of_ours(ground)
    by_hand.an_account(ground, ACCOUNT, told=tags(cluster), allowBlobPublicAccess=True)
    return f"azure/storage-account/{GROUP}/{ACCOUNT}"


def a_container(ground: AzureGround, cluster: str = "") -> str:
    a_group_of_ours(ground)
    if ground.arm("GET", by_hand.account_id(ACCOUNT)) is None:
        by_hand.an_account(ground, ACCOUNT, told=tags(NAME), allowBlobPublicAccess=True)
    mark = (
        {"cwii_mark": f"cwii.dev/cluster/{cluster}=owned cwii.dev/origin=create-all"}
        if cluster
        else {}
    )
    by_hand.a_container(ground, ACCOUNT, CONTAINER, **mark)
    by_hand.assigned(
        ground,
        by_hand.container_id(ACCOUNT, CONTAINER),
        by_hand.BLOBS,
        OPERATOR,
        principalType="ServicePrincipal",
    )  # who may see that it is empty
    return f"azure/container/{ACCOUNT}/{CONTAINER}"


def an_identity(ground: AzureGround, cluster: str = "") -> str:
    a_group_of_ours(ground)
    by_hand.an_identity(ground, INGRESS, told=tags(cluster))
    ground.arm(
        "PUT",
        f"{by_hand.identity_id(INGRESS)}/federatedIdentityCredentials/theirs",
        {"properties": CREDENTIAL},
    )
    return IDENTITY


def a_role(ground: AzureGround, cluster: str = "") -> str:
    by_hand.a_role(
        ground,
        REGISTRY,
        f"theirs{f'. cwii.dev/cluster/{cluster}=owned cwii.dev/origin=create-all' if cluster else ''}",
    )
    return f"azure/custom-role/{REGISTRY}"


@pytest.mark.parametrize("cluster", ["", "another"], ids=["unmarked", "of another cluster"])
@pytest.mark.parametrize("make", [a_group, an_account, a_container, an_identity, a_role])
def test_what_is_foreign_is_refused_before_the_first_write(
    ground: AzureGround, make: Make, cluster: str
) -> None:
    foreign.refused(ground, make, cluster)


def test_people_are_told_what_is_in_the_way_and_what_to_do(ground: AzureGround) -> None:
    an_identity(ground)

    foreign.told(ground.create_all("-o", "text"), IDENTITY)


def test_status_and_a_dry_run_show_what_is_foreign_too(ground: AzureGround) -> None:
    an_identity(ground)

    foreign.shown(ground, IDENTITY)


def test_what_is_adopted_is_made_as_wanted_and_released_by_delete(ground: AzureGround) -> None:
    things = [make(ground, "") for make in (a_group, an_account, a_container, an_identity, a_role)]
    before = ground.clouds()

    done = ground.create_all(*(word for thing in things for word in ("--adopt", thing)))
    assert done.code == 0, done.out
    assert {done.things[thing] for thing in things} == {"repaired"}
    assert {done.fields[thing][0] for thing in things} == {"mark"}
    assert done.fields[IDENTITY] == ["mark", "credentials", "tags"]  # trust that nobody asked for
    made = ground.clouds()
    assert list(made["identities"][INGRESS]["credentials"]) == ["ingress-operator"]
    for kind, name in (("groups", GROUP), ("accounts", ACCOUNT), ("identities", INGRESS)):
        assert made[kind][name]["tags"][OURS] == "adopted"
        assert (
            "openshift.io_cloud-credential-operator_demo" not in made[kind][name]["tags"]
        )  # ccoctl drops what bears it
    ground.fresh()
    assert ground.create_all().but("as wanted") == {}  # once is enough
    assert ground.mutating() == []

    gone = ground.delete("--yes", "--delete-oidc-resource-group")
    assert gone.code == 0, gone.out
    assert {gone.things[thing] for thing in things} == {"released"}
    assert gone.but("dropped", "released") == {}
    left = ground.clouds()
    assert {kind: list(left[kind]) for kind in before} | {"groups": [GROUP]} == {
        kind: list(before[kind]) for kind in before
    }
    assert (
        left["groups"][GROUP]["tags"]
        == left["accounts"][ACCOUNT]["tags"]
        == left["identities"][INGRESS]["tags"]
        == {"Name": NAME}
    )
    assert "cwii.dev" not in str({kind: left[kind] for kind in ("accounts", "identities", "roles")})
    assert ground.delete("--yes").data["things"] == []


def test_an_adopted_identity_keeps_what_others_gave_it_when_it_is_released(
    ground: AzureGround,
) -> None:
    an_identity(ground)
    principal = ground.arm("GET", by_hand.identity_id(INGRESS))["properties"]["principalId"]
    scope = by_hand.group_id(GROUP)
    given = by_hand.assigned(
        ground,
        scope,
        by_hand.READER,
        principal,
        principalType="ServicePrincipal",
        description="by the owner",
    )
    elsewhere = ("--storage-account-name", "elsewhere", "--blob-container-name", "elsewhere")
    by_hand.an_account(ground, "elsewhere", GROUP, allowBlobPublicAccess=True)
    by_hand.a_container(ground, "elsewhere", "elsewhere", GROUP)
    done = ground.create_all(
        "--adopt",
        IDENTITY,
        "--adopt",
        f"azure/resource-group/{GROUP}",
        "--preserve-existing-roles",
        *elsewhere,
    )
    assert done.code == 0, done.out

    gone = ground.delete("--yes")

    assert gone.code == 0, gone.out
    assert gone.things[IDENTITY] == "released"
    (kept,) = [
        each
        for each in gone.data["things"]
        if each["thing"] == f"azure/role-assignments/{GROUP}/{INGRESS}/{given.rpartition('/')[2]}"
    ]
    assert (kept["condition"], kept["problem"].partition(" role")[0]) == ("kept", "others gave it")
    left = ground.clouds()["assignments"]
    assert [(each["role"], each["description"]) for each in left] == [
        (by_hand.READER, "by the owner")
    ]
    assert ground.arm("GET", given)


def test_an_account_of_ours_stays_as_long_as_an_adopted_identity_trusts_its_issuer(
    ground: AzureGround,
) -> None:
    an_identity(ground)
    assert ground.create_all("--adopt", IDENTITY).code == 0
    accounts = ground.clouds()["accounts"]

    gone = ground.delete("--yes")

    assert gone.code == 1
    assert (
        gone.things[IDENTITY]
        == gone.things[f"azure/storage-account/{GROUP}/{ACCOUNT}"]
        == "not tried"
    )
    assert "delete it first" in gone.out
    assert ground.clouds()["accounts"] == accounts
    ground.arm("DELETE", by_hand.identity_id(INGRESS))
    then = ground.delete("--yes", "--delete-oidc-resource-group")
    assert then.code == 0, then.out
    assert then.things[f"azure/storage-account/{GROUP}/{ACCOUNT}"] == "dropped"
    assert ground.clouds() == NOTHING


def test_an_account_of_its_name_in_another_group_of_ours_is_refused_with_the_group_that_it_is_in(
    ground: AzureGround,
) -> None:
    by_hand.a_group(ground, "elsewhere")
    by_hand.an_account(ground, ACCOUNT, "elsewhere")
    before = ground.clouds()
    ground.fresh()

    done = ground.create_all()

    assert done.code == 4
    assert done.things[f"azure/storage-account/{GROUP}/{ACCOUNT}"] == "foreign"
    assert "is in the resource group elsewhere" in done.out
    assert "give --oidc-resource-group-name elsewhere, or another account" in done.out
    assert ground.mutating() == []
    assert ground.clouds() == before


def test_an_account_name_that_a_stranger_has_is_refused_before_the_first_write(
    enter: Enter,
) -> None:
    ground = enter(strangers=frozenset({ACCOUNT}))
    address = f"azure/storage-account/{GROUP}/{ACCOUNT}"

    for done in (ground.create_all(), ground.create_all("--adopt", address)):
        assert done.code == 4
        assert done.things[address] == "foreign"
        assert (
            "is taken in the world, and by no storage account that is seen in the subscription"
            in done.out
        )
        assert "--adopt" not in done.out
        assert "--storage-account-name" in done.out
    assert ground.mutating() == []
    assert ground.clouds() == NOTHING


def test_delete_touches_nothing_of_others(ground: AzureGround) -> None:
    ground.create_all()
    site = group_id(SITE)
    theirs = by_hand.an_identity(ground, f"{NAME}-theirs")  # in our group, and named as ours are
    by_hand.an_account(ground, f"{NAME}theirs")
    by_hand.a_group(ground, f"{NAME}-theirs")
    by_hand.a_role(ground, f"{NAME}-theirs")
    given = [
        by_hand.assigned(ground, site, READER, theirs),
        by_hand.assigned(ground, site, READER, PERSON),
    ]
    found = ground.arm("GET", by_hand.identity_id(REGISTRY))
    ground.arm(
        "PUT", by_hand.identity_id(REGISTRY), {**found, "tags": {"Name": "theirs"}}
    )  # somebody has taken our mark away
    before = ground.clouds()

    gone = ground.delete("--yes")

    assert gone.code == 0, gone.out
    left = ground.clouds()
    assert list(left["accounts"]) == [f"{NAME}theirs"]
    assert sorted(left["identities"]) == sorted([REGISTRY, f"{NAME}-theirs"])
    assert list(left["roles"]) == [f"{NAME}-theirs"]
    assert sorted(left["groups"]) == sorted([GROUP, SITE, f"{NAME}-theirs"])
    for kind in ("accounts", "identities", "roles", "groups"):
        assert left[kind] == {name: before[kind][name] for name in left[kind]}
    assert all(ground.arm("GET", each) for each in given)
    assert len(left["assignments"]) == len(given)


def test_an_account_that_holds_something_of_others_is_not_dropped_and_neither_is_a_container(
    ground: AzureGround,
) -> None:
    ground.create_all()
    ground.changed(by_hand.account_id(ACCOUNT), allowSharedKeyAccess=True)
    by_hand.upload(ground, (ACCOUNT, CONTAINER), "terraform.tfstate", b"theirs")
    container, account = (
        f"azure/container/{ACCOUNT}/{CONTAINER}",
        f"azure/storage-account/{GROUP}/{ACCOUNT}",
    )

    done = ground.delete("--yes", "--delete-oidc-resource-group")

    assert done.code == 1
    groups = [f"azure/resource-group/{each}" for each in (GROUP, SITE)]
    assert done.but("dropped") == {
        container: "foreign",
        account: "not tried",
        **dict.fromkeys(groups, "not tried"),
    }, done.out
    assert "terraform.tfstate" in done.out
    assert not any(
        each["role"] == by_hand.BLOBS for each in ground.clouds()["assignments"]
    )  # lent to look into it, and taken back
    with by_hand.blobs(ground, ACCOUNT) as client:
        client.get_blob_client(CONTAINER, "terraform.tfstate").delete_blob()
    by_hand.a_container(ground, ACCOUNT, "backups")
    ground.fresh()
    for how, rest in (
        ("--dry-run", "to drop"),
        ("--yes", "not tried"),
    ):  # and what can be looked into beforehand is told before anything is dropped
        then = ground.delete(how)
        assert then.code == 4
        assert then.but("kept") == {container: rest, account: "foreign"}
        assert "holds what is not ours: the container backups" in then.out
    assert ground.mutating() == []


@pytest.mark.parametrize(
    "thing",
    [f"azure/identity/{GROUP}/{NAME}-nobody", "azure/storage-account/another/account", "azure"],
)
def test_adopting_what_is_in_no_plan_is_bad_input_and_changes_nothing(
    ground: AzureGround, thing: str
) -> None:
    done = ground.create_all("--adopt", thing)

    assert done.code == 2
    assert f"--adopt {thing}" in done.data["problem"]
    assert "--dry-run" in done.data["remedy"]
    assert ground.mutating() == []
    assert "out" not in ground.files()


def test_delete_of_nothing_is_done_at_once(ground: AzureGround) -> None:
    done = ground.delete("--yes")

    assert (done.code, done.data["things"]) == (0, [])
