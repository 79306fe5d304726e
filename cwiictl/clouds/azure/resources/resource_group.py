"""The resource group that things of the cluster are made in. Its region is its own: what is in it may be elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from cwiictl import names
from cwiictl.clouds.azure.resources.known_region import KnownRegion, elsewhere
from cwiictl.engine.resource import (
    Difference,
    Known,
    Mark,
    Resource,
    State,
    differences,
    gladly,
    part,
)
from cwiictl.errors import Problem
from cwiictl.model import Cluster

S = TypeVar("S", bound=State)


@dataclass(frozen=True, kw_only=True)
class ResourceGroupState(State):
    """Of one that is marked as brought only the mark is ours to write: `due` says so."""

    region: str = field(compare=False)  # where it is made; one that is there stays where it is
    tags: Mapping[str, str] = part()


@dataclass(frozen=True)
class ResourceGroup(Resource[ResourceGroupState]):
    cluster: Cluster
    region: str
    named: bool = False  # by the user: then one that is there is the user's own
    places: tuple[KnownRegion, ...] = (
        gladly()
    )  # the region, to be judged with whatever is in a group

    @property
    def brought(self) -> bool:
        return self.named

    def want(self, known: Known) -> ResourceGroupState:  # noqa: ARG002 - it follows from what was asked
        return ResourceGroupState(region=self.region, tags=names.tags(self.cluster))

    def differing(
        self, want: ResourceGroupState, have: ResourceGroupState
    ) -> tuple[Difference, ...]:
        return () if theirs(self, have, self.cluster) else differences(want, have)

    def stays(self, region: str, owner: Mark | None, found: Known) -> Problem | None:
        """What is said of a thing in it that is in this region. Where there is none of the name that was asked for, that is all there is to say."""
        if region == self.region or any(place.objection(found) for place in self.places):
            return None
        return elsewhere(region, owner, self.cluster.name)


def theirs(resource: Resource[Any], have: State, cluster: Cluster) -> bool:
    """Whether it was there before we were told its name: what we made under a name that was given is ours all the same."""
    return resource.brought and (
        have.owner is None or have.owner.cluster != cluster.name or have.owner.hold == "brought"
    )


def due(want: S, have: S | None) -> S:
    """What a store writes: all that is wanted; and of what is the user's own, which is as it is, nothing but our mark."""
    return (
        replace(have, owner=want.owner)
        if have and want.owner and want.owner.hold == "brought"
        else want
    )
