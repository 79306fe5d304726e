"""Custom roles, through the real SDK on the sandbox, keep what every store promises."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cwiictl.clouds.gcp import ids
from cwiictl.clouds.gcp.resources.custom_role import SharedRoleState
from cwiictl.clouds.gcp.resources.grant import Grant
from cwiictl.clouds.gcp.resources.policy import PolicyState
from cwiictl.clouds.gcp.stores import Stores
from cwiictl.engine.resource import Mark
from cwiictl.errors import BadInput
from cwiictl.sandbox.gcp.world import PROJECT
from tests.contracts.gcp.ground import (
    ACCOUNT,
    CLUSTER,
    MEMBER,
    Buried,
    a_role,
    an_account,
    connected,
)
from tests.contracts.store import Specimen, StoreContract


class TestCustomRoles(StoreContract):
    @pytest.fixture
    def specimen(self, stores: Stores) -> Specimen:
        other = a_role(
            title="Another",
            description="Another.",
            permissions=frozenset({"storage.buckets.get", "storage.buckets.list"}),
        )
        return Buried(
            stores.custom_roles, "cwii_own_12345678", a_role(), other, unknown="cwii_unknown"
        )

    def test_what_was_deleted_is_shown_and_revived(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        specimen.drop()
        assert stores.custom_roles.get([specimen.name])[specimen.name].deleted

        specimen.put(specimen.want, specimen.mark)

        assert specimen.get() == specimen.want
        assert specimen.get().id == f"projects/{PROJECT}/roles/{specimen.name}"


class TestSharedRoles(StoreContract):
    @pytest.fixture
    def specimen(self, stores: Stores) -> Specimen:
        want = SharedRoleState(
            title="A role", description="May look.", permissions=frozenset({"storage.buckets.get"})
        )
        other = replace(want, permissions=frozenset({"storage.buckets.list"}))
        return Buried(
            stores.custom_roles, "cwii_0123456789ab", want, other, bears=(), unknown="cwii_unknown"
        )

    def test_it_goes_if_that_was_asked_for_and_nobody_else_has_it(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        made = specimen.put(specimen.want, None)
        for name, mark in ((ACCOUNT, Mark(CLUSTER)), ("theirs", None)):
            stores.service_accounts.put(
                name, an_account(name, principals=frozenset(), owner=mark), None
            )
        theirs = ids.account_member(ids.email("theirs", PROJECT))
        grants = frozenset({Grant(made.id, MEMBER), Grant(made.id, theirs)})
        stores.policies.put(
            PROJECT, PolicyState(grants=grants, of=frozenset({MEMBER, theirs})), None
        )

        for asked in connected(delete_roles=True):
            assert asked.custom_roles.owned(CLUSTER) == {}
        stores.policies.put(
            PROJECT, PolicyState(grants=frozenset(), of=frozenset({theirs}), exact=True), None
        )
        assert stores.custom_roles.owned(CLUSTER) == {}

        for asked in connected(delete_roles=True):
            assert asked.custom_roles.owned(CLUSTER) == {specimen.name: Mark(CLUSTER)}
            assert asked.custom_roles.get([specimen.name])[specimen.name].owner == Mark(CLUSTER)

    def test_one_that_nobody_has_is_not_this_clusters_to_drop(self, specimen: Specimen) -> None:
        """Another may be about to give it to somebody."""
        specimen.put(specimen.want, None)

        for asked in connected(delete_roles=True):
            assert asked.custom_roles.owned(CLUSTER) == {}


class TestRoles:
    def test_one_that_is_there_is_what_it_is_called_and_one_that_is_not_is_bad_input(
        self, stores: Stores
    ) -> None:
        assert stores.role("roles/storage.admin") == "roles/storage.admin"
        with pytest.raises(BadInput, match=r"storage\.admn") as raised:
            stores.role("roles/storage.admn")
        assert "roles/storage.admin" in raised.value.remedy
