"""Providers of a pool, and the keys that were uploaded to them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from google.api_core.exceptions import GoogleAPICallError

from cwiictl.clouds.gcp.resources.provider import ProviderState
from cwiictl.clouds.gcp.stores import descriptions
from cwiictl.clouds.gcp.stores.errors import absent, gone, told
from cwiictl.clouds.gcp.stores.operations import Operations
from cwiictl.clouds.gcp.stores.pools import DELETED, Pools, believer, issuer, mark, named
from cwiictl.engine.resource import Mark
from cwiictl.errors import NotYet
from cwiictl.issuer.documents import KeySetState


class Providers:
    """Addressed as POOL/PROVIDER."""

    kind, bulk, patience = "gcp/provider", False, 600.0

    def __init__(self, pools: Pools, pool: str) -> None:
        self.pools, self.pool, self.cluster, self.rest = pools, pool, pools.cluster, pools.rest
        self.operations = Operations(pools.rest, pools.root)

    @told("iam")
    def get(self, providers: Collection[str], /) -> Mapping[str, ProviderState]:
        found = {provider: self.read(provider) for provider in providers}
        return {provider: self._state(seen) for provider, seen in found.items() if seen}

    @told("iam")
    def put(
        self, provider: str, want: ProviderState, have: ProviderState | None, /
    ) -> ProviderState:
        pool, _, name = provider.partition("/")
        if have is None:
            made = self.rest.post(
                f"{self.pools.url(pool)}/providers",
                _first(want),
                workloadIdentityPoolProviderId=name,
            )
            self._begun(provider, made, "made")
            return want
        if have.deleted:
            self._begun(provider, self.rest.post(f"{self.url(provider)}:undelete", {}), "revived")
        before = {
            **_wish(have),
            "description": descriptions.found(have.description, have.owner, word=have.word),
        }
        after = _wish(replace(want, word="" if want.keys == "issuer" else have.word))
        fields = [field for field in _flat(after) if _flat(after)[field] != _flat(before)[field]]
        forget = ["oidc.jwksJson"] if (want.keys, have.keys) == ("issuer", "uploaded") else []
        if fields or forget:
            self.write(provider, after, *fields, *forget)
        return replace(want, keys="issuer" if forget else have.keys)

    @told("iam")
    def drop(self, provider: str, /) -> None:
        seen = self.read(provider)
        if seen and seen.get("state") != DELETED:
            with gone():
                self._begun(provider, self.rest.delete(self.url(provider)), "deleted")

    @told("iam")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        """In the cluster's own pools as well: what goes with its pool comes back with it, and so does what it believes."""
        found = (
            (pool, seen)
            for pool in self.pools.of(cluster, self.pool)
            for seen in self.pools.providers(pool)
        )
        marks = {f"{pool}/{named(seen)}": mark(seen, cluster) for pool, seen in found}
        return {
            provider: owner
            for provider, owner in marks.items()
            if owner and owner.cluster == cluster
        }

    @told("iam")
    def issuers(self, named_: str, cluster: str) -> frozenset[str]:
        """That the cluster's providers believe, in whichever of its pools, and the one that is named for it."""
        found = (
            (pool, seen)
            for pool in self.pools.of(cluster, self.pool)
            for seen in self.pools.providers(pool)
        )
        ours = (
            seen
            for pool, seen in found
            if believer(seen, cluster) or (pool, named(seen)) == (self.pool, named_)
        )
        return frozenset(url for seen in ours if (url := issuer(seen)))

    def read(self, provider: str) -> Any:
        self.operations.settle(provider)
        try:
            return self.rest.get(self.url(provider))
        except GoogleAPICallError as e:
            if absent(e):
                return None
            raise

    def write(self, provider: str, wish: Mapping[str, Any], *fields: str) -> None:
        self._begun(provider, self.rest.patch(self.url(provider), wish, *fields), "changed")

    def url(self, provider: str) -> str:
        pool, _, name = provider.partition("/")
        return f"{self.pools.url(pool)}/providers/{name}"

    def _begun(self, provider: str, operation: Any, verb: str) -> None:
        self.operations.begun(provider, operation, f"{self.kind}/{provider} is being {verb}")

    def _state(self, seen: Any) -> ProviderState:
        oidc, told = (
            seen.get("oidc") or {},
            descriptions.read(seen.get("description", ""), self.cluster),
        )
        return ProviderState(
            title=seen.get("displayName", ""),
            description=told.sentence,
            issuer=oidc.get("issuerUri", ""),
            audiences=frozenset(oidc.get("allowedAudiences") or ()),
            mapping=dict(seen.get("attributeMapping") or {}),
            condition=seen.get("attributeCondition", ""),
            disabled=bool(seen.get("disabled")),
            deleted=seen.get("state") == DELETED,
            keys="uploaded" if oidc.get("jwksJson") else "issuer",
            word=told.word,
            owner=mark(seen, self.cluster),
        )


class ProviderKeys:
    """A child of its provider. Google has no precondition for it: all that can be done is to look right before."""

    kind, bulk, patience = "gcp/provider-keys", False, 600.0

    def __init__(self, providers: Providers) -> None:
        self.providers = providers

    @told("iam")
    def get(self, providers: Collection[str], /) -> Mapping[str, KeySetState]:
        found = {provider: self.providers.read(provider) for provider in providers}
        return {
            provider: self._state(provider, seen) for provider, seen in found.items() if _keys(seen)
        }

    @told("iam")
    def put(self, provider: str, want: KeySetState, have: KeySetState | None, /) -> KeySetState:
        seen = self.providers.read(provider)
        if seen is None or seen.get("state") == DELETED:
            raise NotYet(f"{self.kind}/{provider} has no provider yet")
        text, word, told = want.merged(have).decode(), want.word(have), self._told(seen)
        if (_keys(seen), told.word) == (text, word):  # as it was made with them
            return replace(want, owner=None, version=_version(text, word))
        if _version(_keys(seen), told.word) != (have.version if have else ""):
            raise NotYet(f"somebody else has written {self.kind}/{provider}")
        after = {
            "oidc": {"jwksJson": text},
            "description": descriptions.written(told.sentence, told.owner, told.scopes, word),
        }
        self.providers.write(
            provider, after, "oidc.jwksJson", *(("description",) if word != told.word else ())
        )
        return replace(want, owner=None, version=_version(text, word))

    def drop(self, _provider: str, /) -> None:
        """Goes with its provider."""

    def owned(self, _cluster: str, /) -> Mapping[str, Mark]:
        return {}

    def _state(self, provider: str, seen: Any) -> KeySetState:
        text, word = _keys(seen), self._told(seen).word
        where = f"{self.kind}/{provider}"
        return KeySetState.read(text.encode(), where, seen=_version(text, word)).saying(word, where)

    def _told(self, seen: Any) -> descriptions.Told:
        return descriptions.read(seen.get("description", ""), self.providers.cluster)


def _wish(want: ProviderState) -> dict[str, Any]:
    return {
        "displayName": want.title,
        "description": descriptions.written(want.description, want.owner, word=want.word),
        "disabled": want.disabled,
        "attributeMapping": dict(want.mapping),
        "attributeCondition": want.condition,
        "oidc": {"issuerUri": want.issuer, "allowedAudiences": sorted(want.audiences)},
    }


def _first(want: ProviderState) -> dict[str, Any]:
    """With its keys: without them Google would believe those of whoever has the issuer's URL, until they are there."""
    wish = _wish(want)
    kids = frozenset(key.kid for key in want.uploads)
    keys = (
        {"jwksJson": KeySetState(kids=kids, keys=want.uploads).merged(None).decode()}
        if want.uploads
        else {}
    )
    return {**wish, "oidc": {**wish["oidc"], **keys}}


def _flat(wish: Mapping[str, Any]) -> dict[str, Any]:
    """What can be changed by itself."""
    oidc: Mapping[str, Any] = wish["oidc"]
    return {
        **{key: value for key, value in wish.items() if key != "oidc"},
        **{f"oidc.{key}": value for key, value in oidc.items()},
    }


def _keys(seen: Any) -> str:
    return str(((seen or {}).get("oidc") or {}).get("jwksJson", ""))


def _version(text: str, word: str) -> str:
    """With what is said of a rotation: who turns the keys must have seen both."""
    return hashlib.sha256(f"{text} {word}".encode()).hexdigest() if text else ""
