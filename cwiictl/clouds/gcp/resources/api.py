"""An API of the project's that must be on before anything behind it can be made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from cwiictl.engine.resource import Known, Resource, State
from cwiictl.errors import BadInput, Problem

IDENTITIES = (
    "cloudresourcemanager.googleapis.com",
    "iam.googleapis.com",
    "iamcredentials.googleapis.com",
    "sts.googleapis.com",
)
STORAGE = "storage.googleapis.com"


@dataclass(frozen=True, kw_only=True)
class ApiState(State):
    """Its store has an answer for every service. What was turned on stays so: others may use it by now."""

    markless: ClassVar[bool] = True
    on: bool = True


@dataclass(frozen=True)
class Api(Resource[ApiState]):
    project: str
    enable: bool = False

    @property
    def quiet(self) -> bool:
        return True

    def want(self, known: Known) -> ApiState:  # noqa: ARG002 - that it is on is all
        return ApiState()

    def objection(self, found: Known) -> Problem | None:
        """The first that is off speaks for all of them."""
        have = {name: found.get(replace(self, name=name)) for name in (*IDENTITIES, STORAGE)}
        off = [name for name, state in have.items() if state and not state.on]
        if self.enable or off[:1] != [self.name]:
            return None
        return BadInput(
            f"the project {self.project} has turned off {', '.join(off)}",
            remedy=f"turn it on with gcloud services enable {' '.join(off)} --project {self.project}, or run with --enable-apis",
        )
