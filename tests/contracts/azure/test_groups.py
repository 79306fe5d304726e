"""Resource groups, through the real SDK on the sandbox, keep what every store promises."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cwiictl.clouds.azure.resources.resource_group import ResourceGroupState
from cwiictl.clouds.azure.stores import Stores
from cwiictl.engine.resource import Mark
from cwiictl.errors import Conflict, NotYet
from cwiictl.sandbox import Sandbox
from tests.contracts.azure.ground import (
    CLUSTER,
    GROUP,
    an_identity,
)
from tests.contracts.store import Specimen, StoreContract


class TestResourceGroups(StoreContract):
    @pytest.fixture
    def specimen(self, stores: Stores) -> Specimen:
        want = ResourceGroupState(region="eastus", tags={"Name": CLUSTER})
        return Specimen(stores.groups, GROUP, want, replace(want, tags={"Name": "another"}))

    def test_one_that_holds_what_is_not_ours_stays(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        stores.identities.put(f"{GROUP}/theirs", an_identity(), None)

        with pytest.raises(Conflict, match="theirs"):
            specimen.drop()

        assert specimen.get()

    def test_one_that_holds_only_what_is_ours_goes_with_it(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        stores.identities.put(f"{GROUP}/ours", an_identity(owner=Mark(CLUSTER)), None)

        specimen.drop()

        assert specimen.get() is None

    def test_it_goes_in_its_own_time(self, specimen: Specimen, sandbox: Sandbox) -> None:
        specimen.put(specimen.want, specimen.mark)
        sandbox.faults.deploy = 0.5

        with pytest.raises(NotYet, match="deleted"):
            specimen.store.drop(GROUP)
        specimen.drop()

        assert specimen.get() is None

    def test_of_one_that_was_brought_only_the_mark_is_ours_to_write(
        self, specimen: Specimen
    ) -> None:
        specimen.put(specimen.other, None)

        specimen.put(specimen.want, replace(specimen.mark, hold="brought"))

        assert specimen.get().owner.hold == "brought"
        assert specimen.get() == specimen.other

    def test_one_that_is_there_stays_in_its_region(self, specimen: Specimen) -> None:
        specimen.put(specimen.want, specimen.mark)

        specimen.put(replace(specimen.other, region="westeurope"), specimen.mark)

        assert specimen.get().region == "eastus"
        assert specimen.get().tags == {"Name": "another"}
