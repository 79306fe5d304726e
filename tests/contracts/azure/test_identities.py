"""Identities, through the real SDK on the sandbox, keep what every store promises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cwiictl import names
from cwiictl.clouds.azure.resources.identity import Credential
from cwiictl.clouds.azure.stores import Stores
from tests.contracts.azure.ground import (
    CLUSTER,
    GROUP,
    an_identity,
)
from tests.contracts.store import Specimen, StoreContract


class TestIdentities(StoreContract):
    WANT = an_identity(("one", "openshift"), ("two", "openshift"))

    @pytest.fixture
    def specimen(self, stores: Stores, group: None) -> Specimen:  # noqa: ARG002 - it must be there first
        other = an_identity(
            ("one", "api://AzureADTokenExchange"), ("three", "openshift"), tags={"Name": "another"}
        )
        return Specimen(
            stores.identities, f"{GROUP}/one", self.WANT, other, unknown=f"{GROUP}/unknown"
        )

    def test_a_credential_is_found_by_what_it_says(self, specimen: Specimen) -> None:
        """Whatever it is called: two of one issuer and subject Azure does not take."""
        specimen.put(self.WANT, specimen.mark)
        named: dict[Credential, str] = dict(specimen.get().titles)

        specimen.put(
            replace(self.WANT, titles={each: f"{title}-again" for each, title in named.items()}),
            specimen.mark,
        )

        assert dict(specimen.get().titles) == named

    def test_a_name_that_another_credential_holds_is_written_over(self, specimen: Specimen) -> None:
        specimen.put(an_identity(("one", "openshift")), specimen.mark)
        wrong = Credential(
            "https://issuer.example.org/", "system:serviceaccount:ns:one", "openshift"
        )

        specimen.put(
            replace(self.WANT, credentials=frozenset({wrong}), titles={wrong: "one"}), specimen.mark
        )

        assert dict(specimen.get().titles) == {wrong: "one"}

    @pytest.mark.parametrize("title", ["two", "Two"])
    def test_one_whose_name_another_holds_gets_a_name_of_its_own(
        self, specimen: Specimen, title: str
    ) -> None:
        """Azure compares them without case."""
        (one,) = (each for each in self.WANT.credentials if each.subject.endswith(":one"))
        specimen.put(
            replace(self.WANT, credentials=frozenset({one}), titles={one: title}), specimen.mark
        )

        specimen.put(self.WANT, specimen.mark)

        assert specimen.get() == self.WANT
        assert specimen.get().titles[one] == title

    def test_twenty_give_way_to_twenty_others(self, specimen: Specimen) -> None:
        twenty = [
            an_identity(*((f"{word}{number}", "openshift") for number in range(20)))
            for word in ("first-", "second-")
        ]
        for want in twenty:
            specimen.put(want, specimen.mark)
            assert specimen.get() == want

    def test_a_mark_that_lost_a_tag_is_not_whole_and_is_put_whole(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        msi: Any = stores.identities
        msi.msi.user_assigned_identities.create_or_update(
            GROUP,
            "one",
            {
                "location": "eastus",
                "tags": {f"cwii.dev_cluster_{CLUSTER}": "owned", "Name": CLUSTER},
            },
        )
        assert not specimen.get().owner.whole

        specimen.put(specimen.want, specimen.mark)

        assert specimen.get().owner == specimen.mark
        assert specimen.get().tags == self.WANT.tags

    def test_what_ccoctl_made_is_ccoctls_to_take_over(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        specimen.put(specimen.want, None)
        msi: Any = stores.identities
        tags = {f"openshift.io_cloud-credential-operator_{CLUSTER}": "owned"}
        msi.msi.user_assigned_identities.create_or_update(
            GROUP, "one", {"location": "eastus", "tags": tags}
        )

        assert set(stores.identities.owned(names.ccoctls(CLUSTER))) == {specimen.name}
        specimen.put(specimen.want, specimen.mark)

        assert specimen.get().owner == specimen.mark
