"""An issuer as a cloud sees it: read over the web, without credentials. Nothing is written here; to put is to wait."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from http import HTTPStatus
from typing import cast

from cwiictl import names, oidc
from cwiictl.engine.resource import Mark
from cwiictl.errors import Failed, NotYet, Problem
from cwiictl.issuer.documents import IssuerState
from cwiictl.issuer.page import MOST, Page
from cwiictl.issuer.stores.pages import Pages


class _Absent(NotYet):
    """Nobody serves it, which is not the same as serving it to some."""


class _Busy(NotYet):
    """Its host fails for a moment, and says nothing about what it serves."""


class Web:
    kind, bulk = "issuer", False

    def __init__(
        self,
        patience: float = 300.0,
        remedy: str = "see that anybody may read it, over a certificate that clouds accept",
    ) -> None:
        self.patience, self.remedy = patience, remedy
        self._pages = Pages()

    def get(self, urls: Collection[str], /) -> Mapping[str, IssuerState]:
        found = {url: self._seen(url) for url in urls}
        return {url: state for url, state in found.items() if state}

    def put(self, url: str, want: IssuerState, _have: IssuerState | None, /) -> IssuerState:
        """Its documents have been written; now it only takes time until everybody sees them."""
        try:
            state = self._read(url)
        except NotYet as e:
            raise type(e)(e.problem, remedy=want.remedy or self.remedy) from e
        if state.url != want.url or not want.kids <= state.kids:
            raise NotYet(
                f"{url} does not show what was published yet", remedy=want.remedy or self.remedy
            )
        if gone := want.gone(state.kids):
            raise NotYet(
                f"{url} still shows the key {min(gone)}, which was taken away",
                remedy=want.remedy or self.remedy,
            )
        return state

    def drop(self, _url: str, /) -> None: ...

    def owned(self, _cluster: str, /) -> Mapping[str, Mark]:
        return {}

    def keys(self, url: str) -> bytes | None:
        """The key set as it is served, if it is."""
        try:
            jwks_uri = self._document(f"{url}/{names.DISCOVERY}").get("jwks_uri")
            return self._fetch(jwks_uri) if isinstance(jwks_uri, str) else None
        except NotYet:
            return None

    def _seen(self, url: str) -> IssuerState | None:
        try:
            return self._read(url)
        except _Absent:
            return None
        except _Busy:
            raise
        except NotYet as e:
            return IssuerState(url=url, readable=e.problem)

    def _read(self, url: str) -> IssuerState:
        document = self._document(f"{url}/{names.DISCOVERY}")
        jwks_uri = document.get("jwks_uri")
        if document.get("issuer") != url or not isinstance(jwks_uri, str):
            return IssuerState(url=str(document.get("issuer")))
        keys = self._fetch(jwks_uri)
        try:
            return IssuerState(url=url, kids=frozenset(oidc.key_set(keys, jwks_uri).kids))
        except Problem as e:
            return IssuerState(url=url, readable=e.problem)

    def _document(self, url: str) -> Mapping[str, object]:
        try:
            document: object = json.loads(self._fetch(url))
        except ValueError:
            return {}
        return cast("Mapping[str, object]", document) if isinstance(document, dict) else {}

    def _fetch(self, url: str) -> bytes:
        page = self._pages.read(url)
        match page.trouble:
            case "insecure":
                raise NotYet(
                    f"{url} is not https, and no cloud would read it",
                    remedy="serve the documents over https",
                )
            case "distrusted":
                raise Failed(
                    f"the certificate of {url} is not believed: {page.why}",
                    remedy="name further authorities with SSL_CERT_FILE",
                )
            case "long":
                raise NotYet(f"{url} is longer than {MOST} bytes", remedy=self.remedy)
            case "":
                return self._answered(page)
            case _:
                raise (_Absent if page.trouble == "absent" else NotYet)(
                    f"{url} cannot be reached: {page.why}", remedy=self.remedy
                )

    def _answered(self, page: Page) -> bytes:
        if page.status >= HTTPStatus.MULTIPLE_CHOICES:
            raise _answered(page.status)(f"{page.url} answers {page.status}", remedy=self.remedy)
        return page.text


def _answered(code: int) -> type[NotYet]:
    if code == HTTPStatus.NOT_FOUND:
        return _Absent
    return (
        _Busy
        if code == HTTPStatus.TOO_MANY_REQUESTS or code >= HTTPStatus.INTERNAL_SERVER_ERROR
        else NotYet
    )
