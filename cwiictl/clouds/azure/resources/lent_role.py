"""That nobody keeps a right that was only lent for a run: to write the documents, for which owning the account does not suffice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from cwiictl.clouds.azure.resources.storage_account import Container
from cwiictl.engine.resource import Known, Resource, State, gladly


@dataclass(frozen=True, kw_only=True)
class LentRoleState(State):
    """Its store has an answer for every container, also for one that is not there."""

    markless: ClassVar[bool] = True
    lent: bool = False


@dataclass(frozen=True)
class LentRole(Resource[LentRoleState]):
    """Read when all that needs it was tried, and taken back whatever came of that."""

    container: Container
    documents: tuple[Resource[Any], ...] = gladly()

    @property
    def late(self) -> bool:
        return True

    @property
    def lends(self) -> str:
        return "the right to write the documents, if who runs this has it not; it is given back at the end"

    def want(self, known: Known) -> LentRoleState:  # noqa: ARG002 - it follows from what was asked
        return LentRoleState()
