"""Pools and what is written on them, through the real SDK on the sandbox, keep what every store promises."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cwiictl.clouds.gcp.resources import room
from cwiictl.clouds.gcp.resources.pool import PoolState
from cwiictl.clouds.gcp.resources.reach import ReachState
from cwiictl.clouds.gcp.stores import Stores
from cwiictl.engine.resource import Mark
from cwiictl.errors import Conflict, NotYet
from cwiictl.sandbox import Sandbox
from cwiictl.sandbox.gcp.world import SECOND
from tests.contracts.gcp.ground import (
    CLUSTER,
    Buried,
    WithPool,
    put_provider,
)
from tests.contracts.store import Specimen, StoreContract


class TestPools(StoreContract):
    @pytest.fixture
    def specimen(self, stores: Stores) -> Specimen:
        return Buried(
            stores.pools,
            CLUSTER,
            PoolState(title=CLUSTER, description="A cluster."),
            PoolState(title="x", description="Another.", disabled=True),
        )

    def test_what_was_deleted_is_shown_and_revived_with_its_mark(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        specimen.drop()

        found = stores.pools.get([CLUSTER])[CLUSTER]
        assert (found.deleted, found.owner) == (True, specimen.mark)
        specimen.put(specimen.want, specimen.mark)

        assert stores.pools.get([CLUSTER])[CLUSTER] == specimen.want

    def test_it_is_waited_for_and_not_in_a_call(self, specimen: Specimen, sandbox: Sandbox) -> None:
        sandbox.faults.deploy = 0.5

        with pytest.raises(NotYet):
            specimen.store.put(specimen.name, replace(specimen.want, owner=specimen.mark), None)
        specimen.put(specimen.want, specimen.mark)
        specimen.put(specimen.other, specimen.mark)
        specimen.drop()

        assert specimen.get() is None

    def test_other_projects_stay_written_on_it(self, specimen: Specimen, stores: Stores) -> None:
        specimen.put(specimen.want, specimen.mark)
        stores.reaches.put(CLUSTER, ReachState(scopes=frozenset({SECOND})), None)
        specimen.put(specimen.other, specimen.mark)

        assert specimen.get().owner == specimen.mark
        assert stores.reaches.get([CLUSTER])[CLUSTER].scopes == {SECOND}
        assert specimen.get() == specimen.other

    def test_of_the_users_own_only_the_mark_is_written_and_taken_away(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        theirs = PoolState(title="Team X", description="Important pool, with an issuer of team X.")
        specimen.put(theirs, None)
        specimen.put(specimen.want, Mark(CLUSTER, "brought"))

        marked = stores.pools.get([CLUSTER])[CLUSTER]
        assert (marked, marked.owner) == (theirs, Mark(CLUSTER, "brought"))
        stores.pools.put(CLUSTER, replace(marked, owner=None), marked)

        released = stores.pools.get([CLUSTER])[CLUSTER]
        assert (released, released.owner) == (theirs, None)

    def test_it_tells_who_else_is_believed_in_it(self, specimen: Specimen, stores: Stores) -> None:
        specimen.put(specimen.want, specimen.mark)
        put_provider(stores, CLUSTER, Mark(CLUSTER))
        assert stores.pools.get([CLUSTER])[CLUSTER].others == frozenset()
        put_provider(stores, "github", None)
        put_provider(stores, "beta", Mark("beta"))
        put_provider(stores, "disabled", None, disabled=True)

        assert {other.name for other in stores.pools.get([CLUSTER])[CLUSTER].others} == {
            "github",
            "beta",
        }

    def test_who_came_back_with_a_revived_one_stands_against_it(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        put_provider(stores, "github", None)
        specimen.drop()
        assert stores.pools.get([CLUSTER])[CLUSTER].others == frozenset()

        with pytest.raises(Conflict, match="github"):
            specimen.put(replace(specimen.want, provider=CLUSTER), specimen.mark)

    def test_what_it_says_to_people_gives_way_to_other_projects(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        specimen.put(replace(specimen.want, description="long " * 25), specimen.mark)
        scopes = frozenset(f"project-number-{number}" for number in range(6))
        stores.reaches.put(CLUSTER, ReachState(scopes=scopes), None)

        found = stores.pools.get([CLUSTER])[CLUSTER]
        assert (found.scopes, found.owner) == (scopes, specimen.mark)
        assert found.description == room.fitted("long " * 25, CLUSTER, scopes)


class TestReaches(WithPool):
    @pytest.fixture
    def specimen(self, stores: Stores) -> Specimen:
        want = ReachState(scopes=frozenset({SECOND}))
        return Specimen(
            stores.reaches,
            CLUSTER,
            want,
            ReachState(scopes=frozenset({"a-third"})),
            bears=(),
            stays=True,
        )

    def test_another_want_is_put_over_the_first_and_back(self, specimen: Specimen) -> None:
        """None is ever taken off."""
        specimen.put(specimen.want, None)

        specimen.put(specimen.other, None)

        assert specimen.get().scopes == {SECOND, "a-third"}

    def test_where_there_is_no_pool_there_is_none(self, specimen: Specimen) -> None:
        assert specimen.store.get(["another-pool"]) == {}
        with pytest.raises(NotYet):
            specimen.store.put("another-pool", specimen.want, None)
