"""Workload identity pools: found by name, soft to delete, and changed in Google's own time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from google.api_core.exceptions import GoogleAPICallError

from cwiictl import names
from cwiictl.clouds.gcp import ids
from cwiictl.clouds.gcp.resources.pool import Believed, PoolState
from cwiictl.clouds.gcp.stores import descriptions, trust
from cwiictl.clouds.gcp.stores.errors import absent, gone, told
from cwiictl.clouds.gcp.stores.ledger import Ledger
from cwiictl.clouds.gcp.stores.operations import Operations
from cwiictl.clouds.gcp.stores.wire import PAGE, Rest
from cwiictl.clouds.gcp.universes import Universe
from cwiictl.engine.resource import Mark
from cwiictl.errors import Conflict, NotYet

PATIENCE = 600.0
DELETED = "DELETED"


class Pools:
    kind, bulk, patience = "gcp/pool", False, PATIENCE

    def __init__(
        self, rest: Rest, where: Universe, project: tuple[str, str], cluster: str, ledger: Ledger
    ) -> None:
        """The project's id and number."""
        self.rest, self.cluster, self.ledger = rest, cluster, ledger
        self.project, self.number = project
        self.root = f"https://{where.host('iam')}/v1"
        self.operations = Operations(rest, self.root)
        self.lock = threading.Lock()
        self.kept: list[str] | None = None

    @told("iam")
    def get(self, pools: Collection[str], /) -> Mapping[str, PoolState]:
        found = {pool: self._read(pool) for pool in pools}
        return {pool: self._state(pool, seen) for pool, seen in found.items() if seen}

    @told("iam")
    def put(self, pool: str, want: PoolState, have: PoolState | None, /) -> PoolState:
        if have is None:
            made = self.rest.post(self._all(), self._wish(want, ()), workloadIdentityPoolId=pool)
            self.operations.begun(pool, made, f"{self.kind}/{pool} is being made")
            return replace(want, scopes=frozenset())
        if have.deleted:
            self.operations.begun(
                pool,
                self.rest.post(f"{self.url(pool)}:undelete", {}),
                f"{self.kind}/{pool} is being revived",
            )
        after = (
            replace(have, deleted=False, owner=want.owner)
            if _lent(want)
            else replace(want, scopes=have.scopes)
        )
        self._write(pool, after, replace(have, deleted=False))
        _alone(
            f"{self.kind}/{pool}",
            want,
            replace(have, others=self._others(pool)) if have.deleted else have,
        )
        return after

    @told("iam")
    def drop(self, pool: str, /) -> None:
        """Its members' roles go first: whoever gets its name, in thirty days, would have them. It alone says in which other projects they are."""
        seen = self._read(pool)
        if seen and seen.get("state") != DELETED:
            members = trust.Pool(self.number, pool)
            for project in sorted({self.project, *_told(seen, self.cluster).scopes}):
                self.ledger.change(
                    project,
                    lambda grants: [
                        grant
                        for grant in grants
                        if not members.has(ids.gone(grant.member) or grant.member)
                    ],
                )
            with gone():
                self.operations.begun(
                    pool, self.rest.delete(self.url(pool)), f"{self.kind}/{pool} is being deleted"
                )

    @told("iam")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        return {
            pool: mark
            for pool, (mark, _) in self.everybody(cluster).items()
            if mark.cluster == cluster
        }

    def everybody(self, cluster: str) -> Mapping[str, tuple[Mark, frozenset[str]]]:
        """All that are there and somebody's, with the other projects that their members were given roles in."""
        found = {
            pool: (mark(seen, cluster), _told(seen, cluster).scopes)
            for pool, seen in self._living().items()
        }
        return {pool: (owner, scopes) for pool, (owner, scopes) in found.items() if owner}

    def of(self, cluster: str, *named_: str) -> list[str]:
        """Those that are there and bear the cluster's mark, and those that are named for it."""
        return sorted(
            pool
            for pool, seen in self._living().items()
            if pool in named_ or believer(seen, cluster)
        )

    def ours(self) -> list[str]:
        """As they were when that was asked first."""
        with self.lock:
            if self.kept is None:
                self.kept = self.of(self.cluster)
            return self.kept

    def providers(self, pool: str) -> list[Any]:
        """Those that are there."""
        with gone():
            found = self.rest.pages(
                f"{self.url(pool)}/providers", "workloadIdentityPoolProviders", pageSize=PAGE
            )
            return [seen for seen in found if seen.get("state") != DELETED]
        return []

    def reach(self, pool: str, scopes: frozenset[str]) -> frozenset[str]:
        return self._scoped(pool, lambda before: before | scopes)

    def withdraw(self, project: str) -> None:
        """Members of the cluster's pools have no roles there any more."""
        for pool, (owner, scopes) in self.everybody(self.cluster).items():
            if owner.cluster == self.cluster and project in scopes:
                self._scoped(pool, lambda before: before - {project})

    def _scoped(
        self, pool: str, alter: Callable[[frozenset[str]], frozenset[str]]
    ) -> frozenset[str]:
        """Written behind what it says, and before its mark."""
        seen = self._read(pool)
        if not seen or seen.get("state") == DELETED:
            raise NotYet(
                f"{self.kind}/{pool} is not there yet",
                remedy="make it with create-identity-provider",
            )
        have = self._state(pool, seen)
        after = alter(have.scopes)
        self._write(pool, replace(have, scopes=after), have)
        return after

    def url(self, pool: str) -> str:
        return f"{self.root}/{ids.pool(self.project, pool)}"

    def _living(self) -> dict[str, Any]:
        return {
            named(seen): seen
            for seen in self.rest.pages(self._all(), "workloadIdentityPools", pageSize=PAGE)
            if seen.get("state") != DELETED
        }

    def _others(self, pool: str) -> frozenset[Believed]:
        """Whom it believes beside those that bear the cluster's mark."""
        active = (
            seen
            for seen in self.providers(pool)
            if not seen.get("disabled") and not believer(seen, self.cluster)
        )
        return frozenset(Believed(named(seen), issuer(seen)) for seen in active)

    def _all(self) -> str:
        return self.url("").rstrip("/")

    def _write(self, pool: str, want: PoolState, have: PoolState) -> None:
        before, after = self._wish(have, have.scopes), self._wish(want, want.scopes)
        before["description"] = descriptions.found(have.description, have.owner, have.scopes)
        if fields := [field for field in after if after[field] != before[field]]:
            self.operations.begun(
                pool,
                self.rest.patch(self.url(pool), after, *fields),
                f"{self.kind}/{pool} is being changed",
            )

    def _wish(self, want: PoolState, scopes: Collection[str]) -> dict[str, Any]:
        description = descriptions.written(want.description, want.owner, scopes)
        return {"displayName": want.title, "description": description, "disabled": want.disabled}

    def _read(self, pool: str) -> Any:
        self.operations.settle(pool)
        try:
            return self.rest.get(self.url(pool))
        except GoogleAPICallError as e:
            if absent(e):
                return None
            raise

    def _state(self, pool: str, seen: Any) -> PoolState:
        said, deleted = _told(seen, self.cluster), seen.get("state") == DELETED
        return PoolState(
            title=seen.get("displayName", ""),
            description=said.sentence,
            disabled=bool(seen.get("disabled")),
            deleted=deleted,
            scopes=said.scopes,
            others=frozenset() if deleted else self._others(pool),
            owner=mark(seen, self.cluster),
        )


def mark(seen: Any, cluster: str) -> Mark | None:
    """Whose a pool or a provider is."""
    return _told(seen, cluster).owner


def believer(seen: Any, cluster: str) -> bool:
    """Whether a pool or a provider is the cluster's, by whichever of its names."""
    owner = mark(seen, cluster)
    return owner is not None and names.own(owner.cluster) == names.own(cluster)


def issuer(seen: Any) -> str:
    return str((seen.get("oidc") or {}).get("issuerUri", ""))


def named(seen: Any) -> str:
    return str(seen["name"]).rpartition("/")[2]


def _told(seen: Any, cluster: str) -> descriptions.Told:
    return descriptions.read(seen.get("description", ""), cluster, seen.get("displayName", ""))


def _lent(want: PoolState) -> bool:
    return want.owner is not None and want.owner.hold == "brought"


def _alone(address: str, want: PoolState, have: PoolState) -> None:
    """What others made is not ours to drop; and nobody is given anything in a pool whose members could be theirs."""
    strangers = have.strangers(want.provider) if want.provider else []
    if strangers:
        raise Conflict(
            f"{address} has the provider {strangers[0]}: whoever that is could say to be any of the cluster's workloads",
            remedy=f"delete it, or disable it: gcloud iam workload-identity-pools providers delete {strangers[0].name}"
            f" --workload-identity-pool={address.rpartition('/')[2]} --location=global",
        )
