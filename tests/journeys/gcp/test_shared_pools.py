"""Whoever is believed in the cluster's pool may say to be any of its workloads: nobody is, but for its own issuer."""

from __future__ import annotations

from typing import Any

from tests.journeys.gcp import by_hand
from tests.journeys.gcp.ground import ACCOUNTS, ISSUER, NAME, POOL, POOLS, PROVIDER, GcpGround
from tests.journeys.ground import Done

POOL_, GITHUB = f"gcp/pool/{POOL}", "https://token.actions.example.org"
NAMED = ("--workload-identity-pool", "theirs")


def told(done: Done, thing: str) -> Any:
    (one,) = [one for one in done.data["things"] if one["thing"] == thing]
    return one


def test_a_pool_of_the_users_own_with_a_provider_of_others_is_refused_before_anything_is_written(
    ground: GcpGround,
) -> None:
    by_hand.a_pool(ground, "theirs", description="Important pool of team X")
    by_hand.a_provider(ground, "github", "theirs", oidc={"issuerUri": GITHUB})
    before = ground.clouds()

    done = ground.create_all(*NAMED)

    assert done.code != 0
    assert "a pool of its own" in told(done, "gcp/pool/theirs")["remedy"]
    assert ground.clouds() == before


def test_a_pool_of_the_users_own_says_what_it_said_and_bears_our_mark_behind_that(
    ground: GcpGround,
) -> None:
    by_hand.a_pool(ground, "theirs", description="Important pool of team X")

    assert ground.create_all(*NAMED).code == 0

    (pool,) = ground.pools()
    assert pool["description"].startswith("Important pool of team X cwii.dev/cluster/")
    assert ground.status(*NAMED).code == 0


def test_the_pool_of_another_cluster_is_not_shared(ground: GcpGround) -> None:
    assert ground.create_all().code == 0
    before = ground.clouds()

    other = (
        "--cloud",
        "gcp",
        "--name",
        "beta",
        *ground.where[4:],
        "--credentials-requests-dir",
        "requests",
        "--output-dir",
        "beta",
        "-o",
        "json",
        "--workload-identity-pool",
        NAME,
    )
    done = ground.cwiictl("create-all", *other, "--bits", "2048")

    assert done.code != 0
    assert f"the mark of cluster {NAME}" in told(done, POOL_)["problem"]
    assert ground.clouds() == before


def test_a_provider_of_others_in_our_pool_is_told_and_nobody_is_given_anything_while_it_is_there(
    ground: GcpGround,
) -> None:
    assert ground.create_all().code == 0
    by_hand.a_provider(ground, "github", oidc={"issuerUri": GITHUB})

    seen = ground.status()
    assert seen.code == 3
    assert seen.fields[POOL_] == ["providers"]
    done = ground.create_all()

    assert done.code != 0
    assert "providers delete github" in told(done, POOL_)["remedy"]
    by_hand.provider(ground, "github", disabled=True)
    assert ground.status().code == 0


def test_another_provider_of_ours_is_left_over_and_can_be_pruned(ground: GcpGround) -> None:
    former = ("--workload-identity-provider", "former")
    assert ground.create_all(*former).code == 0
    assert ground.create_all().code == 0

    assert ground.status().code == 3
    assert ground.create_all("--prune", "--yes").code == 0

    assert [each["name"].rpartition("/")[2] for each in ground.providers()] == [PROVIDER]
    assert ground.status().code == 0


def test_who_was_believed_in_a_deleted_pool_is_not_believed_again_when_it_comes_back(
    ground: GcpGround,
) -> None:
    assert ground.create_all().code == 0
    assert ground.delete("--yes").code == 0
    ground.iam("POST", f"{POOLS}/{POOL}:undelete", {})

    assert ground.providers() == []
    assert [each["oidc"]["issuerUri"] for each in ground.providers(deleted=True)] == [ISSUER]


def test_where_another_issuer_comes_back_with_its_pool_it_is_put_right_before_any_service_account_is_made(
    ground: GcpGround,
) -> None:
    assert ground.create_all().code == 0
    by_hand.provider(ground, oidc={"issuerUri": "https://evil.example.org"}, mask="oidc.issuerUri")
    by_hand.gone(ground, f"{POOLS}/{POOL}")
    for account in ground.accounts():
        by_hand.gone(ground, f"{ACCOUNTS}/{account['email']}")
    ground.fresh()

    assert ground.create_all().code == 0

    written = [each.action for each in list(ground.sandbox.record)[ground.before :]]
    put_right = written.index("iam.workloadIdentityPoolProviders.update")
    assert put_right < min(
        written.index(f"iam.serviceAccounts.{verb}") for verb in ("create", "setIamPolicy")
    )
