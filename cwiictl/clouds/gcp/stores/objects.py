"""Objects: the issuer's documents, always written under a precondition."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from cwiictl import names, oidc
from cwiictl.clouds.gcp.resources.document import JWKS
from cwiictl.clouds.gcp.stores.buckets import Buckets
from cwiictl.clouds.gcp.stores.errors import gone, told
from cwiictl.engine.resource import Mark, Store
from cwiictl.errors import NotYet
from cwiictl.issuer.documents import DocumentState, KeySetState

MARK = "cwii_mark"  # the key of a mark in the metadata of what has no labels


class Seen(NamedTuple):
    """An object as it was read: what replaces it says so by its generation."""

    body: bytes
    headers: tuple[str, str, str]  # content type, cache control, generation
    owner: Mark | None
    word: str  # of a rotation


class _Objects:
    """What both kinds of document have in common. In a bucket of ours they are the bucket's; in one of the user's own they bear marks."""

    kind, bulk, patience = "", False, 120.0
    path = ""

    def __init__(self, buckets: Buckets, bucket: str = "") -> None:
        """The bucket is the one that the user names: what is in it is found whatever is written on it."""
        self.buckets, self.storage, self.cluster, self.bucket = (
            buckets,
            buckets.storage,
            buckets.cluster,
            bucket,
        )

    @told("storage")
    def drop(self, name: str, /) -> None:
        """Exactly what bears our mark: who came in between is not dropped."""
        seen = self._fetch(name)
        if seen and (
            self.buckets.ours(_bucket(name)) or (seen.owner and seen.owner.cluster == self.cluster)
        ):
            with gone():
                self._blob(name).delete(if_generation_match=int(seen.headers[2]), retry=None)

    @told("storage")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        lent = {
            bucket for bucket, mark in self.buckets.owned(cluster).items() if mark.hold != "owned"
        }
        lent |= {self.bucket} if self.bucket and not self.buckets.ours(self.bucket) else set()
        found = {
            name: self._fetch(name) for name in (f"{bucket}/{self.path}" for bucket in sorted(lent))
        }
        return {
            name: seen.owner
            for name, seen in found.items()
            if seen and seen.owner and seen.owner.cluster == cluster
        }

    def _fetch(self, name: str) -> Seen | None:
        bucket, _, path = name.partition("/")
        blob: Any = self.storage.bucket(bucket).get_blob(path, retry=None)
        if blob is None:
            return None
        with gone():
            body = blob.download_as_bytes(retry=None, if_generation_match=blob.generation)
            headers = (blob.content_type or "", blob.cache_control or "", str(blob.generation))
            told: dict[str, str] = blob.metadata or {}
            return Seen(
                body, headers, names.undescribed(told.get(MARK, "")), told.get(names.ROTATION, "")
            )
        raise NotYet(f"{self.kind}/{name} was changed while it was read")

    def _owner(self, name: str, seen: Seen) -> Mark | None:
        """Whatever the bucket says of itself, as long as that is not that it is ours."""
        return seen.owner if seen.owner and not self.buckets.ours(_bucket(name)) else None

    def _store(
        self,
        name: str,
        body: bytes,
        want: DocumentState | KeySetState,
        have: DocumentState | KeySetState | None,
        word: str = "",
    ) -> str:
        """Over exactly what was seen: who came in between is not overwritten, and all is decided anew."""
        blob, seen = self._blob(name), int(have.version or 0) if have else 0
        if have and have.owner and want.owner is None:
            blob.metadata = {MARK: None, names.ROTATION: None}
            blob.patch(if_generation_match=seen, retry=None)
            return str(blob.generation)
        blob.cache_control = want.cache_control
        blob.metadata = self._metadata(name, have) | ({names.ROTATION: word} if word else {})
        blob.upload_from_string(
            body, content_type=want.content_type, if_generation_match=seen, retry=None
        )
        return str(blob.generation)

    def _metadata(self, name: str, have: DocumentState | KeySetState | None) -> dict[str, str]:
        """What was there unmarked in a place of the user's own stays when we go, with all that was written on it."""
        if (
            have is None
            or self.buckets.ours(_bucket(name))
            or (have.owner and have.owner.hold == "owned")
        ):
            return {MARK: names.described(Mark(self.cluster))}
        blob: Any = self._blob(name)
        with gone():
            blob.reload(retry=None)
        theirs: dict[str, str] = blob.metadata or {}
        return {
            **{key: text for key, text in theirs.items() if key != names.ROTATION},
            MARK: names.described(Mark(self.cluster, "brought")),
        }

    def _blob(self, name: str) -> Any:
        bucket, _, path = name.partition("/")
        return self.storage.bucket(bucket).blob(path)


def _bucket(name: str) -> str:
    return name.partition("/")[0]


class Documents(_Objects):
    kind, path = "gcp/document", names.DISCOVERY

    @told("storage")
    def get(self, names_: Collection[str], /) -> Mapping[str, DocumentState]:
        found = {name: self._fetch(name) for name in names_}
        return {
            name: replace(
                DocumentState.read(seen.body, *seen.headers), owner=self._owner(name, seen)
            )
            for name, seen in found.items()
            if seen
        }

    @told("storage")
    def put(self, name: str, want: DocumentState, have: DocumentState | None, /) -> DocumentState:
        version = self._store(name, oidc.dump(want.body), want, have)
        return replace(want, owner=None, version=version)


class KeySets(_Objects):
    kind, path = "gcp/key-set", JWKS

    @told("storage")
    def get(self, names_: Collection[str], /) -> Mapping[str, KeySetState]:
        found = {name: self._fetch(name) for name in names_}
        return {
            name: replace(self._state(name, seen), owner=self._owner(name, seen))
            for name, seen in found.items()
            if seen
        }

    def _state(self, name: str, seen: Seen) -> KeySetState:
        return KeySetState.read(seen.body, f"{self.kind}/{name}", *seen.headers).saying(
            seen.word, f"{self.kind}/{name}"
        )

    @told("storage")
    def put(self, name: str, want: KeySetState, have: KeySetState | None, /) -> KeySetState:
        version = self._store(name, want.merged(have), want, have, want.word(have))
        return replace(want, owner=None, version=version)


class FormerKeys:
    """Keys in a place where they are not wanted now: there is an answer for every one, and nothing is written."""

    bulk, patience = False, 600.0

    def __init__(self, store: Store[KeySetState]) -> None:
        self.kind, self.store = f"{store.kind}-before", store

    def get(self, names_: Collection[str], /) -> Mapping[str, KeySetState]:
        return {name: KeySetState(kids=frozenset()) for name in names_} | dict(
            self.store.get(names_)
        )

    def put(self, _name: str, want: KeySetState, have: KeySetState | None, /) -> KeySetState:
        return have or want

    def drop(self, _name: str, /) -> None:
        """Goes with what it is in."""

    def owned(self, _cluster: str, /) -> Mapping[str, Mark]:
        return {}
