"""Storage accounts and containers, through the real SDK on the sandbox, keep what every store promises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from azure.core.rest import HttpRequest

from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.resources.storage_account import ContainerState
from cwiictl.clouds.azure.stores import Stores
from cwiictl.engine.resource import Mark
from cwiictl.errors import Conflict, NotYet
from cwiictl.sandbox import Sandbox, Settings
from cwiictl.sandbox.azure.world import SUBSCRIPTION
from tests.contracts.azure.ground import (
    ACCOUNT,
    CLUSTER,
    CONTAINER,
    GROUP,
    an_account,
    connected,
    looking,
)
from tests.contracts.store import Specimen, StoreContract


class TestStorageAccounts(StoreContract):
    @pytest.fixture
    def specimen(self, stores: Stores, group: None) -> Specimen:  # noqa: ARG002 - it must be there first
        other = an_account(
            public=False,
            shared_key=True,
            minimum_tls="TLS1_1",
            https_only=False,
            tags={"Name": "another"},
        )
        return Specimen(
            stores.accounts, f"{GROUP}/{ACCOUNT}", an_account(), other, unknown=f"{GROUP}/unknown"
        )

    def test_it_is_waited_for_and_not_in_a_call(self, specimen: Specimen, sandbox: Sandbox) -> None:
        sandbox.faults.deploy = 0.5

        with pytest.raises(NotYet):
            specimen.store.put(specimen.name, specimen.want, None)
        specimen.put(specimen.want, specimen.mark)

        assert specimen.get() == specimen.want

    def test_one_of_that_name_in_another_group_says_where_it_is(self, specimen: Specimen) -> None:
        specimen.put(specimen.want, specimen.mark)

        found = specimen.store.get([f"{CLUSTER}/{ACCOUNT}"])[f"{CLUSTER}/{ACCOUNT}"]

        assert ids.group_of(found.id) == GROUP

    def test_one_that_holds_a_container_of_others_stays(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        looking(stores)
        stores.containers.put(f"{ACCOUNT}/ours", ContainerState(owner=Mark(CLUSTER)), None)
        stores.containers.put(f"{ACCOUNT}/theirs", ContainerState(), None)

        with pytest.raises(Conflict, match="theirs"):
            specimen.drop()
        stores.containers.drop(f"{ACCOUNT}/theirs")
        specimen.drop()

        assert specimen.get() is None

    @pytest.mark.parametrize(
        "shelf",
        [
            "fileServices/default/shares",
            "queueServices/default/queues",
            "tableServices/default/tables",
        ],
    )
    def test_one_that_holds_a_share_a_queue_or_a_table_stays(
        self, specimen: Specimen, stores: Stores, shelf: str
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        here: Any = stores.accounts
        client = here.storage._client
        url = f"/{ids.account(SUBSCRIPTION, GROUP, ACCOUNT).lstrip('/')}/{shelf}/theirs?api-version=2025-06-01"

        def send(method: str) -> None:
            client.send_request(
                HttpRequest(method, f"https://management.azure.com{url}")
            ).raise_for_status()

        send("PUT")
        with pytest.raises(Conflict, match="theirs"):
            specimen.drop()
        send("DELETE")
        specimen.drop()

        assert specimen.get() is None

    def test_of_one_that_was_brought_only_the_mark_is_ours_to_write(
        self, specimen: Specimen
    ) -> None:
        specimen.put(specimen.other, None)

        made = specimen.put(specimen.want, replace(specimen.mark, hold="brought"))

        assert made.owner.hold == "brought"
        assert made == specimen.get() == specimen.other

    def test_what_others_have_tagged_stays(self, specimen: Specimen) -> None:
        specimen.put(
            replace(specimen.want, tags={"Name": CLUSTER, "costs": "theirs"}), specimen.mark
        )

        specimen.put(specimen.other, specimen.mark)

        assert specimen.get().tags == {"Name": "another", "costs": "theirs"}


def test_a_name_whose_owner_is_not_seen_is_a_strangers_at_the_second_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An account that was made a moment ago may not show yet."""
    account = f"{GROUP}/{ACCOUNT}"
    with Sandbox(Settings(strangers=frozenset({ACCOUNT}))) as running:
        for name, value in running.variables().items():
            monkeypatch.setenv(name, value)
        for stores in connected():
            with pytest.raises(NotYet, match="does not show yet"):
                stores.accounts.get([account])
            assert stores.accounts.get([account])[account].id == ""


class TestContainers(StoreContract):
    @pytest.fixture
    def specimen(self, stores: Stores, account: None) -> Specimen:  # noqa: ARG002 - it must be there first
        stores.accounts.get([f"{GROUP}/{ACCOUNT}"])
        looking(stores)
        return Specimen(
            stores.containers,
            CONTAINER,
            ContainerState(),
            ContainerState(public="None"),
            unknown=f"{ACCOUNT}/unknown",
        )

    def test_of_one_that_was_brought_only_the_mark_is_ours_to_write(
        self, specimen: Specimen
    ) -> None:
        specimen.put(specimen.other, None)

        specimen.put(specimen.want, replace(specimen.mark, hold="brought"))

        assert specimen.get().owner.hold == "brought"
        assert specimen.get() == specimen.other

    def test_in_no_account_there_is_none(self, specimen: Specimen) -> None:
        assert specimen.store.get(["nowhere/unknown"]) == {}
        specimen.store.drop("nowhere/unknown")
        with pytest.raises(NotYet):
            specimen.store.put("nowhere/unknown", specimen.want, None)

    def test_while_its_account_lets_nobody_read_it_is_not_yet(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        name = f"{GROUP}/{ACCOUNT}"
        stores.accounts.put(
            name, an_account(public=False, owner=Mark(CLUSTER)), stores.accounts.get([name])[name]
        )

        with pytest.raises(NotYet, match="be read by everybody") as raised:
            specimen.store.put(CONTAINER, specimen.want, None)
        assert "--create-private-storage-account" in raised.value.remedy
