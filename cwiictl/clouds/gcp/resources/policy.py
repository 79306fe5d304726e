"""What the cluster's members may do in a project: their part of its policy, which is everybody's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from cwiictl.clouds.gcp import ids
from cwiictl.clouds.gcp.resources.api import Api
from cwiictl.clouds.gcp.resources.custom_role import CustomRole
from cwiictl.clouds.gcp.resources.grant import Condition, Grant
from cwiictl.clouds.gcp.resources.pool import Pool
from cwiictl.clouds.gcp.resources.reach import Reach
from cwiictl.clouds.gcp.resources.service_account import Project, ServiceAccount
from cwiictl.engine.resource import Difference, Known, Resource, State, gladly
from cwiictl.errors import BadInput, Problem
from cwiictl.model import Workload


@dataclass(frozen=True, kw_only=True)
class PolicyState(State):
    """There is one for every project; the members' own marks speak for what they are granted."""

    markless: ClassVar[bool] = True
    grants: frozenset[Grant]  # of the found one: everybody's
    of: frozenset[str] = field(
        default=frozenset(), compare=False
    )  # of the wanted one: the members we speak for
    exact: bool = field(
        default=False, compare=False
    )  # of the wanted one: they have no role beside those
    etag: str = field(
        default="", compare=False, repr=False, metadata={"aside": True}
    )  # of the found one


def after(want: PolicyState, have: frozenset[Grant]) -> frozenset[Grant]:
    """All grants of the project when it is as wanted: everybody else's stay, whatever they are."""
    return frozenset(grant for grant in have if not _stale(want, grant)) | want.grants


def _stale(want: PolicyState, grant: Grant) -> bool:
    """Of a member that is gone, or of one of ours a role that we gave; what others gave it goes only if that was asked for."""
    gone = ids.gone(grant.member)
    if gone in want.of:
        return True
    return (
        grant.member in want.of
        and grant not in want.grants
        and (want.exact or ids.is_ours(grant.role))
    )


@dataclass(frozen=True)
class Principal:
    """The ServiceAccounts of a workload, who are granted roles themselves: there is no service account of Google's between."""

    workload: Workload
    project: Project

    @property
    def members(self) -> frozenset[str]:
        return ids.principals(self.project.number, self.project.pool, self.workload.subjects)


@dataclass(frozen=True)
class Granted:
    """A role for a member of ours: one that is there, or one of our own."""

    role: str | CustomRole
    member: str
    condition: Condition | None = None


@dataclass(frozen=True)
class Policy(Resource[PolicyState]):
    """One for all workloads, written once. It takes what it can get of them: one that failed does not stop the others."""

    granted: tuple[Granted, ...]
    members: tuple[ServiceAccount, ...] = gladly()
    roles: tuple[CustomRole, ...] = gladly()
    reaches: tuple[Reach | Pool, ...] = (
        gladly()
    )  # what must be there before principals are granted anything
    principals: tuple[Principal, ...] = ()
    exact: bool = False
    apis: tuple[Api, ...] = ()

    def want(self, known: Known) -> PolicyState:
        """Of whom not all can be granted, nothing is taken away."""
        direct = frozenset(member for principal in self.principals for member in principal.members)
        lost = frozenset(member.member for member in self.members if member not in known)
        lost |= direct if any(reach not in known for reach in self.reaches) else frozenset[str]()
        half = {each.member for each in self.granted if self._lacks(each, known)}
        there = (
            each
            for each in self.granted
            if each.member not in lost and not self._lacks(each, known)
        )
        grants = frozenset(Grant(_id(each, known), each.member, each.condition) for each in there)
        of = direct | {member.member for member in self.members}
        return PolicyState(grants=grants, of=of - lost - half, exact=self.exact)

    def objection(self, found: Known) -> Problem | None:
        """What is granted to a principal bears no mark: in a pool of others nobody could tell later what of it was ours."""
        for place in self.reaches if self.principals else ():
            pool = place.pool if isinstance(place, Reach) else place
            have = found.get(pool)
            if have and (
                have.owner is None
                or (have.owner.cluster, have.owner.hold) != (pool.cluster.name, "owned")
            ):
                return BadInput(
                    f"{self.principals[0].workload.title} is to have roles without a service account, and {pool.address} is not the cluster's own",
                    remedy="give it a service account, or let the cluster have a pool of its own",
                )
        return None

    def awaits(self, plan: Mapping[str, Resource[Any]], found: Known) -> tuple[str, ...]:
        return next(
            (who.project.awaits(plan, found) for who in (*self.members, *self.principals)), ()
        )

    @staticmethod
    def _lacks(granted: Granted, known: Known) -> bool:
        return isinstance(granted.role, CustomRole) and granted.role not in known

    def differing(self, want: PolicyState, have: PolicyState) -> tuple[Difference, ...]:
        then = after(want, have.grants)
        return (
            ()
            if then == have.grants
            else (Difference("grants", _of(want, have.grants), _of(want, then)),)
        )

    def grows(self, want: PolicyState, have: PolicyState, made: Collection[str]) -> bool:
        """Whether nothing goes, and only members that this run has made are given something."""
        new = {member.member for member in self.members if member.address in made}
        if any(reach.address in made for reach in self.reaches):
            new |= {member for principal in self.principals for member in principal.members}
        then = after(want, have.grants)
        return have.grants <= then and all(grant.member in new for grant in then - have.grants)

    def remarks(self, want: PolicyState, have: PolicyState) -> tuple[str, ...]:
        """What others gave, or we gave when it was asked for: nobody can tell these apart, and they are power."""
        beyond = sorted(
            after(want, have.grants) - want.grants, key=lambda grant: (grant.role, grant.member)
        )
        given: dict[str, list[str]] = {}
        for grant in (each for each in beyond if each.member in want.of):
            given.setdefault(grant.member, []).append(
                f"{grant.role} if {grant.condition.title}" if grant.condition else grant.role
            )
        return tuple(
            f"{member} has {', '.join(roles)} too: not asked for, and kept without --exact-roles"
            for member, roles in sorted(given.items())
        )


def _id(granted: Granted, known: Known) -> str:
    return known[granted.role].id if isinstance(granted.role, CustomRole) else granted.role


def _of(want: PolicyState, grants: Iterable[Grant]) -> frozenset[Grant]:
    """Those that are ours to show."""
    return frozenset(
        grant
        for grant in grants
        if grant in want.grants or grant.member in want.of or ids.gone(grant.member) in want.of
    )
