"""The region that things are to be made in: one that Azure does not have for the subscription is found before the first write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from cwiictl.engine.resource import Known, Resource, State, gladly
from cwiictl.errors import BadInput, Problem
from cwiictl.shapes import nearest


@dataclass(frozen=True, kw_only=True)
class KnownRegionState(State):
    markless: ClassVar[bool] = True
    others: tuple[str, ...] = field(default=(), compare=False, metadata={"bookkeeping": True})  # that there are; only where there is none of the name


@dataclass(frozen=True)
class KnownRegion(Resource[KnownRegionState]):
    """What is there stays where it is: the region is judged only if something is to be made in it."""

    things: tuple[Resource[Any], ...] = gladly()

    @property
    def quiet(self) -> bool:
        return True

    def want(self, known: Known) -> KnownRegionState:  # noqa: ARG002 - that there is one is all
        return KnownRegionState()

    def objection(self, found: Known) -> Problem | None:
        have = found.get(self)
        if have is None or not have.others or all(thing in found for thing in self.things):
            return None
        return BadInput(f"Azure has no region {self.name} for the subscription", remedy=nearest(self.name, have.others, key="--region "))
