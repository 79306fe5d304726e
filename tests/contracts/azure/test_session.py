"""Who acts in Azure, and how few questions that takes."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from cwiictl.clouds.azure.permissions import Grant as Asked
from cwiictl.clouds.azure.resources.role_assignments import AssignmentsState, Grant
from cwiictl.clouds.azure.spec import Spec
from cwiictl.clouds.azure.stores import Stores
from cwiictl.clouds.azure.stores.session import connect
from cwiictl.clouds.azure.stores.tokens import Caller
from cwiictl.engine.resource import Mark
from cwiictl.errors import BadInput
from cwiictl.model import Cluster
from cwiictl.sandbox import Sandbox
from cwiictl.sandbox.azure.world import CLIENT, SUBSCRIPTION, TENANT
from tests.contracts.azure.ground import (
    ACCOUNT,
    CLUSTER,
    DISCOVERY,
    GROUP,
    READER,
    SITE,
    an_identity,
    connected,
)


class TestBulk:
    """What Azure lists at once is not asked for one by one."""

    NAMES = tuple(f"{GROUP}/{number}-one" for number in range(6))

    @pytest.fixture(autouse=True)
    def many(self, stores: Stores, group: None) -> None:  # noqa: ARG002 - it must be there first
        for name in self.NAMES:
            made = stores.identities.put(
                name, an_identity(("one", "openshift"), owner=Mark(CLUSTER)), None
            )
            grants = frozenset({Grant(SITE, READER)})
            stores.assignments.put(
                name,
                AssignmentsState(grants=grants, principal=made.principal_id, owner=Mark(CLUSTER)),
                None,
            )

    def test_a_workload_costs_one_request_to_read(self, rival: Stores, sandbox: Sandbox) -> None:
        before = len(sandbox.record)

        found = {name: rival.identities.get([name])[name] for name in self.NAMES}
        granted = {name: rival.assignments.get([name])[name] for name in self.NAMES}

        assert all(state.credentials for state in found.values())
        assert all(len(state.grants) == 1 for state in granted.values())
        assert len(sandbox.record) - before <= len(self.NAMES) + 4

    def test_who_asks_again_is_told_what_is_there_now(self, stores: Stores, rival: Stores) -> None:
        for name in self.NAMES:
            rival.identities.get([name])
            rival.assignments.get([name])
        stores.assignments.drop(self.NAMES[2])
        stores.identities.drop(self.NAMES[3])

        assert rival.assignments.get([self.NAMES[2]])[self.NAMES[2]].grants == frozenset()
        assert rival.identities.get([self.NAMES[3]]) == {}

    def test_names_that_are_yet_to_come_cost_nothing(self, rival: Stores, sandbox: Sandbox) -> None:
        before = len(sandbox.record)

        for number in range(20):
            assert rival.identities.get([f"{GROUP}/new-{number}"]) == {}
            assert rival.assignments.get([f"{GROUP}/new-{number}"]) == {}

        assert len(sandbox.record) - before <= 4


class TestSession:
    """Who acts, and what is told of it."""

    def test_it_says_who_acts_and_where(self, stores: Stores) -> None:
        assert (stores.account, stores.caller, stores.tenant) == (SUBSCRIPTION, CLIENT, TENANT)

    def test_another_tenant_than_the_pinned_one_is_refused(
        self,
        sandbox: Sandbox,  # noqa: ARG002 - it must run first
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        def tenants(token: str) -> Caller:
            return replace(read(token), tenant="another")

        read = Caller.read
        monkeypatch.setattr(Caller, "read", tenants)
        with pytest.raises(BadInput, match="of tenant another"):
            connect(
                Spec(region="eastus", subscription=SUBSCRIPTION, tenant=TENANT), Cluster(CLUSTER), 4
            )

    def test_a_subscription_that_nobody_shows_us_is_told(self, sandbox: Sandbox) -> None:  # noqa: ARG002 - it must run first
        elsewhere = connect(
            Spec(region="eastus", subscription="99999999-9999-4999-8999-999999999999"),
            Cluster(CLUSTER),
            4,
        )
        try:
            with pytest.raises(BadInput, match="subscription"):
                elsewhere.groups.get([GROUP])
        finally:
            elsewhere.close()

    def test_an_expired_login_is_told(self, stores: Stores, sandbox: Sandbox) -> None:
        sandbox.faults.expired = True

        with pytest.raises(BadInput, match="does not accept the credentials"):
            stores.groups.get([GROUP])

    @pytest.mark.parametrize("name", ["AZURE_CLIENT_SECRET", "AZURE_CLIENT_ID"])
    def test_without_credentials_it_says_how_to_get_some(
        self,
        sandbox: Sandbox,  # noqa: ARG002 - it must run first
        monkeypatch: pytest.MonkeyPatch,
        name: str,
    ) -> None:
        monkeypatch.delenv(name)

        with pytest.raises(BadInput, match="no Azure credentials") as raised:
            next(connected())
        assert "az login" in raised.value.remedy

    def test_wrong_credentials_are_told_in_entras_words(
        self,
        sandbox: Sandbox,  # noqa: ARG002 - it must run first
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setenv("AZURE_CLIENT_SECRET", "wrong")

        with pytest.raises(BadInput, match="AADSTS7000215"):
            next(connected())

    @pytest.mark.usefixtures("container")
    def test_of_a_request_only_its_method_and_path_are_told(
        self, stores: Stores, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.DEBUG, logger="cwiictl.azure"):
            stores.groups.get([GROUP])
            stores.documents.get([DISCOVERY])

        told = [record.getMessage() for record in caplog.records if record.name == "cwiictl.azure"]
        assert (
            f"GET https://management.azure.com/subscriptions/{SUBSCRIPTION}/resourcegroups/{GROUP} 200"
            in told
        )
        assert (
            f"GET https://{ACCOUNT}.blob.core.windows.net/{CLUSTER}/.well-known/openid-configuration 404"
            in told
        )
        assert not any("?" in line or "Bearer" in line for line in told)


class TestPermissions:
    """Asked at a scope, and of its subscription while there is none."""

    @pytest.mark.parametrize(
        ("action", "lacking"),
        [
            ("Microsoft.Storage/storageAccounts/write", ()),
            ("Microsoft.Storage/storageAccounts/fly", ()),
        ],
    )
    def test_an_owner_may_do_it_all(
        self, stores: Stores, action: str, lacking: tuple[str, ...]
    ) -> None:
        store = stores.permissions(
            (Asked((action,), f"/subscriptions/{SUBSCRIPTION}/resourcegroups/unknown"),)
        )

        assert store.get(["somebody"])["somebody"].lacking == lacking

    def test_what_may_not_be_done_is_named(self, stores: Stores, sandbox: Sandbox) -> None:
        sandbox.faults.deny = {"Microsoft.Storage/storageAccounts/write"}
        asked = (
            "Microsoft.Storage/storageAccounts/write",
            "Microsoft.Storage/storageAccounts/read",
        )
        store = stores.permissions((Asked(asked, f"/subscriptions/{SUBSCRIPTION}"),))

        assert store.get(["somebody"])["somebody"].lacking == (
            "Microsoft.Storage/storageAccounts/write",
        )

    def test_who_has_enough_in_the_subscription_is_asked_once(
        self, stores: Stores, sandbox: Sandbox
    ) -> None:
        scopes = [f"/subscriptions/{SUBSCRIPTION}/resourcegroups/{name}" for name in ("one", "two")]
        before = len(sandbox.record)

        store = stores.permissions(tuple(Asked(("x/y",), scope) for scope in scopes))

        assert store.get(["somebody"])["somebody"].lacking == ()
        assert len(sandbox.record) - before == 1

    def test_where_it_may_not_be_asked_nothing_is_lacking(
        self, stores: Stores, sandbox: Sandbox
    ) -> None:
        sandbox.faults.deny = {"Microsoft.Authorization/permissions/read"}

        assert (
            stores.permissions((Asked(("x/y",), f"/subscriptions/{SUBSCRIPTION}"),))
            .get(["somebody"])["somebody"]
            .lacking
            == ()
        )
