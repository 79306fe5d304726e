"""An account that nobody reads anonymously, and a host of the user's own that serves what is in it."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.journeys import cuts
from tests.journeys.azure import by_hand
from tests.journeys.azure.by_hand import (
    DISCOVERY,
    HOUSE,
    JWKS,
    LENDING,
    SHELF,
    STORE,
    a_house,
    a_shelf,
    writer,
)
from tests.journeys.azure.conftest import Enter
from tests.journeys.azure.ground import ACCOUNT, CONTAINER, GROUP, NOTHING, AzureGround

HOST = "id.example.org"
PRIVATE = ("--create-private-storage-account", "--issuer-url", f"https://{HOST}")
IN_STORE = ("--oidc-resource-group-name", HOUSE, "--storage-account-name", STORE)


def publish(
    ground: AzureGround, account: str = ACCOUNT, container: str = CONTAINER, group: str = GROUP
) -> None:
    """As the user's front door does, which may read what is in there."""
    given = writer(ground, account, group)
    with by_hand.blobs(ground, account, key=False) as client:
        for path in (DISCOVERY, JWKS):
            file: Path = ground.sandbox.settings.serve[HOST] / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(client.get_blob_client(container, path).download_blob().readall())
    by_hand.unassigned(ground, given)


@pytest.fixture
def served(enter: Enter, tmp_path: Path) -> AzureGround:
    (tmp_path / "served").mkdir()
    ground = enter(serve={HOST: tmp_path / "served"})
    ground.keys()
    return ground


def test_a_private_account_is_read_by_nobody_and_trusted_once_the_users_host_serves_it(
    served: AzureGround,
) -> None:
    done = served.create_all(*PRIVATE)
    assert done.code == 1
    assert done.but("created", "as wanted", "repaired", "given back") == {
        f"issuer/https://{HOST}": "failed"
    }
    assert f"https://{HOST}/{DISCOVERY} answers 404" in done.out
    account = served.clouds()["accounts"][ACCOUNT]
    assert (account["allowBlobPublicAccess"], account["containers"][CONTAINER]["public"]) == (
        False,
        "None",
    )
    assert account["containers"][CONTAINER]["documents"] == {}  # for who comes without a token

    publish(served)
    served.fresh()
    again = served.create_all(*PRIVATE)
    assert (again.code, again.but("as wanted", "repaired", "given back")) == (0, {}), again.out
    assert served.mutating() == sorted(LENDING)  # to read what is there
    given = writer(served, ACCOUNT)
    served.fresh()
    assert served.create_all(*PRIVATE).but("as wanted") == {}
    assert served.status(*PRIVATE).but("as wanted") == {}
    assert served.mutating() == []
    by_hand.unassigned(served, given)
    issuers = {
        each["issuer"]
        for one in served.clouds()["identities"].values()
        for each in one["credentials"].values()
    }
    assert issuers == {f"https://{HOST}"}

    assert served.delete("--yes", "--delete-oidc-resource-group").code == 0
    assert served.clouds() == NOTHING


@pytest.mark.parametrize("writes", cuts.after([4, 8, 12]))
def test_a_private_account_that_was_cut_in_its_making_is_finished_by_the_next_run(
    served: AzureGround, writes: int
) -> None:
    assert (
        served.killed(writes, "create-all", *served.where, *served.asking, *PRIVATE)
        == -signal.SIGKILL
    )
    served.create_all(*PRIVATE)
    publish(served)

    assert served.create_all(*PRIVATE).code == 0
    given = writer(served, ACCOUNT)  # so that looking needs no lending
    served.fresh()
    assert served.status(*PRIVATE).but("as wanted") == {}
    assert served.create_all(*PRIVATE).but("as wanted") == {}
    assert served.mutating() == []
    by_hand.unassigned(served, given)


def test_a_private_place_of_the_users_own_is_not_let_go_of_by_whoever_may_not_look_for_what_is_ours_in_it(
    served: AzureGround,
) -> None:
    a_house(served)
    a_shelf(served, "None")
    place = (*IN_STORE, "--blob-container-name", SHELF, "--issuer-url", f"https://{HOST}")
    before = by_hand.inside(served, STORE, SHELF, HOUSE)
    assert served.create_all(*place).code == 1  # nobody serves it yet
    publish(served, STORE, SHELF, HOUSE)
    done = served.create_all(*place)
    assert done.code == 0, done.out

    stuck = served.delete("--yes")
    assert stuck.code == 1
    assert "az role assignment create --role 'Storage Blob Data Contributor'" in stuck.out
    theirs = [
        f"azure/resource-group/{HOUSE}",
        f"azure/storage-account/{HOUSE}/{STORE}",
        f"azure/container/{STORE}/{SHELF}",
    ]
    assert {stuck.things[each] for each in theirs} == {"not tried"}

    given = writer(served, STORE, HOUSE)
    gone = served.delete("--yes")
    by_hand.unassigned(served, given)
    assert gone.code == 0, gone.out
    assert {gone.things[each] for each in theirs} == {"released"}
    assert by_hand.inside(served, STORE, SHELF, HOUSE) == before


def test_a_private_account_without_a_host_that_serves_it_is_refused_before_anything_is_made(
    ground: AzureGround,
) -> None:
    done = ground.create_all("--create-private-storage-account", "-o", "text")

    assert done.code == 2
    assert "--issuer-url" in done.err
    assert ground.mutating() == []


def test_an_account_that_is_closed_to_this_network_says_from_where_to_run(
    served: AzureGround,
) -> None:
    a_house(served)
    served.changed(by_hand.account_id(STORE, HOUSE), publicNetworkAccess="Disabled")

    done = served.create_all(*IN_STORE, "--issuer-url", f"https://{HOST}")

    assert done.code == 1
    (told,) = [
        row
        for row in done.data["things"]
        if row["thing"] == f"azure/key-set/{STORE}/{CONTAINER}/{JWKS}"
    ]
    assert "lets nobody in from this network" in told["problem"]
    assert told["remedy"] == "run this from a network that it lets in, or let this one in"
    assert not any(each["role"] == by_hand.BLOBS for each in served.clouds()["assignments"])
