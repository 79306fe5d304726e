"""Role assignments, through the real SDK on the sandbox, keep what every store promises."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl import names
from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.resources.resource_group import ResourceGroupState
from cwiictl.clouds.azure.resources.role_assignments import AssignmentsState, Grant
from cwiictl.clouds.azure.stores import Stores
from cwiictl.engine.resource import Mark
from cwiictl.sandbox import Sandbox
from cwiictl.sandbox.azure.world import SECOND, SUBSCRIPTION
from tests.contracts.azure.ground import (
    CLUSTER,
    GROUP,
    NETWORK,
    READER,
    SITE,
    an_assignment,
    an_identity,
)
from tests.contracts.store import Specimen, StoreContract


class TestAssignments(StoreContract):
    IDENTITY = f"{GROUP}/one"
    ONE = frozenset({Grant(SITE, READER)})
    TWO = frozenset(
        {
            Grant(SITE, NETWORK),
            Grant(f"/subscriptions/{SUBSCRIPTION}/resourcegroups/{GROUP}", NETWORK),
        }
    )

    @pytest.fixture
    def principal(self, stores: Stores, group: None) -> str:  # noqa: ARG002 - it must be there first
        return stores.identities.put(self.IDENTITY, an_identity(), None).principal_id

    @pytest.fixture
    def specimen(self, stores: Stores, principal: str) -> Specimen:
        want, other = (
            AssignmentsState(grants=grants, principal=principal) for grants in (self.ONE, self.TWO)
        )
        return Specimen(
            stores.assignments, self.IDENTITY, want, other, unknown=f"{GROUP}/unknown", stays=True
        )

    def test_putting_without_a_mark_releases_it_and_changes_nothing_else(
        self, specimen: Specimen
    ) -> None:
        before = specimen.put(specimen.want, specimen.mark)
        assert not before.unmarked

        specimen.put(specimen.get(), None)

        found = specimen.get()
        assert found.owner is None
        assert found == specimen.want
        assert found.unmarked == self.ONE
        assert [each.id for each in found.found] == [each.id for each in before.found]
        assert specimen.owned(CLUSTER) == {}

    def test_what_was_dropped_is_gone(self, specimen: Specimen) -> None:
        for _ in range(2):
            specimen.put(specimen.other, specimen.mark)
            specimen.drop()
            specimen.drop()

            assert specimen.get().grants == frozenset()
            assert specimen.owned(CLUSTER) == {}

    def test_an_identity_that_is_not_there_has_none(self, specimen: Specimen) -> None:
        assert specimen.store.get([specimen.unknown]) == {}

    def test_a_second_of_the_same_is_not_made(
        self, specimen: Specimen, stores: Stores, principal: str
    ) -> None:
        """Somebody else gave it: it is taken as it is, and our mark is put behind their words."""
        theirs = an_assignment(stores, principal, "by hand")

        specimen.put(specimen.want, specimen.mark)

        (found,) = specimen.get().found
        assert found.id == theirs
        assert found.description.startswith("by hand ")
        assert specimen.get().owner == specimen.mark

    @pytest.mark.parametrize("preserve", [True, False])
    def test_what_others_gave_it_stays_if_it_may(
        self, specimen: Specimen, stores: Stores, principal: str, preserve: bool
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        an_assignment(stores, principal, "by hand", role=NETWORK)
        assert len(specimen.get().grants) == 2

        specimen.put(
            AssignmentsState(grants=self.ONE, principal=principal, preserve=preserve), specimen.mark
        )

        assert len(specimen.get().grants) == (2 if preserve else 1)

    def test_one_that_points_to_a_dead_identity_is_replaced(
        self, specimen: Specimen, stores: Stores, rival: Stores, principal: str
    ) -> None:
        specimen.put(specimen.other, specimen.mark)
        stores.identities.drop(self.IDENTITY)
        born = stores.identities.put(self.IDENTITY, an_identity(), None).principal_id
        assert rival.assignments.owned(CLUSTER) == {self.IDENTITY: specimen.mark}
        found = rival.assignments.get([self.IDENTITY])[self.IDENTITY]
        assert (found.grants, found.principal) == (frozenset(), principal)

        want = AssignmentsState(grants=self.TWO, principal=born, owner=specimen.mark)
        rival.assignments.put(self.IDENTITY, want, found)

        found = rival.assignments.get([self.IDENTITY])[self.IDENTITY]
        assert found == want
        assert len(found.found) == 2

    def test_one_of_an_identity_that_is_gone_is_ours_and_is_dropped(
        self, specimen: Specimen, stores: Stores, rival: Stores
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        stores.identities.drop(self.IDENTITY)

        assert rival.assignments.owned(CLUSTER) == {self.IDENTITY: specimen.mark}
        rival.assignments.drop(self.IDENTITY)

        assert rival.assignments.owned(CLUSTER) == {}

    @pytest.mark.usefixtures("specimen")
    def test_what_the_list_does_not_show_yet_is_not_written_again(
        self, stores: Stores, rival: Stores, sandbox: Sandbox, principal: str
    ) -> None:
        sandbox.faults.lag = 30.0
        want = AssignmentsState(grants=self.TWO, principal=principal, owner=Mark(CLUSTER))
        stores.assignments.put(self.IDENTITY, want, None)
        have = rival.assignments.get([self.IDENTITY])[self.IDENTITY]
        assert have.grants == frozenset()
        before = len(sandbox.record)

        rival.assignments.put(self.IDENTITY, want, have)

        assert not any(seen.mutating for seen in sandbox.record[before:])

    def test_what_others_gave_to_what_is_ours_goes_with_it(
        self,
        stores: Stores,
        group: None,  # noqa: ARG002 - it must be there
    ) -> None:
        principal = stores.identities.put(
            self.IDENTITY, an_identity(owner=Mark(CLUSTER)), None
        ).principal_id
        an_assignment(stores, principal, "by hand")

        assert stores.assignments.owned(CLUSTER) == {self.IDENTITY: Mark(CLUSTER)}
        assert stores.assignments.get([self.IDENTITY])[self.IDENTITY].owner == Mark(CLUSTER)
        stores.assignments.drop(self.IDENTITY)

        assert stores.assignments.owned(CLUSTER) == {}

    def test_a_condition_that_somebody_put_on_it_stays(
        self, specimen: Specimen, stores: Stores, principal: str
    ) -> None:
        condition = (
            "@Resource[Microsoft.Storage/storageAccounts/blobServices/containers:name] StringEquals 'logs'",
            "2.0",
        )
        an_assignment(stores, principal, "by hand", condition=condition)

        specimen.put(specimen.want, specimen.mark)

        (found,) = specimen.get().found
        assert (found.condition, specimen.get().unmarked) == (condition, frozenset())

    def test_a_cluster_of_this_name_in_another_subscription_keeps_what_it_gave(
        self, specimen: Specimen, stores: Stores, rival: Stores, beside: Stores
    ) -> None:
        """On a scope that both reach."""
        specimen.put(specimen.want, specimen.mark)
        beside.groups.put(GROUP, ResourceGroupState(region="eastus", owner=Mark(CLUSTER)), None)
        twin = beside.identities.put(self.IDENTITY, an_identity(), None)
        want = AssignmentsState(grants=self.ONE, principal=twin.principal_id)
        Specimen(beside.assignments, self.IDENTITY, want, want).put(want, Mark(CLUSTER))

        stores.identities.drop(self.IDENTITY)
        beside.identities.drop(self.IDENTITY)
        assert rival.assignments.owned(CLUSTER) == {self.IDENTITY: specimen.mark}
        rival.assignments.drop(self.IDENTITY)

        assert rival.assignments.owned(CLUSTER) == {}
        there: Any = beside.assignments
        left = there.ledger.all([ids.subscription(SUBSCRIPTION)], anew=True)
        assert [each.principal for each in left if each.grant in self.ONE] == [twin.principal_id]

    def test_in_another_subscription_they_are_found_where_the_identity_says(
        self,
        stores: Stores,
        rival: Stores,
        group: None,  # noqa: ARG002 - it must be there
    ) -> None:
        scope = ids.folded(ids.subscription(SECOND))
        tags = {names.SCOPES_KEY: scope}
        made = stores.identities.put(
            self.IDENTITY, an_identity(tags=tags, owner=Mark(CLUSTER)), None
        )
        want = AssignmentsState(
            grants=frozenset({Grant(scope, READER)}), principal=made.principal_id
        )
        Specimen(stores.assignments, self.IDENTITY, want, want).put(want, Mark(CLUSTER))

        assert rival.assignments.owned(CLUSTER) == {self.IDENTITY: Mark(CLUSTER)}
        assert rival.assignments.get([self.IDENTITY])[self.IDENTITY].grants == want.grants
        rival.assignments.drop(self.IDENTITY)

        assert stores.assignments.get([self.IDENTITY])[self.IDENTITY].grants == frozenset()
