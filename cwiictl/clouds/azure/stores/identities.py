"""Managed identities with their federated credentials. Many identities are read at once; their credentials Azure tells one identity at a time."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from azure.core.exceptions import HttpResponseError
from azure.mgmt.msi.v2024_11_30.models import FederatedIdentityCredential
from azure.mgmt.msi.v2024_11_30.models import Identity as Wish

from cwiictl import names
from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.resources.identity import Credential, IdentityState
from cwiictl.clouds.azure.stores import tags
from cwiictl.clouds.azure.stores.errors import absent, gone, told
from cwiictl.engine.resource import Mark

if TYPE_CHECKING:
    from azure.mgmt.msi.v2024_11_30 import ManagedServiceIdentityClient

PATIENCE = 120.0
UNKNOWN = object()


@dataclass(frozen=True)
class Principal:
    """What is to be known of an identity by whoever gives it roles."""

    id: str
    scopes: tuple[str, ...]  # where outside of its subscription it was given some
    mark: Mark | None


class Identities:
    """Addressed as GROUP/IDENTITY. Azure refuses two writes at once within one, and so they come one after another."""

    kind, bulk, patience = "azure/identity", False, PATIENCE

    def __init__(self, msi: ManagedServiceIdentityClient, cluster: str) -> None:
        self.msi, self.cluster = msi, cluster
        self.crowd = _Crowd(msi, cluster)

    @told("Microsoft.ManagedIdentity")
    def get(self, identities: Collection[str], /) -> Mapping[str, IdentityState]:
        found = {
            identity: self._read(identity)
            if (seen := self.crowd.seen(identity)) is UNKNOWN
            else seen
            for identity in identities
        }
        return {
            identity: self._state(seen, self._credentials(identity))
            for identity, seen in found.items()
            if seen
        }

    @told("Microsoft.ManagedIdentity")
    def put(
        self, identity: str, want: IdentityState, have: IdentityState | None, /
    ) -> IdentityState:
        group, _, name = identity.partition("/")
        if have is None or tags.retagged(want, have):
            wish = Wish(
                location=have.region if have else want.region, tags=tags.written(want, have)
            )
            seen: Any = self.msi.user_assigned_identities.create_or_update(group, name, wish)
            self.crowd.learn(identity, seen)
            have = self._state(seen, have.titles if have else {})
        return self._entrust(group, name, want, have)

    @told("Microsoft.ManagedIdentity")
    def drop(self, identity: str, /) -> None:
        """Its credentials go with it."""
        group, _, name = identity.partition("/")
        with gone():
            self.msi.user_assigned_identities.delete(group, name)
        self.crowd.forget(identity)

    @told("Microsoft.ManagedIdentity")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        marks = {
            _name(seen): tags.owner(seen.tags, cluster)
            for seen in self.msi.user_assigned_identities.list_by_subscription()
        }
        return {
            identity: mark for identity, mark in marks.items() if mark and mark.cluster == cluster
        }

    @told("Microsoft.ManagedIdentity")
    def issuers(self, cluster: str) -> frozenset[str]:
        """That the cluster's identities were made to believe, as their tags say."""
        found = [
            tags.read(seen.tags)
            for seen in self.msi.user_assigned_identities.list_by_subscription()
        ]
        return frozenset(
            each[names.ISSUER_KEY]
            for each in found
            if names.ISSUER_KEY in each and _of(each, cluster)
        )

    def principal(self, identity: str) -> Principal | None:
        """As it was last seen in this run."""
        return self.crowd.principal(identity)

    def everybody(self, cluster: str) -> Mapping[str, Principal]:
        """All of the subscription, as they are now."""
        return {
            _name(seen): _principal(seen, cluster)
            for seen in self.msi.user_assigned_identities.list_by_subscription()
        }

    def _entrust(
        self, group: str, name: str, want: IdentityState, have: IdentityState
    ) -> IdentityState:
        """The found ones keep their names. What is wanted no more goes first: there is room for twenty, and what a name held is written over."""
        titles = _titled(want, have)
        missing = {each: title for each, title in titles.items() if have.titles.get(each) != title}
        for title in sorted(set(have.titles.values()) - set(titles.values())):
            with gone():
                self.msi.federated_identity_credentials.delete(group, name, title)
        for each, title in sorted(missing.items(), key=lambda item: item[1]):
            wish = FederatedIdentityCredential(
                issuer=each.issuer, subject=each.subject, audiences=[each.audience]
            )
            self.msi.federated_identity_credentials.create_or_update(group, name, title, wish)
        return replace(have, credentials=frozenset(titles), titles=titles)

    def _read(self, identity: str) -> Any:
        group, _, name = identity.partition("/")
        try:
            seen = self.msi.user_assigned_identities.get(group, name)
        except HttpResponseError as e:
            if absent(e):
                return None
            raise
        self.crowd.learn(identity, seen)
        return seen

    def _credentials(self, identity: str) -> Mapping[Credential, str]:
        """One that was written with several audiences is none that we would want: it stands under all of them."""
        group, _, name = identity.partition("/")
        with gone():
            found: Any = self.msi.federated_identity_credentials.list(group, name)
            return {
                Credential(
                    str(each.issuer), str(each.subject), " ".join(each.audiences or ())
                ): str(each.name)
                for each in found
            }
        return {}

    def _state(self, seen: Any, titles: Mapping[Credential, str]) -> IdentityState:
        found = tags.read(seen.tags)
        owner = names.mark(found, self.cluster)
        return IdentityState(
            region=ids.region(seen.location),
            credentials=frozenset(titles),
            tags=names.apart(found, owner),
            client_id=seen.client_id or "",
            principal_id=seen.principal_id or "",
            tenant_id=seen.tenant_id or "",
            titles=titles,
            owner=owner,
        )


class _Crowd:
    """All identities of a group at once. The second name that is asked for is the sign that many will be.

    What was read so answers each name once: who asks again wants to know what is there now.
    """

    def __init__(self, msi: ManagedServiceIdentityClient, cluster: str) -> None:
        self.msi, self.cluster = msi, cluster
        self.lock = threading.Lock()
        self.asked: dict[str, set[str]] = {}  # by group
        self.groups: dict[str, dict[str, Any]] = {}
        self.principals: dict[str, Principal] = {}

    def seen(self, identity: str) -> Any:
        """None if there is none of the name; UNKNOWN if that has to be asked."""
        group, _, _ = identity.partition("/")
        with self.lock:
            asked = self.asked.setdefault(group, set())
            if identity in asked:
                return UNKNOWN
            if asked:
                self._load(group)
            asked.add(identity)
            return self.groups[group].get(identity) if group in self.groups else UNKNOWN

    def principal(self, identity: str) -> Principal | None:
        with self.lock:
            if identity not in self.principals:
                self._load(identity.partition("/")[0])
            return self.principals.get(identity)

    def learn(self, identity: str, seen: Any) -> None:
        with self.lock:
            self.asked.setdefault(identity.partition("/")[0], set()).add(identity)
            self.principals[identity] = _principal(seen, self.cluster)

    def forget(self, identity: str) -> None:
        with self.lock:
            self.principals.pop(identity, None)

    def _load(self, group: str) -> None:
        if group not in self.groups:
            self.groups[group] = {_name(seen): seen for seen in self._list(group)}
            self.principals = {
                name: _principal(seen, self.cluster) for name, seen in self.groups[group].items()
            } | self.principals

    def _list(self, group: str) -> Iterator[Any]:
        with gone():
            yield from self.msi.user_assigned_identities.list_by_resource_group(group)


def _name(seen: Any) -> str:
    return f"{ids.group_of(seen.id)}/{seen.name}".lower()


def _principal(seen: Any, cluster: str) -> Principal:
    found = tags.read(seen.tags)
    scopes = (
        " ".join(text for key, text in found.items() if key.startswith(names.SCOPES_KEY))
        .replace(",", " ")
        .split()
    )
    return Principal(str(seen.principal_id).lower(), tuple(scopes), names.mark(found, cluster))


def _of(found: Mapping[str, str], cluster: str) -> bool:
    mark = names.mark(found, cluster)
    return mark is not None and mark.cluster == cluster


def _titled(want: IdentityState, have: IdentityState) -> dict[Credential, str]:
    """Who is found keeps its name. Whoever would get a name that is kept gets another."""
    found = {(each.issuer, each.subject): title for each, title in have.titles.items()}
    kept = {
        each: found[each.issuer, each.subject]
        for each in want.credentials
        if (each.issuer, each.subject) in found
    }
    held = {title.lower() for title in kept.values()}
    new = {
        each: want.titles.get(each) or names.credential(each.subject.rpartition(":")[2])
        for each in want.credentials - kept.keys()
    }
    return kept | {
        each: names.credential(f"{title}.{each.subject}") if title.lower() in held else title
        for each, title in new.items()
    }
