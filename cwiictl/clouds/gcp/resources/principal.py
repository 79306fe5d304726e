"""A ServiceAccount of the cluster's that is granted roles itself. What it is granted is in policies, where no mark tells whose it was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cwiictl.engine.resource import Known, Resource, State


@dataclass(frozen=True, kw_only=True)
class SubjectState(State):
    """Its store has an answer for every one."""

    markless: ClassVar[bool] = True


@dataclass(frozen=True)
class Subject(Resource[SubjectState]):
    """It stands in the plan so that whoever has roles and does not is left over. The policies say what it is granted."""

    @property
    def quiet(self) -> bool:
        return True

    def want(self, known: Known) -> SubjectState:  # noqa: ARG002 - that it is asked for is all
        return SubjectState()
