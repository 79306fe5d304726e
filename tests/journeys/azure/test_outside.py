"""Roles in a second subscription: written on the identity before they are given, and found again by whoever has nothing but the cluster's name."""

from __future__ import annotations

import pytest
import yaml

from cwiictl.sandbox.azure.world import SECOND
from tests.journeys import cuts
from tests.journeys.azure import by_hand
from tests.journeys.azure.by_hand import READER, group_id
from tests.journeys.azure.ground import GROUP, NAME, NOTHING, REGION, WHOLE, AzureGround

TITLE = f"{NAME}-shop-billing"
THERE = f"/subscriptions/{SECOND}"
ZONES = group_id("zones", SECOND).lower()
TAG = "cwii.dev_scopes"


def cluster(scopes: list[str]) -> str:
    """Of two workloads, one of which reaches out."""
    outside = {
        "name": "billing",
        "namespace": "shop",
        "serviceAccounts": ["billing"],
        "azure": {"roles": ["Reader"], "scopes": scopes},
    }
    powers = {"permissions": ["Microsoft.Network/dnsZones/read"], "scopes": scopes}
    own = {"name": "zones", "namespace": "shop", "serviceAccounts": ["zones"], "azure": powers}
    clouds = {"azure": {"region": REGION, "subscriptionId": WHOLE.rpartition("/")[2]}}
    told = {
        "apiVersion": "cwii.dev/v1",
        "kind": "Cluster",
        "name": NAME,
        "clouds": clouds,
        "outputDir": "out",
        "workloads": [outside, own],
    }
    return yaml.safe_dump(told, sort_keys=False)


def outside(ground: AzureGround) -> list[str]:
    return [
        each["scope"].lower()
        for each in ground.clouds()["assignments"]
        if each["scope"].lower().startswith(THERE)
    ]


def made(ground: AzureGround, *scopes: str) -> None:
    by_hand.a_group(ground, "zones", subscription=SECOND)
    ground.write("cluster.yaml", cluster(list(scopes) or [ZONES]))
    ground.fresh()
    done = ground.cwiictl("create-all", "--file", "cluster.yaml", "--bits", "2048", "-o", "json")
    assert done.code == 0, done.out


def test_where_an_identity_reaches_out_is_written_on_it_in_its_creating_call(
    ground: AzureGround,
) -> None:
    made(ground)

    assert outside(ground) == [ZONES, ZONES]
    for title in (TITLE, f"{NAME}-shop-zones"):
        assert ground.clouds()["identities"][title]["tags"][TAG] == ZONES
    assert ground.asked().count("Microsoft.ManagedIdentity/userAssignedIdentities/write") == 2
    ground.fresh()
    again = ground.cwiictl("create-all", "--file", "cluster.yaml", "-o", "json")
    assert (again.code, again.but("as wanted")) == (0, {})
    assert ground.mutating() == []


def test_delete_from_an_empty_folder_finds_and_drops_them(ground: AzureGround) -> None:
    made(ground)
    (ground.folder / "cluster.yaml").unlink()

    gone = ground.delete("--yes")

    assert gone.code == 0, gone.out
    assert ground.clouds()["assignments"] == []
    assert {**ground.clouds(), "groups": {}} == NOTHING


def test_what_took_more_than_one_tag_is_found_by_all_of_them(ground: AzureGround) -> None:
    made(ground)
    for title in (TITLE, f"{NAME}-shop-zones"):
        found = ground.arm("GET", by_hand.identity_id(title))
        found["tags"][f"{TAG}1"], found["tags"][TAG] = found["tags"][TAG], WHOLE
        ground.arm("PUT", by_hand.identity_id(title), found)

    gone = ground.delete("--yes")

    assert gone.code == 0, gone.out
    assert ground.clouds()["assignments"] == []


@pytest.mark.parametrize("writes", cuts.after([11, 14]))
def test_killed_among_its_roles_delete_finds_them_all_the_same(
    ground: AzureGround, writes: int
) -> None:
    by_hand.a_group(ground, "zones", subscription=SECOND)
    ground.write("cluster.yaml", cluster([ZONES]))
    ground.killed(
        writes, "create-all", "--file", "cluster.yaml", "--bits", "2048", "--concurrency", "1"
    )

    gone = ground.delete("--yes")

    assert gone.code == 0, gone.out
    assert ground.clouds()["assignments"] == []


def test_what_stands_nowhere_is_found_where_one_is_told_to_look(ground: AzureGround) -> None:
    """As after the identity was deleted by hand, and its tag with it."""
    made(ground)
    ground.arm("DELETE", by_hand.identity_id(TITLE))
    assert ground.delete("--dry-run").but("to drop", "kept") == {}

    gone = ground.delete("--yes", "--also", f"{THERE}, {group_id('nobody')}")

    assert gone.code == 0, gone.out
    assert gone.things[f"azure/role-assignments/{GROUP}/{TITLE}"] == "dropped"
    assert outside(ground) == []


def test_of_others_nothing_goes_there(ground: AzureGround) -> None:
    made(ground)
    theirs = by_hand.an_identity(ground, "theirs")
    given = by_hand.assigned(ground, ZONES, READER, theirs)

    assert ground.delete("--yes", "--also", THERE).code == 0

    assert outside(ground) == [ZONES]
    assert ground.arm("GET", given)


def test_more_scopes_than_a_tag_holds_are_written_by_subscription(ground: AzureGround) -> None:
    names = [f"zones-{number}-{'x' * 60}" for number in range(4)]
    for name in names:
        by_hand.a_group(ground, name, subscription=SECOND)

    made(ground, *(group_id(name, SECOND).lower() for name in names))

    assert ground.clouds()["identities"][TITLE]["tags"][TAG] == THERE
    assert ground.delete("--yes").code == 0
    assert outside(ground) == []
