"""The service account of a workload, and the ServiceAccounts that may act as it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from cwiictl import names
from cwiictl.clouds.gcp import ids
from cwiictl.clouds.gcp.resources import room
from cwiictl.clouds.gcp.resources.pool import Pool
from cwiictl.clouds.gcp.resources.provider import Provider
from cwiictl.clouds.gcp.universes import Universe
from cwiictl.engine.resource import Difference, Known, Resource, State, assigned, differences
from cwiictl.errors import BadInput, Problem
from cwiictl.issuer.documents import KeySet
from cwiictl.model import Workload


@dataclass(frozen=True, kw_only=True)
class ServiceAccountState(State):
    """A deleted one is simply gone: another of its name is another."""

    email: str
    title: str  # its displayName
    description: str  # what it says to people; scopes and mark stand behind that
    principals: frozenset[
        str
    ]  # members of the cluster's pool who may act as it: all of them, for each is trust; those of others are theirs
    disabled: bool = False
    scopes: frozenset[str] = (
        frozenset()
    )  # other projects in which it is granted roles: written before the first of them is
    unique_id: str = assigned()


@dataclass(frozen=True)
class Project:
    """What is the same for all identities of a run."""

    id: str
    number: str
    pool: str
    provider: str
    universe: Universe
    cluster: str
    trust: tuple[str, ...] = ()  # addresses of the provider, and of its keys

    @property
    def path(self) -> str:
        """Of the provider, with the project's number."""
        return ids.provider(self.number, self.pool, self.provider)

    @property
    def named(self) -> str:
        """The provider, as all of Google knows it."""
        return f"{ids.POOLS}/{self.path}"

    def awaits(self, plan: Mapping[str, Resource[Any]], found: Known) -> tuple[str, ...]:
        """What comes before anybody is given power, where whom the pool believes already is not whom the cluster's issuer speaks for."""
        things = tuple(plan[address] for address in self.trust if address in plan)
        return (
            ()
            if all(_settled(thing, found) for thing in things)
            else tuple(thing.address for thing in things)
        )


def _settled(thing: Resource[Any], found: Known) -> bool:
    match thing:
        case Provider():
            return thing.settled(found)
        case KeySet():
            return _served(thing, found)
        case _:
            return True


def _served(keys: KeySet, found: Known) -> bool:
    """Whether the only keys that are believed are to be."""
    have, key = found.get(keys), found.get(keys.key)
    return have is None or (
        key is not None and key.kid in have.kids and (keys.keys != "replace" or len(have.kids) == 1)
    )


@dataclass(frozen=True)
class ServiceAccount(Resource[ServiceAccountState]):
    """It holds its pool, for no policy takes a member of one that is not there; and not the provider, so that nobody waits for the issuer.

    But one that is there and believes another than the cluster's issuer it waits for.
    """

    workload: Workload
    project: Project
    pool: Pool
    title: str
    scopes: frozenset[str] = frozenset()

    @property
    def email(self) -> str:
        return ids.email(self.name, self.project.id)

    @property
    def member(self) -> str:
        return ids.account_member(self.email)

    @property
    def sentence(self) -> str:
        return f"{'OpenShift' if self.workload.asker == 'request' else 'Kubernetes'} identity for {names.fit(self.workload.title, 100)}."

    @property
    def single(self) -> bool:
        return True

    def want(self, known: Known) -> ServiceAccountState:  # noqa: ARG002 - it follows from what was asked
        return ServiceAccountState(
            email=self.email,
            title=self.title,
            description=self.sentence,
            principals=ids.principals(
                self.project.number, self.project.pool, self.workload.subjects
            ),
            scopes=self.scopes,
        )

    def awaits(self, plan: Mapping[str, Resource[Any]], found: Known) -> tuple[str, ...]:
        return self.project.awaits(plan, found)

    def differing(
        self, want: ServiceAccountState, have: ServiceAccountState
    ) -> tuple[Difference, ...]:
        """No scope is ever taken off: what was granted there may still be."""
        after = want.scopes | have.scopes
        fitting = replace(
            want, description=room.fitted(want.description, self.pool.cluster.name, after)
        )
        told = (
            Difference("scopes", have.scopes, after) if d.field == "scopes" else d
            for d in differences(fitting, have)
        )
        return tuple(d for d in told if d.field != "scopes" or after != have.scopes)

    def objection(self, found: Known) -> Problem | None:
        """All of them are written on it, with those of earlier runs."""
        have = found.get(self)
        if have is None or room.left(self.pool.cluster.name, self.scopes) < 0:
            return self._full(
                self.scopes,
                "give it roles in fewer projects, or split what it does over two workloads",
            )
        return self._full(
            self.scopes | have.scopes,
            f"delete {self.email}, which bears those of earlier runs: it is made anew",
        )

    def _full(self, scopes: frozenset[str], remedy: str) -> Problem | None:
        if room.left(self.pool.cluster.name, scopes) >= 0:
            return None
        where = self.workload.source or self.workload.title
        return BadInput(
            f"{where}: {self.workload.title} is given roles in more projects than can be written on its service account",
            remedy=remedy,
        )
