"""The public keys in the place where this run does not put them: whoever changes the place does not change the key unseen."""

from __future__ import annotations

from dataclasses import dataclass

from cwiictl.engine.resource import Known
from cwiictl.errors import Problem
from cwiictl.issuer.documents import KeySet, KeySetState


@dataclass(frozen=True)
class FormerKeys(KeySet):
    """It is only looked at: a key that is trusted in neither of the places that have any is a new one."""

    now: KeySet | None = None  # where they are to be

    @property
    def quiet(self) -> bool:
        return True

    @property
    def guards(self) -> bool:
        return True

    def differing(self, want: KeySetState, have: KeySetState) -> tuple[()]:  # noqa: ARG002 - nothing is written there
        return ()

    def objection(self, found: Known) -> Problem | None:
        """Where there are keys in the new place, that is judged."""
        have, now = found.get(self), found.get(self.now) if self.now else None
        return (
            None
            if now or have is None or not (have.kids or have.malformed)
            else super().objection(found)
        )
