"""Role definitions, through the real SDK on the sandbox, keep what every store promises."""

from __future__ import annotations

import pytest

from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.resources.custom_role import CustomRoleState
from cwiictl.clouds.azure.stores import Stores
from cwiictl.errors import BadInput
from cwiictl.sandbox import Sandbox
from cwiictl.sandbox.azure.world import SECOND, SUBSCRIPTION
from tests.contracts.azure.ground import (
    READER,
)
from tests.contracts.store import Specimen, StoreContract


class TestCustomRoles(StoreContract):
    @pytest.fixture
    def specimen(self, stores: Stores) -> Specimen:
        scopes = frozenset({ids.folded(ids.subscription(SUBSCRIPTION))})
        want = CustomRoleState(
            description="For people.",
            actions=frozenset({"Microsoft.Compute/disks/read"}),
            scopes=scopes,
        )
        other = CustomRoleState(
            description="For others.",
            actions=frozenset({"Microsoft.Compute/*"}),
            not_actions=frozenset({"Microsoft.Compute/disks/write"}),
            data_actions=frozenset(
                {"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/*"}
            ),
            not_data_actions=frozenset(
                {"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/delete"}
            ),
            scopes=scopes | {ids.folded(ids.subscription(SECOND))},
        )
        return Specimen(stores.custom_roles, "a-cluster-role", want, other)

    def test_it_has_the_same_id_in_every_life(self, specimen: Specimen) -> None:
        first = specimen.put(specimen.want, specimen.mark).id
        specimen.drop()

        assert specimen.put(specimen.want, specimen.mark).id == first

    def test_what_the_list_does_not_show_yet_is_read_by_its_id(
        self, specimen: Specimen, sandbox: Sandbox
    ) -> None:
        sandbox.faults.lag = 30.0
        specimen.put(specimen.want, specimen.mark)

        assert specimen.get() == specimen.want


class TestRoles:
    """The id of a role, by whatever the user calls it."""

    @pytest.mark.parametrize(
        "name",
        [
            "Reader",
            "reader",
            READER,
            f"/providers/Microsoft.Authorization/roleDefinitions/{READER}",
        ],
    )
    def test_it_is_found_by_name_by_guid_and_by_id(self, stores: Stores, name: str) -> None:
        assert ids.guid(stores.role(name)) == READER

    def test_all_are_read_once(self, stores: Stores, sandbox: Sandbox) -> None:
        before = len(sandbox.record)
        for name in ("Reader", "Contributor", "Owner"):
            stores.role(name)

        assert len(sandbox.record) - before == 1

    def test_one_that_is_not_there_says_which_it_may_have_been(self, stores: Stores) -> None:
        with pytest.raises(BadInput, match="Contribtor") as raised:
            stores.role("Storage Blob Data Contribtor")

        assert "Storage Blob Data Contributor" in raised.value.remedy
