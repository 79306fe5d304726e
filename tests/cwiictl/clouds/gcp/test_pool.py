"""A pool and its provider: as they are wanted, what of them is drift, and which pool of the user's own cannot be the cluster's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cwiictl.clouds.gcp.resources import room
from cwiictl.clouds.gcp.resources.pool import Believed, PoolState
from cwiictl.clouds.gcp.resources.provider import ProviderState
from cwiictl.engine.plain import plain
from cwiictl.engine.resource import Difference, Known, Mark
from tests.cwiictl.clouds.gcp.things import ADDRESS, POOL, THEIRS, a_pool, told
from tests.examples import a_cluster


def test_a_pool_and_a_provider_are_wanted_on_with_a_title_that_fits() -> None:
    want = replace(POOL, cluster=a_cluster("p" * 50)).want(Known())

    assert (want.title, want.provider) == ("p" * 32, "demo-provider")
    assert plain(POOL.want(Known())) == {
        "title": "demo",
        "description": "Kubernetes cluster demo.",
        "disabled": False,
        "deleted": False,
        "scopes": [],
    }
    assert plain(ProviderState(title="t", description="d", issuer="i", audiences=frozenset())) == {
        "title": "t", "description": "d", "issuer": "i", "audiences": [], "mapping": {"google.subject": "assertion.sub"}, "condition": "",
        "disabled": False, "deleted": False, "keys": "issuer",
    }  # fmt: skip


def test_a_pool_is_one_clusters_and_brought_only_if_it_was_named() -> None:
    assert (POOL.exclusive, POOL.brought, replace(POOL, named=True).brought) == (True, False, True)


def test_a_provider_beside_the_clusters_own_is_drift_in_a_pool_of_ours() -> None:
    strange, own = (
        Believed("other", "https://else.example.org"),
        Believed("demo-provider", "https://x"),
    )
    have = replace(POOL.want(Known()), others=frozenset({own}))

    assert POOL.differing(POOL.want(Known()), have) == ()
    there = frozenset({"other, which believes https://else.example.org"})
    assert POOL.differing(POOL.want(Known()), replace(have, others=frozenset({own, strange}))) == (
        Difference("providers", there, frozenset[str]()),
    )
    assert str(Believed("saml", "")) == "saml"


@pytest.mark.parametrize(
    ("have", "problem", "remedy"),
    [
        (
            a_pool(deleted=True), "is deleted, and it is yours",
            "gcloud iam workload-identity-pools undelete demo --location=global, or give another --workload-identity-pool",
        ),
        (
            a_pool(disabled=True), "is disabled, and it is yours",
            "gcloud iam workload-identity-pools update demo --location=global --no-disabled, or give another --workload-identity-pool",
        ),
        (
            a_pool(others=frozenset({Believed("b", ""), Believed("a", "https://a")})),
            "has the provider a, which believes https://a: whoever that is could say to be any of the cluster's workloads",
            "let the cluster have a pool of its own: leave --workload-identity-pool out, or give a name that is free",
        ),
        (
            a_pool(description="d" * (room.left("demo") + 1)), "has no room in its description for the mark of the cluster",
            "make the description shorter by 1 bytes, or give another --workload-identity-pool",
        ),
    ],
)  # fmt: skip
def test_a_pool_of_the_users_own_that_cannot_be_used_is_refused_in_these_words(
    have: PoolState, problem: str, remedy: str
) -> None:
    refusal = told(THEIRS, have)

    assert (refusal.problem, refusal.remedy) == (f"{ADDRESS} {problem}", remedy)
    assert told(POOL, have) is None, "ours is put right"
    assert told(THEIRS, replace(have, owner=Mark("demo"))) is None, "we made it"
    assert told(THEIRS, replace(have, owner=Mark("another"))) is None, "it is refused as what it is"


def test_a_pool_of_the_users_own_with_just_enough_room_is_used_and_its_mark_is_not_put_there_twice() -> (
    None
):
    left = room.left("demo")

    assert told(THEIRS, None) is None
    assert told(THEIRS, a_pool(description="d" * left)) is None
    assert told(THEIRS, a_pool(description="d" * (left + 1), owner=Mark("demo", "brought"))) is None
    assert told(THEIRS, a_pool(deleted=True, owner=Mark("demo", "brought"))) is not None
    assert THEIRS.differing(THEIRS.want(Known()), a_pool(disabled=True)) == ()
