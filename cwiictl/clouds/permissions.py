"""Whether who asks may make what is missing, or drop what is to go: asked beforehand, so that nothing is left half made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from cwiictl.engine.resource import Known, Mark, Resource, State, gladly
from cwiictl.errors import MANY, Denied, Problem, listed


@dataclass(frozen=True, kw_only=True)
class PermissionsState(State):
    markless: ClassVar[bool] = True
    lacking: tuple[str, ...] = ()


class Rights:
    """Where it is known what somebody may do: it is asked, and nothing in it is ours."""

    bulk, patience = False, 30.0

    def put(
        self, _caller: str, want: PermissionsState, _have: PermissionsState | None, /
    ) -> PermissionsState:
        return want

    def drop(self, _caller: str, /) -> None:
        """Permissions are their giver's to take."""

    def owned(self, _cluster: str, /) -> Mapping[str, Mark]:
        return {}


@dataclass(frozen=True)
class Permissions(Resource[PermissionsState]):
    """Who lacks a permission that nothing needs today is not stopped for it."""

    who: str
    things: tuple[Resource[Any], ...] = gladly()
    shared: tuple[Resource[Any], ...] = gladly()  # everybody's documents, that are always there
    write: tuple[str, ...] = ()  # what writing these takes

    def want(self, known: Known) -> PermissionsState:  # noqa: ARG002 - all of them
        return PermissionsState()

    def differing(self, want: PermissionsState, have: PermissionsState) -> tuple[()]:  # noqa: ARG002 - nobody can repair it from here
        return ()

    def objection(self, found: Known) -> Problem | None:
        have = found.get(self)
        lacking = self._needed(have.lacking, found) if have else ()
        if not lacking:
            return None
        return _denied(self.who, lacking, "making what is missing")

    def _needed(self, lacking: tuple[str, ...], found: Known) -> tuple[str, ...]:
        """All, where something is missing. Where only a document is not as wanted, what writing that takes."""
        if any(thing not in found for thing in self.things):
            return lacking
        written = tuple(each for each in lacking if each in self.write)
        return (
            written
            if written
            and any(
                each not in found or each.differing(each.want(found), found[each])
                for each in self.shared
            )
            else ()
        )


@dataclass(frozen=True)
class Leave(Permissions):
    """Of a removal: all that is asked about is needed."""

    def objection(self, found: Known) -> Problem | None:
        have = found.get(self)
        return (
            _denied(self.who, have.lacking, "taking these things down")
            if have and have.lacking
            else None
        )


def _denied(who: str, lacking: tuple[str, ...], what: str) -> Denied:
    remedy = "have it granted: cwiictl permissions prints the least that suffices"
    every = tuple(dict.fromkeys(lacking))
    if len(every) <= MANY:
        return Denied(f"{who} may not do {', '.join(every)}, which {what} needs", remedy=remedy)
    return Denied(
        f"{who} may not do {len(every)} things, which {what} needs:{listed(map(_divided, every))}",
        remedy=remedy,
    )


def _divided(action: str) -> tuple[str, str]:
    """The service, and what is done there: iam:CreateRole, Microsoft.Storage/storageAccounts/write, or iam.serviceAccounts.create."""
    found = re.fullmatch(r"(?P<service>[^:/]+)[:/](?P<rest>.+)|(?P<of>.+)\.(?P<verb>[^.]+)", action)
    if found is None:
        return "besides", action
    return (found["service"], found["rest"]) if found["service"] else (found["of"], found["verb"])
