"""The workload identity pool: in it are all whom the project believes because of the cluster's issuer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from cwiictl import names
from cwiictl.clouds.gcp.resources import room
from cwiictl.clouds.gcp.resources.api import Api
from cwiictl.engine.resource import Difference, Known, Resource, State, differences
from cwiictl.errors import BadInput, Problem
from cwiictl.model import Cluster

TITLE = 32  # characters


class Believed(NamedTuple):
    """A provider that is on. All subjects of a pool are alike: whoever signs for one of its providers may say to be any workload of the cluster's."""

    name: str
    issuer: str

    def __str__(self) -> str:
        return f"{self.name}, which believes {self.issuer}" if self.issuer else self.name


@dataclass(frozen=True, kw_only=True)
class PoolState(State):
    """What was deleted is shown, and revived by `put`: its name is taken for thirty days. Of one that is marked as brought only the mark is ours to write."""

    title: str  # its displayName
    description: str  # what it says to people; scopes and mark stand behind that
    disabled: bool = False
    deleted: bool = False
    scopes: frozenset[str] = field(
        default=frozenset(), compare=False
    )  # of the found one: other projects. `Reach` writes them, and every put keeps them
    provider: str = field(
        default="", compare=False, metadata={"bookkeeping": True}
    )  # of the wanted one: the cluster's, beside which there is to be none
    others: frozenset[Believed] = field(
        default=frozenset(), compare=False, metadata={"bookkeeping": True}
    )  # of the found one: without the cluster's mark

    def strangers(self, provider: str) -> list[Believed]:
        return sorted(other for other in self.others if other.name != provider)


@dataclass(frozen=True)
class Pool(Resource[PoolState]):
    cluster: Cluster
    provider: str  # the cluster's
    named: bool = False  # by the user: then one that is there is the user's own
    apis: tuple[Api, ...] = ()

    @property
    def brought(self) -> bool:
        return self.named

    @property
    def exclusive(self) -> bool:
        """Two clusters with a ServiceAccount of the same name would be the same there."""
        return True

    def want(self, known: Known) -> PoolState:  # noqa: ARG002 - it follows from what was asked
        return PoolState(
            title=self.cluster.name[:TITLE],
            description=f"Kubernetes cluster {self.cluster.name}.",
            provider=self.provider,
        )

    def differing(self, want: PoolState, have: PoolState) -> tuple[Difference, ...]:
        if self._theirs(have):
            return ()
        fitting = replace(
            want, description=room.fitted(want.description, self.cluster.name, have.scopes)
        )
        strangers = frozenset(str(each) for each in have.strangers(self.provider))
        return (
            *differences(fitting, have),
            *((Difference("providers", strangers, frozenset[str]()),) if strangers else ()),
        )

    def objection(self, found: Known) -> Problem | None:
        """One of the user's own is not changed to make it usable."""
        have = found.get(self)
        if (
            have is None
            or not self._theirs(have)
            or (have.owner and names.own(have.owner.cluster) != self.cluster.name)
        ):
            return None
        return self._off(have) or self._crowded(have) or self._full(have)

    def _off(self, have: PoolState) -> Problem | None:
        if have.deleted:
            verb, how = "deleted", "undelete"
        elif have.disabled:
            verb, how = "disabled", "update --no-disabled"
        else:
            return None
        command = f"gcloud iam workload-identity-pools {how.split()[0]} {self.name} --location=global{how.removeprefix(how.split()[0])}"
        return BadInput(
            f"{self.address} is {verb}, and it is yours",
            remedy=f"{command}, or give another --workload-identity-pool",
        )

    def _crowded(self, have: PoolState) -> Problem | None:
        strangers = have.strangers(self.provider)
        if not strangers:
            return None
        return BadInput(
            f"{self.address} has the provider {strangers[0]}: whoever that is could say to be any of the cluster's workloads",
            remedy="let the cluster have a pool of its own: leave --workload-identity-pool out, or give a name that is free",
        )

    def _full(self, have: PoolState) -> Problem | None:
        """What it says to people is the user's, and so stays as it is."""
        over = len(have.description.encode()) - room.left(self.cluster.name, have.scopes)
        if over <= 0 or have.owner is not None:
            return None
        return BadInput(
            f"{self.address} has no room in its description for the mark of the cluster",
            remedy=f"make the description shorter by {over} bytes, or give another --workload-identity-pool",
        )

    def _theirs(self, have: PoolState) -> bool:
        """Whether it was there before we were told its name: what we made under a name that was given is ours all the same."""
        return self.named and (
            have.owner is None
            or have.owner.cluster != self.cluster.name
            or have.owner.hold == "brought"
        )
