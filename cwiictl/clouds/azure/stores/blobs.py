"""Blobs: the issuer's documents, written with a token and always under a precondition."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from azure.core import MatchConditions
from azure.core.exceptions import AzureError, HttpResponseError
from azure.storage.blob import BlobClient, ContainerClient, ContentSettings

from cwiictl import names, oidc
from cwiictl.clouds.azure.environments import Environment
from cwiictl.clouds.azure.resources.document import JWKS, PATHS
from cwiictl.clouds.azure.stores.containers import Containers
from cwiictl.clouds.azure.stores.errors import absent, code, gone, status, told
from cwiictl.clouds.azure.stores.lent import MISMATCH, Lender, Unseen
from cwiictl.clouds.azure.stores.storage import MARK, mark, metadata
from cwiictl.clouds.azure.stores.tokens import Tokens
from cwiictl.clouds.azure.stores.wire import heard
from cwiictl.engine.resource import Mark
from cwiictl.errors import NotYet
from cwiictl.issuer.documents import DocumentState, KeySetState

OPEN = frozenset({"Blob", "Container"})  # what a container says whose blobs everybody may read
CLOSED = frozenset(
    {401, 403, 404, 409}
)  # what Azure answers whoever comes without a token where nobody may


class Listing(Protocol):
    """All that a container's own store asks of its contents."""

    def stranger(self, account: str, container: str) -> str: ...


class Seen(NamedTuple):
    """A blob as it was read: what replaces it says so by its ETag."""

    body: bytes
    headers: tuple[str, str, str]  # content type, cache control, ETag
    owner: Mark | None
    word: str  # of a rotation


class Blobs:
    """The door to what is in containers."""

    def __init__(self, where: Environment, tokens: Tokens, transport: Any) -> None:
        self.where, self.tokens = where, tokens
        self.kept: dict[str, Any] = {
            "transport": transport,
            "retry_total": 0,
            "user_agent": "cwiictl",
            "raw_response_hook": heard,
        }

    def blob(self, name: str, *, anonymous: bool = False) -> BlobClient:
        account, container, path = name.split("/", 2)
        return BlobClient(
            self._url(account),
            container,
            path,
            credential=None if anonymous else self.tokens,
            **self.kept,
        )

    def stranger(self, account: str, container: str) -> str:
        """Something that is not the issuer's. Raises where neither we may look, nor everybody."""
        try:
            return self._strange(account, container, self.tokens)
        except HttpResponseError as e:
            if code(e) != MISMATCH:
                raise
            with suppress(AzureError):
                return self._strange(account, container, None)
            raise

    def _strange(self, account: str, container: str, credential: Tokens | None) -> str:
        client = ContainerClient(self._url(account), container, credential=credential, **self.kept)
        return next(
            (
                name
                for name in client.list_blob_names(results_per_page=len(PATHS) + 1)
                if name not in PATHS
            ),
            "",
        )

    def _url(self, account: str) -> str:
        return f"https://{self.where.blobs(account)}"


class _Documents:
    """What both kinds of document have in common. In a container of ours they are the container's; in one of the user's own they bear marks."""

    kind, bulk, patience = "", False, 600.0
    path = ""

    def __init__(self, blobs: Blobs, containers: Containers, lender: Lender) -> None:
        self.blobs, self.containers, self.lender = blobs, containers, lender
        self.cluster = lender.cluster

    @told("Microsoft.Storage")
    def drop(self, name: str, /) -> None:
        """Exactly what was seen, in a container of ours or with our mark: who came in between is not dropped."""
        seen = self._fetch(name)
        if seen is None or (
            self._shared(name) and (seen.owner is None or seen.owner.cluster != self.cluster)
        ):
            return
        try:
            with gone():
                self.blobs.blob(name).delete_blob(
                    etag=seen.headers[2], match_condition=MatchConditions.IfNotModified
                )
        except HttpResponseError as e:
            raise self._lending(name, e) from e

    @told("Microsoft.Storage")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        found = {
            name: self._fetch(name)
            for name in (
                f"{container}/{self.path}" for container in self.containers.brought(cluster)
            )
        }
        return {
            name: seen.owner
            for name, seen in found.items()
            if seen and seen.owner and seen.owner.cluster == cluster
        }

    def _shared(self, name: str) -> bool:
        """Whether it lies in a container that is not ours."""
        owner = mark(self.containers.known(_container(name)))
        return owner is None or owner.hold != "owned"

    def _fetch(self, name: str) -> Seen | None:
        """As anybody reads it, where anybody may."""
        container = self.containers.known(_container(name))
        if container is None:
            return None
        shared = self._shared(name)
        if container.public_access in OPEN:
            try:
                return _read(self.blobs.blob(name, anonymous=True), shared=shared)
            except HttpResponseError as e:
                if code(e) == "BlobNotFound":
                    return None
                if status(e) not in CLOSED:
                    raise
        try:
            return _read(self.blobs.blob(name), shared=shared)
        except HttpResponseError as e:
            if absent(e):
                return None
            if (
                code(e) == MISMATCH
                and _container(name) not in self.lender.lent
                and f"{self.kind}/{name}" not in self.lender.waiting
            ):
                raise self.lender.refusal(_container(name), "read") from e
            raise self._lending(name, e) from e

    def _open(self, name: str, have: DocumentState | KeySetState | None) -> None:
        """What could not be read is read before it is written over: by now everybody may read it, or what that needs is lent."""
        if have and have.hidden:
            if getattr(self.containers.known(_container(name)), "public_access", None) in OPEN:
                raise NotYet(f"{self.kind}/{name} cannot be read yet", remedy="run again")
            raise self.lender.awaited(f"{self.kind}/{name}", _container(name), "read")

    def _store(
        self,
        name: str,
        body: bytes,
        want: DocumentState | KeySetState,
        have: DocumentState | KeySetState | None,
        word: str = "",
    ) -> str:
        """Over exactly what was seen: who came in between is not overwritten, and all is decided anew."""
        client, seen = self.blobs.blob(name), have.version if have else ""
        condition: Any = (
            {"etag": seen, "match_condition": MatchConditions.IfNotModified} if seen else {}
        )
        try:
            if have and have.owner and want.owner is None:
                return str(client.set_blob_metadata(_theirs(client), **condition)["etag"])
            settings = ContentSettings(
                content_type=want.content_type, cache_control=want.cache_control
            )
            signs = self._signs(name, client, have) | ({names.ROTATION: word} if word else {})
            made: Any = client.upload_blob(
                body, content_settings=settings, metadata=signs, overwrite=bool(seen), **condition
            )
        except HttpResponseError as e:
            raise self._lending(name, e) from e
        return str(made["etag"])

    def _signs(
        self, name: str, client: BlobClient, have: DocumentState | KeySetState | None
    ) -> dict[str, str]:
        """What was there unmarked in a place of the user's own stays when we go, with all that was written on it."""
        if have is None or (have.owner and have.owner.hold == "owned") or not self._shared(name):
            return {MARK: names.described(Mark(self.cluster))}
        return {**_theirs(client), MARK: names.described(Mark(self.cluster, "brought"))}

    def _lending(self, name: str, e: HttpResponseError) -> Exception:
        return (
            self.lender.awaited(f"{self.kind}/{name}", _container(name), "write")
            if code(e) == MISMATCH
            else e
        )


class Documents(_Documents):
    kind, path = "azure/document", names.DISCOVERY

    @told("Microsoft.Storage")
    def get(self, names_: Collection[str], /) -> Mapping[str, DocumentState]:
        found = {name: self._state(name) for name in names_}
        return {name: state for name, state in found.items() if state}

    def _state(self, name: str) -> DocumentState | None:
        try:
            seen = self._fetch(name)
        except Unseen as e:
            return DocumentState(body={}, hidden=e.problem)
        return (
            replace(DocumentState.read(seen.body, *seen.headers), owner=seen.owner)
            if seen
            else None
        )

    @told("Microsoft.Storage")
    def put(self, name: str, want: DocumentState, have: DocumentState | None, /) -> DocumentState:
        self._open(name, have)
        version = self._store(name, oidc.dump(want.body), want, have)
        return replace(want, owner=None, version=version)


class KeySets(_Documents):
    kind, path = "azure/key-set", JWKS

    @told("Microsoft.Storage")
    def get(self, names_: Collection[str], /) -> Mapping[str, KeySetState]:
        found = {name: self._state(name) for name in names_}
        return {name: state for name, state in found.items() if state}

    def _state(self, name: str) -> KeySetState | None:
        try:
            seen = self._fetch(name)
        except Unseen as e:
            return KeySetState(kids=frozenset(), hidden=e.problem)
        if seen is None:
            return None
        read = KeySetState.read(seen.body, where := f"{self.kind}/{name}", *seen.headers)
        return replace(read.saying(seen.word, where), owner=seen.owner)

    @told("Microsoft.Storage")
    def put(self, name: str, want: KeySetState, have: KeySetState | None, /) -> KeySetState:
        self._open(name, have)
        version = self._store(name, want.merged(have), want, have, want.word(have))
        return replace(want, owner=None, version=version)


def _container(name: str) -> str:
    return "/".join(name.split("/", 2)[:2])


def _theirs(client: BlobClient) -> dict[str, str]:
    return {
        key: text
        for key, text in metadata(client.get_blob_properties()).items()
        if key not in {MARK, names.ROTATION}
    }


def _read(client: BlobClient, *, shared: bool) -> Seen:
    stream: Any = client.download_blob()
    found = stream.properties
    settings = found.content_settings
    headers = (settings.content_type or "", settings.cache_control or "", found.etag)
    return Seen(
        stream.readall(),
        headers,
        mark(found) if shared else None,
        metadata(found).get(names.ROTATION, ""),
    )
