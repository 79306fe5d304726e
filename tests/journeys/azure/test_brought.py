"""A group, an account and a container of the user's own: our mark and two documents are ours, and nothing else of them is touched."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from tests.journeys import cuts
from tests.journeys.azure import by_hand
from tests.journeys.azure.by_hand import (
    DISCOVERY,
    HOUSE,
    JWKS,
    LETTER,
    SHELF,
    STORE,
    a_house,
    a_shelf,
)
from tests.journeys.azure.ground import CONTAINER, NAME, SITE, AzureGround

IN_STORE = ("--oidc-resource-group-name", HOUSE, "--storage-account-name", STORE)
ON_SHELF = (*IN_STORE, "--blob-container-name", SHELF)
RELEASED = {
    "cwii_mark": "released"
}  # for nobody knows whether Azure takes an empty metadata for a wish or for none


@pytest.fixture
def shelf(ground: AzureGround) -> AzureGround:
    a_house(ground)
    a_shelf(ground)
    ground.fresh()
    return ground


def test_of_a_container_of_the_users_own_only_the_mark_is_written_and_it_survives_delete(
    shelf: AzureGround,
) -> None:
    before, blobs = shelf.clouds(), by_hand.inside(shelf, STORE, SHELF, HOUSE)

    done = shelf.create_all(*ON_SHELF)
    assert done.code == 0, done.out
    made, now = shelf.clouds(), by_hand.inside(shelf, STORE, SHELF, HOUSE)
    for kind, name in (("groups", HOUSE), ("accounts", STORE)):
        marks = {
            key: made[kind][name]["tags"].pop(key)
            for key in (f"cwii.dev_cluster_{NAME}", "cwii.dev_origin")
        }
        assert marks == {f"cwii.dev_cluster_{NAME}": "brought", "cwii.dev_origin": "create-all"}
    container = made["accounts"][STORE]["containers"][SHELF]
    assert (
        container["metadata"].pop("cwii_mark")
        == f"cwii.dev/cluster/{NAME}=brought cwii.dev/origin=create-all"
    )
    assert set(container.pop("documents")) == {DISCOVERY, JWKS}
    assert before["accounts"][STORE]["containers"][SHELF].pop("documents") == {}
    assert made["accounts"] == before["accounts"]
    assert made["groups"][HOUSE] == before["groups"][HOUSE]
    assert {path: now[path] for path in blobs} == blobs
    assert set(now) == {LETTER, DISCOVERY, JWKS}

    shelf.fresh()
    assert shelf.create_all(*ON_SHELF).but("as wanted") == {}
    assert shelf.status(*ON_SHELF).but("as wanted") == {}
    assert shelf.mutating() == []

    gone = shelf.delete("--yes", "--delete-oidc-resource-group")  # from its marks alone
    assert gone.code == 0, gone.out
    assert {thing for thing, condition in gone.things.items() if condition == "released"} == {
        f"azure/resource-group/{HOUSE}", f"azure/storage-account/{HOUSE}/{STORE}", f"azure/container/{STORE}/{SHELF}"
    }  # fmt: skip
    left = shelf.clouds()
    assert left["accounts"][STORE]["containers"][SHELF].pop("documents") == {}
    assert left["accounts"][STORE]["containers"][SHELF]["metadata"] == {"team": "house", **RELEASED}
    left["accounts"][STORE]["containers"][SHELF]["metadata"] = {"team": "house"}
    assert {**left, "groups": {HOUSE: left["groups"][HOUSE]}} == {
        **before,
        "groups": {HOUSE: before["groups"][HOUSE]},
    }
    assert by_hand.inside(shelf, STORE, SHELF, HOUSE) == blobs


@pytest.mark.parametrize("writes", cuts.after([1, 4, 7, 10, 14]))
def test_killed_in_the_middle_it_ends_as_a_clean_run_and_leaves_the_users_own_as_it_was(
    shelf: AzureGround, writes: int
) -> None:
    blobs = by_hand.inside(shelf, STORE, SHELF, HOUSE)
    assert (
        shelf.killed(writes, "create-all", *shelf.where, *shelf.asking, "--bits", "2048", *ON_SHELF)
        == -signal.SIGKILL
    )

    assert shelf.create_all(*ON_SHELF).code == 0
    shelf.fresh()
    assert shelf.create_all(*ON_SHELF).but("as wanted") == {}
    assert shelf.mutating() == []

    assert shelf.killed(max(1, writes // 2), "delete", *shelf.where, "--yes") == -signal.SIGKILL
    gone = shelf.delete("--yes")
    assert gone.code == 0, gone.out
    left = shelf.clouds()
    assert by_hand.inside(shelf, STORE, SHELF, HOUSE) == blobs
    assert left["groups"][HOUSE]["tags"] == left["accounts"][STORE]["tags"] == {"team": "house"}
    assert (left["identities"], left["roles"], left["assignments"]) == ({}, {}, [])


@pytest.mark.parametrize("keys", [None, False], ids=["as it comes", "shared keys off"])
def test_a_container_that_is_made_in_an_account_of_the_users_own_goes_and_the_account_stays(
    ground: AzureGround, keys: Any
) -> None:
    a_house(ground, allowSharedKeyAccess=keys)
    before = ground.clouds()

    done = ground.create_all(*IN_STORE)
    assert done.code == 0, done.out
    assert done.things[f"azure/container/{STORE}/{CONTAINER}"] == "created"
    assert ground.clouds()["accounts"][STORE]["allowSharedKeyAccess"] is keys

    gone = ground.delete("--yes")
    assert gone.code == 0, gone.out
    assert gone.things[f"azure/container/{STORE}/{CONTAINER}"] == "dropped"
    left = ground.clouds()
    assert left["groups"].pop(SITE)
    assert left == before


def test_another_issuers_documents_in_a_container_of_the_users_own_are_left_alone(
    shelf: AzureGround,
) -> None:
    by_hand.upload(
        shelf, (STORE, SHELF), DISCOVERY, b'{"issuer": "https://another.example.org"}', HOUSE
    )
    before = shelf.clouds()
    shelf.fresh()

    done = shelf.create_all(*ON_SHELF)

    assert done.code == 4, done.out
    assert "--blob-container-name" in done.out
    assert shelf.mutating() == []
    assert shelf.clouds() == before


def test_the_issuers_documents_that_were_there_unmarked_are_put_right_and_stay_when_it_goes(
    shelf: AzureGround,
) -> None:
    """As another tool has published them."""
    assert shelf.create_all(*ON_SHELF).code == 0
    published = by_hand.inside(shelf, STORE, SHELF, HOUSE)
    assert shelf.delete("--yes").code == 0
    for path in (DISCOVERY, JWKS):
        by_hand.upload(
            shelf,
            (STORE, SHELF),
            path,
            published[path]["body"],
            HOUSE,
            content_type="text/plain",
            metadata={"of": "house"},
        )

    done = shelf.create_all(*ON_SHELF)
    assert done.code == 0, done.out
    documents = {
        f"azure/{kind}/{STORE}/{SHELF}/{path}"
        for kind, path in (("document", DISCOVERY), ("key-set", JWKS))
    }
    assert {done.things[each] for each in documents} == {"repaired"}
    assert by_hand.inside(shelf, STORE, SHELF, HOUSE)[JWKS]["metadata"]["of"] == "house"
    assert shelf.create_all(*ON_SHELF).but("as wanted") == {}

    gone = shelf.delete("--yes")
    assert gone.code == 0, gone.out
    assert {gone.things[each] for each in documents} == {"released"}
    left = by_hand.inside(shelf, STORE, SHELF, HOUSE)
    assert {path: left[path] for path in (DISCOVERY, JWKS)} == {
        path: {"body": published[path]["body"], "metadata": {"of": "house"}}
        for path in (DISCOVERY, JWKS)
    }


@pytest.mark.parametrize(
    ("account", "public", "code", "named"),
    [
        (
            {"allowBlobPublicAccess": False},
            "None",
            2,
            ("lets nobody read anonymously", "allow anonymous access to its blobs"),
        ),
        ({}, "None", 2, ("lets nobody read anonymously", "give its blobs anonymous read access")),
        (
            {"publicNetworkAccess": "Disabled"},
            "Blob",
            1,
            ("is closed to public networks", "open it"),
        ),
    ],
    ids=["closed account", "closed container", "closed network"],
)
def test_what_would_stay_closed_is_refused_before_the_first_write_and_a_host_of_ones_own_is_offered(
    ground: AzureGround, account: dict[str, Any], public: str, code: int, named: tuple[str, str]
) -> None:
    a_house(ground)
    a_shelf(ground, public)
    ground.changed(by_hand.account_id(STORE, HOUSE), **account)
    ground.fresh()

    done = ground.create_all(*ON_SHELF)

    assert done.code == code, done.out  # behind a closed network nothing can be read either
    assert all(
        word in done.out
        for word in (*named, "or serve the documents from a host of your own, with --issuer-url")
    )
    assert ground.mutating() == []
    assert "out" not in ground.files()
