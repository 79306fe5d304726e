"""A role for what workloads ask to do in so many words: the project's own for all who ask for the same, or a workload's alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cwiictl.clouds.gcp.resources.api import Api
from cwiictl.engine.resource import Known, Resource, State, assigned


@dataclass(frozen=True, kw_only=True)
class CustomRoleState(State):
    """What was deleted is shown, and revived by `put`; of one that is beyond that, the next id is taken."""

    id: str = assigned()  # as it is granted, such as projects/P/roles/cwii_0123456789ab_2
    title: str
    description: str  # what it says to people; the mark stands behind that
    permissions: frozenset[str]
    stage: str = "GA"  # of its launch: one that is DISABLED gives nothing
    deleted: bool = False


@dataclass(frozen=True, kw_only=True)
class SharedRoleState(CustomRoleState):
    """Found when its description says so: it is no cluster's own, and every cluster's to use."""

    markless: ClassVar[bool] = True


@dataclass(frozen=True)
class CustomRole(Resource[CustomRoleState]):
    """Its name is its id without the number that tells it from one that is gone."""

    title: str
    description: str
    permissions: frozenset[str]
    shared: bool = True
    apis: tuple[Api, ...] = ()

    def want(self, known: Known) -> CustomRoleState:  # noqa: ARG002 - it follows from what was asked
        of = SharedRoleState if self.shared else CustomRoleState
        return of(title=self.title, description=self.description, permissions=self.permissions)
