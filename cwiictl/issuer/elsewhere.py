"""An issuer that no cloud hosts for us: at a host of the user's own, or one that is there already and is only to be trusted."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from cwiictl import names
from cwiictl.engine.resource import Known, Mark, Store
from cwiictl.errors import BadInput, Problem
from cwiictl.issuer.documents import (
    DiscoveryDocument,
    DocumentState,
    Issuer,
    IssuerState,
    Keys,
    KeySet,
    KeySetState,
)
from cwiictl.issuer.home import Home
from cwiictl.issuer.key import SigningKey

JWKS = "keys.json"


@dataclass(frozen=True)
class Shelves:
    """Where the documents are written for the user to serve, and where the world reads them."""

    documents: Store[DocumentState]
    key_sets: Store[KeySetState]
    web: Store[IssuerState]


class Published(Issuer):
    """What is published there must serve our key: a user's host changes when the user changes it."""

    def objection(self, found: Known) -> Problem | None:
        have, key = found.get(self), found.get(self.key)
        if have is None or not have.kids or (key and key.kid in have.kids):
            return None
        ours = key.kid if key else "one that is yet to be made"
        return BadInput(
            f"{self.name} publishes the key {', '.join(sorted(have.kids))}, and {ours} is not among them",
            remedy="give the cluster's own key with --public-key-file, or publish this one there too",
        )


@dataclass(frozen=True)
class Unread(Issuer):
    """Its keys are handed to whoever trusts it, and so nobody needs to read it: it is a name alone."""

    keys: Keys = "published"  # what may be done to those that were handed over

    @property
    def quiet(self) -> bool:
        return True

    def want(self, known: Known) -> IssuerState:
        return _unread(self.home.url(known))


class Nowhere:
    """Where such an issuer is: there is nothing to read, and nothing to wait for."""

    kind, bulk, patience = "issuer", False, 0.0

    def get(self, urls: Collection[str], /) -> Mapping[str, IssuerState]:
        return {url: _unread(url) for url in urls}

    def put(self, url: str, _want: IssuerState, _have: IssuerState | None, /) -> IssuerState:
        return _unread(url)

    def drop(self, _url: str, /) -> None: ...

    def owned(self, _cluster: str, /) -> Mapping[str, Mark]:
        return {}


def _unread(url: str) -> IssuerState:
    return IssuerState(url=url, readable="by nobody")


def checked(url: str) -> str:
    """As it will stand in every token, to the letter."""
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if (
        parts.scheme != "https"
        or not parts.hostname
        or parts.query
        or parts.fragment
        or parts.username
        or url.endswith("/")
    ):
        raise BadInput(
            f"--issuer-url {url} cannot be an issuer",
            remedy="give an https URL without query, fragment and final slash",
        )
    return url


def own(url: str, shelves: Shelves, key: SigningKey, keys: Keys) -> Issuer:
    """Its documents are written to files; who needs it readable waits until the user has published them."""
    home = Home(checked(url))
    discovery = DiscoveryDocument(names.DISCOVERY, shelves.documents, None, home, JWKS)
    key_set = KeySet(JWKS, shelves.key_sets, None, key, keys)
    return (Published if keys in {"published", "looked at"} else Issuer)(
        url, shelves.web, home, key, (discovery, key_set)
    )


def existing(url: str, shelves: Shelves, key: SigningKey) -> Issuer:
    """Only trusted: nothing is published."""
    return Published(checked(url), shelves.web, Home(url), key)
