"""A policy of AWS's own, or of the account, that roles are to be given: one that is not there is found before the first write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from cwiictl.engine.resource import Known, Resource, State
from cwiictl.errors import BadInput, Problem


@dataclass(frozen=True, kw_only=True)
class NamedPolicyState(State):
    markless: ClassVar[bool] = True
    there: bool = field(default=True, compare=False, metadata={"bookkeeping": True})


@dataclass(frozen=True)
class NamedPolicy(Resource[NamedPolicyState]):
    """IAM would say so too, but only to a role that is made already, and waits for its power."""

    @property
    def quiet(self) -> bool:
        return True

    def want(self, known: Known) -> NamedPolicyState:  # noqa: ARG002 - that there is one is all
        return NamedPolicyState()

    def objection(self, found: Known) -> Problem | None:
        have = found.get(self)
        if have is None or have.there:
            return None
        return BadInput(
            f"AWS has no policy {self.name}",
            remedy="see that its ARN is written right; one that was made a moment ago shows in a few seconds",
        )
