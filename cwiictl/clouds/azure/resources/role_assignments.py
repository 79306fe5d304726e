"""All that an identity may do, and where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.resources.custom_role import CustomRole
from cwiictl.clouds.azure.resources.identity import Identity
from cwiictl.clouds.azure.resources.resource_group import ResourceGroup
from cwiictl.clouds.azure.resources.standing_group import StandingGroup
from cwiictl.engine.resource import Difference, Known, Resource, State, aside


@dataclass(frozen=True)
class Grant:
    """The scope's id in lower case, and the role's GUID: the same role has an id in every subscription."""

    scope: str
    role: str


@dataclass(frozen=True)
class Assignment:
    """One that is there."""

    id: str
    grant: Grant
    principal: str
    description: str = ""
    condition: tuple[str, str] = (
        "",
        "",
    )  # that somebody else put on it, and the version of its language


@dataclass(frozen=True, kw_only=True)
class AssignmentsState(State):
    """There is an answer for every identity that is there, also for one that is given nothing.

    The identity's mark speaks for what it is given; each of ours bears the mark in its description too, by which it is found when the identity is gone.
    `owner` is the mark that these bear.
    """

    markless: ClassVar[bool] = True
    grants: frozenset[Grant]
    principal: str  # of the found one that of a dead identity of this name, if any of ours still points to that
    preserve: bool = field(
        default=False, compare=False
    )  # of the wanted one: what others gave it stays
    unmarked: frozenset[Grant] = field(
        default=frozenset(), compare=False, metadata={"bookkeeping": True}
    )  # of the found one: those without our mark
    found: tuple[Assignment, ...] = aside()  # of the found one


@dataclass(frozen=True)
class RoleAssignments(Resource[AssignmentsState]):
    identity: Identity
    grants: frozenset[Grant]
    own: CustomRole | None = None
    own_scopes: frozenset[str] = frozenset()  # where its own role is given
    preserve: bool = False
    groups: tuple[
        ResourceGroup | StandingGroup, ...
    ] = ()  # that must be there, for it is given roles on them
    titles: Mapping[str, str] = field(
        default_factory=dict[str, str], compare=False
    )  # of roles, by their GUIDs, as people know them, as far as anybody asked

    @property
    def quiet(self) -> bool:
        """It is given nothing here: that it has nothing more is looked at all the same."""
        return not (self.grants or self.own)

    def want(self, known: Known) -> AssignmentsState:
        own = (
            frozenset(Grant(scope, ids.guid(known[self.own].id)) for scope in self.own_scopes)
            if self.own
            else frozenset[Grant]()
        )
        return AssignmentsState(
            grants=self.grants | own,
            principal=known[self.identity].principal_id,
            preserve=self.preserve,
        )

    def differing(self, want: AssignmentsState, have: AssignmentsState) -> tuple[Difference, ...]:
        return tuple(self._differing(want, have))

    def _differing(self, want: AssignmentsState, have: AssignmentsState) -> Iterator[Difference]:
        """Each further one is power that nobody asked for, unless others may give it some."""
        wanted = want.grants | have.grants if want.preserve else want.grants
        if wanted != have.grants:
            yield Difference("grants", self._titled(have.grants, want), self._titled(wanted, want))
        if want.principal != have.principal:
            yield Difference("principal", have.principal, want.principal)
        if unmarked := want.grants & have.unmarked:
            yield Difference("mark", "no mark of ours", self._titled(unmarked, want))

    def _titled(self, grants: frozenset[Grant], want: AssignmentsState) -> frozenset[Grant]:
        """For people, who know roles by their names."""
        own = {grant.role: self.own.name for grant in want.grants - self.grants} if self.own else {}
        return frozenset(
            replace(grant, role=own.get(grant.role) or self.titles.get(grant.role, grant.role))
            for grant in grants
        )
