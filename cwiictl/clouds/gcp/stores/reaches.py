"""In which other projects a pool's members are given roles: written on the pool itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from cwiictl.clouds.gcp.resources.reach import ReachState
from cwiictl.clouds.gcp.stores.errors import told
from cwiictl.clouds.gcp.stores.pools import PATIENCE, Pools
from cwiictl.engine.resource import Mark


class Reaches:
    """A pool's members in other projects, as the pool itself tells of them."""

    kind, bulk, patience = "gcp/reach", False, PATIENCE

    def __init__(self, pools: Pools) -> None:
        self.pools = pools

    def get(self, pools: Collection[str], /) -> Mapping[str, ReachState]:
        return {
            pool: ReachState(scopes=have.scopes) for pool, have in self.pools.get(pools).items()
        }

    @told("iam")
    def put(self, pool: str, want: ReachState, _have: ReachState | None, /) -> ReachState:
        return ReachState(scopes=self.pools.reach(pool, want.scopes))

    def drop(self, _pool: str, /) -> None:
        """Goes with its pool."""

    def owned(self, _cluster: str, /) -> Mapping[str, Mark]:
        return {}
