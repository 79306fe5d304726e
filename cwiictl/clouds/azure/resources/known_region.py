"""The region that things are to be made in: one that Azure does not have for the subscription is found before the first write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from cwiictl.engine.resource import Known, Mark, Resource, State
from cwiictl.errors import BadInput, Conflict, Problem
from cwiictl.shapes import nearest


@dataclass(frozen=True, kw_only=True)
class KnownRegionState(State):
    markless: ClassVar[bool] = True
    others: tuple[str, ...] = field(
        default=(), compare=False, metadata={"bookkeeping": True}
    )  # that there are; only where there is none of the name


@dataclass(frozen=True)
class KnownRegion(Resource[KnownRegionState]):
    """Judged whatever is there: workloads are told the region too."""

    @property
    def quiet(self) -> bool:
        return True

    def want(self, known: Known) -> KnownRegionState:  # noqa: ARG002 - that there is one is all
        return KnownRegionState()

    def objection(self, found: Known) -> Problem | None:
        have = found.get(self)
        if have is None or not have.others:
            return None
        return BadInput(
            f"Azure has no region {self.name} for the subscription",
            remedy=nearest(self.name, have.others, key="--region "),
        )


def elsewhere(region: str, owner: Mark | None, cluster: str) -> Problem:
    """Of what is there in another region than was asked for. The same for all of a cluster, so that it is said once."""
    kind = BadInput if owner and owner.cluster == cluster else Conflict
    return kind(
        f"what is there already is in {region}, and does not move",
        remedy=f"give --region {region}, or another --name",
    )
