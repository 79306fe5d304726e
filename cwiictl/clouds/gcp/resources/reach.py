"""In which other projects a pool's own members are granted roles: written on the pool before the first of them is, so that they are found again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cwiictl.clouds.gcp.resources import room
from cwiictl.clouds.gcp.resources.pool import Pool
from cwiictl.engine.resource import Difference, Known, Resource, State
from cwiictl.errors import BadInput, Problem


@dataclass(frozen=True, kw_only=True)
class ReachState(State):
    """Its store has an answer for every pool that is there."""

    markless: ClassVar[bool] = True
    scopes: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Reach(Resource[ReachState]):
    pool: Pool
    scopes: frozenset[str]

    def want(self, known: Known) -> ReachState:  # noqa: ARG002 - it follows from what was asked
        return ReachState(scopes=self.scopes)

    def differing(self, want: ReachState, have: ReachState) -> tuple[Difference, ...]:
        """None is ever taken off: what was granted there may still be."""
        after = want.scopes | have.scopes
        return () if after == have.scopes else (Difference("scopes", have.scopes, after),)

    def objection(self, found: Known) -> Problem | None:
        """All of them are written on the pool, with those of earlier runs."""
        have = found.get(self)
        scopes = self.scopes | (have.scopes if have else frozenset[str]())
        if room.left(self.pool.cluster.name, scopes) >= 0:
            return None
        return BadInput(
            f"{self.pool.address} has no room to say of {len(scopes)} other projects that roles are given there without a service account",
            remedy="give those workloads service accounts, each of which has room of its own (serviceAccount: true)",
        )
