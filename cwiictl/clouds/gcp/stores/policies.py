"""The cluster's part of the policies of projects."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace

from cwiictl import names
from cwiictl.clouds.gcp import ids
from cwiictl.clouds.gcp.resources.grant import Grant
from cwiictl.clouds.gcp.resources.policy import PolicyState, after
from cwiictl.clouds.gcp.stores import trust
from cwiictl.clouds.gcp.stores.errors import told
from cwiictl.clouds.gcp.stores.ledger import Document, Ledger, grants
from cwiictl.clouds.gcp.stores.pools import Pools
from cwiictl.clouds.gcp.stores.service_accounts import ServiceAccounts
from cwiictl.engine.resource import Mark
from cwiictl.errors import Denied, NotYet


@dataclass(frozen=True)
class Ours:
    """Who goes with the cluster: its service accounts, and the subjects of its pools."""

    accounts: Mapping[str, Mark]
    lent: Mapping[
        str, Mark
    ]  # accounts that are only let go: of these it is what only we can have given them
    pools: Mapping[trust.Pool, Mark]
    scopes: Mapping[
        str, str
    ]  # other projects that they were given roles in, and which command did so

    def mark(self, grant: Grant) -> Mark | None:
        who = ids.gone(grant.member) or grant.member
        if who in self.lent:
            return self.lent[who] if ids.is_ours(grant.role) else None
        return self.accounts.get(who) or next(
            (mark for pool, mark in self.pools.items() if pool.has(who)), None
        )


class Policies:
    """Addressed by project: there is one for each. What is granted to members that are ours to drop goes with them."""

    kind, bulk, patience = "gcp/policy", False, 600.0

    def __init__(
        self, ledger: Ledger, accounts: ServiceAccounts, pools: Pools, projects: Collection[str]
    ) -> None:
        self.ledger, self.accounts, self.pools, self.projects = ledger, accounts, pools, projects
        self.marks: dict[
            str, Mark
        ] = {}  # of those that hold something of ours, once that was asked
        self.withdrawing = threading.Lock()  # a description is written whole, and may name many

    def get(self, projects: Collection[str], /) -> Mapping[str, PolicyState]:
        return {project: self._state(project, self.ledger.read(project)) for project in projects}

    def put(self, project: str, want: PolicyState, _have: PolicyState | None, /) -> PolicyState:
        """Whatever else is in there by now stays: what we speak for is decided anew over what was seen last."""
        return replace(
            self._state(project, self.ledger.change(project, lambda have: after(want, have))),
            owner=None,
        )

    def drop(self, project: str, /) -> None:
        """And then nothing of ours says any more that it has roles there. A project that is gone for good answers like one that is closed."""
        ours = self._ours(names.own(self.accounts.cluster))
        try:
            self.ledger.change(
                project, lambda have: [grant for grant in have if not ours.mark(grant)]
            )
        except Denied as e:
            if project == self.accounts.project:
                raise
            away = f"take it out of {names.SCOPES_KEY} in the descriptions of the cluster's pool and service accounts"
            raise Denied(
                e.problem, remedy=f"{e.remedy}; or, if {project} is no more, {away}"
            ) from e
        if project in ours.scopes:
            self._withdrawn(project, ours)
        self.marks.pop(project, None)

    @told("iam")
    def _withdrawn(self, project: str, ours: Ours) -> None:
        """Who was granted something meanwhile would never be found again: all of it is done once more."""
        with self.withdrawing:
            self.accounts.withdraw(project)
            self.pools.withdraw(project)
        if any(ours.mark(grant) for grant in grants(self.ledger.read(project))):
            raise NotYet(f"somebody has granted roles in {project} to what is ours")

    @told("cloudresourcemanager")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        """By the marks of the members: what another command made is that command's, and so is what it shares a policy with."""
        if names.own(cluster) != cluster:
            return {}
        ours = self._ours(cluster)
        for project in self._places(ours.scopes):
            if origins := self._origins(project, ours):
                self.marks[project] = Mark(cluster, origin=max(origins))
        return dict(self.marks)

    def _origins(self, project: str, ours: Ours) -> list[str]:
        """Of all that is granted there to ours, or says that it was. Of a project that is closed to us nobody knows: it is tried, and fails for itself."""
        said = [ours.scopes[project]] if project in ours.scopes else []
        try:
            return said + [
                mark.origin
                for grant in grants(self.ledger.read(project))
                if (mark := ours.mark(grant))
            ]
        except Denied:
            if project == self.accounts.project:
                raise
            return said or [Mark("").origin]

    @told("iam")
    def direct(self, cluster: str) -> frozenset[str]:
        """The subjects of the cluster's own pools that are granted roles themselves."""
        found: set[str] = set()
        pools = self._pools(cluster) if names.own(cluster) == cluster else {}
        for project in self._places(scope for _, scopes in pools.values() for scope in scopes):
            with suppress(Denied) if project != self.accounts.project else nullcontext():
                found |= {
                    ids.subject(grant.member)
                    for grant in grants(self.ledger.read(project))
                    if _within(pools, grant)
                }
        return frozenset(found - {""})

    @told("iam")
    def strip(self, subject: str) -> None:
        """Of all that it is granted, wherever that is."""
        pools = self._pools(names.own(self.accounts.cluster))
        for project in self._places(scope for _, scopes in pools.values() for scope in scopes):
            self.ledger.change(
                project,
                lambda have: [
                    each
                    for each in have
                    if ids.subject(each.member) != subject or not _within(pools, each)
                ],
            )

    def _places(self, scopes: Iterable[str]) -> list[str]:
        return list(dict.fromkeys((*self.projects, *sorted(set(scopes)))))

    def _pools(self, cluster: str) -> Mapping[trust.Pool, tuple[Mark, frozenset[str]]]:
        """Its own, and in which other projects their members are granted roles."""
        found = self.pools.everybody(cluster).items()
        number = self.accounts.pool.number
        return {
            trust.Pool(number, pool): seen
            for pool, seen in found
            if (seen[0].cluster, seen[0].hold) == (cluster, "owned")
        }

    def holders(self) -> tuple[frozenset[str], Mapping[str, str]]:
        """The roles in the cluster's project that its own members have; and those that somebody else has, with whom."""
        ours = self._ours(names.own(self.accounts.cluster))
        found = [
            (grant, ours.mark(grant)) for grant in grants(self.ledger.read(self.accounts.project))
        ]
        others = {
            grant.role: grant.member
            for grant, mark in found
            if not mark and not ids.gone(grant.member)
        }
        return frozenset(grant.role for grant, mark in found if mark), others

    @told("iam")
    def _ours(self, cluster: str) -> Ours:
        members = self.accounts.members(cluster)
        pools = self._pools(cluster)
        scoped = [*((each.mark, each.scopes) for each in members), *pools.values()]
        return Ours(
            {each.name: each.mark for each in members if each.mark.hold == "owned"},
            {each.name: each.mark for each in members if each.mark.hold != "owned"},
            {pool: mark for pool, (mark, _) in pools.items()},
            {
                scope: max(mark.origin for mark, among in scoped if scope in among)
                for _, scopes in scoped
                for scope in scopes
            },
        )

    def _state(self, project: str, policy: Document) -> PolicyState:
        return PolicyState(
            grants=frozenset[Grant](grants(policy)),
            etag=str(policy.get("etag", "")),
            owner=self.marks.get(project),
        )


def _within(pools: Iterable[trust.Pool], grant: Grant) -> bool:
    who = ids.gone(grant.member) or grant.member
    return any(pool.has(who) for pool in pools)
