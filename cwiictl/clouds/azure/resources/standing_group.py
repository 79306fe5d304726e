"""A resource group that roles are given in and that is nobody's here to make: a mistyped one is found before the first write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cwiictl.engine.resource import Known, Resource, State
from cwiictl.errors import BadInput, Problem


@dataclass(frozen=True, kw_only=True)
class StandingGroupState(State):
    markless: ClassVar[bool] = True


@dataclass(frozen=True)
class StandingGroup(Resource[StandingGroupState]):
    @property
    def quiet(self) -> bool:
        return True

    def want(self, known: Known) -> StandingGroupState:  # noqa: ARG002 - that it is there is all
        return StandingGroupState()

    def objection(self, found: Known) -> Problem | None:
        if self in found:
            return None
        return BadInput(
            f"there is no resource group {self.name} in the subscription, and a role is to hold in it",
            remedy="see that it is written right, or make it",
        )
