"""Roles in a second project: written down before they are given, and found again by whoever has nothing but the cluster's name."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from cwiictl.sandbox.gcp.world import OPERATOR, PROJECT, SECOND
from tests.journeys.cuts import after
from tests.journeys.gcp import by_hand
from tests.journeys.gcp.ground import ACCOUNTS, NAME, NOTHING, POOL, POOLS, GcpGround, principal

FILE = ("--file", "cluster.yaml")
SCOPES = f"cwii.dev/scopes={SECOND}"
ZONES = "system:serviceaccount:shop:zones"
CONDITION = {"title": "till then", "expression": "request.time < timestamp('2100-01-01T00:00:00Z')"}
PART = "only what the cluster's members are granted in it: all else stays"
SOMEBODY = "user:somebody@example.org"
THEIRS = {"role": "roles/dns.admin", "members": [SOMEBODY], "condition": CONDITION}


def cluster() -> str:
    """Of two workloads that reach out, one of them without a service account."""
    billing: dict[str, Any] = {
        "predefinedRoles": [
            "roles/viewer",
            {"role": "roles/dns.admin", "projects": [PROJECT, SECOND]},
        ]
    }
    zones: dict[str, Any] = {
        "predefinedRoles": ["roles/dns.admin"],
        "projects": [SECOND],
        "serviceAccount": False,
    }
    workloads = [
        {"name": name, "namespace": "shop", "serviceAccounts": [name], "gcp": asked}
        for name, asked in (("billing", billing), ("zones", zones))
    ]
    clouds = {"gcp": {"project": PROJECT}}
    told = {
        "apiVersion": "cwii.dev/v1",
        "kind": "Cluster",
        "name": NAME,
        "clouds": clouds,
        "outputDir": "out",
        "workloads": workloads,
    }
    return yaml.safe_dump(told, sort_keys=False)


def outside(ground: GcpGround) -> dict[str, list[str]]:
    return {
        each["role"]: sorted(each["members"]) for each in ground.bindings(SECOND) if each != THEIRS
    }


@pytest.fixture
def there(ground: GcpGround) -> GcpGround:
    """With something of others in the other project."""
    by_hand.granted(ground, "roles/dns.admin", SOMEBODY, SECOND, **CONDITION)
    ground.write("cluster.yaml", cluster())
    ground.fresh()
    return ground


@pytest.fixture
def made(there: GcpGround) -> GcpGround:
    done = there.cwiictl("create-all", *FILE, "--bits", "2048", "-o", "json")
    assert done.code == 0, done.out
    return there


def nothing_left(ground: GcpGround) -> None:
    assert {**ground.clouds(), "roles": {}} == {
        **NOTHING,
        "policies": {PROJECT: [], SECOND: [THEIRS]},
    }


def test_where_they_reach_out_is_written_down_and_delete_from_an_empty_folder_finds_it(
    made: GcpGround,
) -> None:
    email = made.account(f"{NAME} shop/billing")
    assert outside(made) == {
        "roles/dns.admin": sorted([principal(ZONES), f"serviceAccount:{email}"])
    }
    assert THEIRS in made.bindings(SECOND)
    assert SCOPES in made.rest("GET", "iam", f"{ACCOUNTS}/{email}")["description"]
    assert SCOPES in made.iam("GET", f"{POOLS}/{POOL}")["description"]
    asked = made.asked()
    assert "iam.serviceAccounts.update" not in asked  # in its creating call
    assert (
        asked.count("resourcemanager.projects.setIamPolicy") == 2
    )  # one for each project, whoever is given something
    made.fresh()
    again = made.cwiictl("create-all", *FILE, "-o", "json")
    assert (again.code, again.but("as wanted")) == (0, {})
    assert made.mutating() == []
    (made.folder / "cluster.yaml").unlink()

    gone = made.delete("--yes")

    assert gone.code == 0, gone.out
    nothing_left(made)


@pytest.mark.parametrize("writes", after(range(4, 12)))
def test_killed_wherever_it_is_delete_finds_them_all_the_same(
    there: GcpGround, writes: int
) -> None:
    there.killed(writes, "create-all", *FILE, "--bits", "2048", "--concurrency", "1")

    gone = there.delete("--yes")

    assert gone.code == 0, gone.out
    nothing_left(there)


def test_where_nobody_reaches_out_any_more_is_left_over_and_forgotten_when_it_is_pruned(
    made: GcpGround,
) -> None:
    """So that a project may go in its turn: nothing looks into it from then on."""
    told = yaml.safe_load(cluster())
    for workload in told["workloads"]:
        workload["gcp"] = {
            "predefinedRoles": ["roles/viewer"],
            "serviceAccount": workload["gcp"].get("serviceAccount", True),
        }
    made.write("cluster.yaml", yaml.safe_dump(told))
    policy = f"gcp/policy/{SECOND}"
    assert made.cwiictl("status", *FILE, "-o", "json").but("as wanted", "drifted") == {
        policy: "left over"
    }
    assert made.cwiictl("create-all", *FILE, "-o", "json").things[policy] == "left over"
    assert SCOPES in made.clouds()["pools"][POOL]["description"]

    pruned = made.cwiictl("create-all", *FILE, "--prune", "--yes", "-o", "json")

    assert (pruned.code, pruned.but("as wanted")) == (0, {policy: "dropped"})
    assert pruned.remarks[policy] == [PART]
    assert made.bindings(SECOND) == [THEIRS]
    assert "cwii.dev/scopes" not in str(made.clouds())
    made.fresh()
    assert made.cwiictl("status", *FILE, "-o", "json").but("as wanted") == {}
    assert made.cwiictl("create-all", *FILE, "-o", "json").code == 0
    assert made.mutating() == []
    assert f"projects/{SECOND}" not in str(list(made.sandbox.record)[made.before :])


def test_what_stands_nowhere_is_found_where_one_is_told_to_look(made: GcpGround) -> None:
    """As after somebody has written over the descriptions, and where they reach out with them."""
    made.iam(
        "PATCH",
        f"{POOLS}/{POOL}?updateMask=description",
        {"description": "cwii.dev/cluster/demo=owned cwii.dev/origin=create-all"},
    )
    email = made.account(f"{NAME} shop/billing")
    by_hand.account(
        made, email, description="cwii.dev/cluster/demo=owned cwii.dev/origin=create-all"
    )
    assert f"gcp/policy/{SECOND}" not in made.delete("--dry-run").things

    gone = made.delete("--yes", "--also", SECOND)

    assert gone.code == 0, gone.out
    assert gone.things[f"gcp/policy/{SECOND}"] == "dropped"
    assert gone.remarks == {f"gcp/policy/{project}": [PART] for project in (PROJECT, SECOND)}
    nothing_left(made)


def test_a_project_that_may_not_be_looked_into_is_told_before_anything_goes(
    made: GcpGround,
) -> None:
    made.fresh()
    gone = made.delete("--yes", "--also", "nobodys-project", "-o", "text")

    assert gone.code == 1, gone.out
    assert "nobodys-project" in gone.err + gone.out
    assert made.mutating() == []
    assert made.delete("--yes").code == 0
    nothing_left(made)


def test_a_pool_stays_as_long_as_its_members_have_roles_that_nobody_can_take_from_them(
    made: GcpGround,
) -> None:
    """It alone says where they are."""
    operator = f"serviceAccount:{OPERATOR}"
    by_hand.granted(made, "roles/viewer", operator, SECOND)
    by_hand.revoked(made, "roles/owner", operator, SECOND)

    gone = made.delete("--yes")

    assert gone.code == 1, gone.out
    assert gone.things[f"gcp/pool/{POOL}"] in {"failed", "not tried"}
    assert (
        gone.things[f"gcp/bucket/{NAME}-oidc"] == "not tried"
    )  # whoever took its name would be believed
    assert "resourcemanager.projects.setIamPolicy" in gone.out
    assert SCOPES in made.clouds()["pools"][POOL]["description"]
    assert principal(ZONES) in outside(made)["roles/dns.admin"]
