"""An issuer as a cloud sees it: read over the web, without credentials. Nothing is written here; to put is to wait."""

from __future__ import annotations

import http.client
import json
import re
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Collection, Mapping
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import urlsplit

from cwiictl import names, oidc
from cwiictl.engine.resource import Mark
from cwiictl.errors import Failed, NotYet, Problem
from cwiictl.issuer.documents import IssuerState

MOST = 1 << 20
SECONDS = 10.0
UNREACHED = re.compile(r"Tunnel connection failed: 50[234]\b")  # what a proxy says of a host that it cannot find or reach


class _Absent(NotYet):
    """Nobody serves it, which is not the same as serving it to some."""


class _Busy(NotYet):
    """Its host fails for a moment, and says nothing about what it serves."""


class _Stay(urllib.request.HTTPRedirectHandler):
    """Clouds do not follow redirects of an issuer, so neither do we."""

    def redirect_request(self, *_args: Any, **_keywords: Any) -> None:
        return None


class Web:
    kind, bulk = "issuer", False

    def __init__(self, patience: float = 300.0, remedy: str = "see that anybody may read it, over a certificate that clouds accept") -> None:
        self.patience, self.remedy = patience, remedy
        self._opener = urllib.request.build_opener(_Stay(), urllib.request.HTTPSHandler(context=ssl.create_default_context()))

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
            raise NotYet(f"{url} does not show what was published yet", remedy=self.remedy)
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
        if urlsplit(url).scheme != "https":
            raise Failed(f"{url} is not https, and no cloud would read it", remedy="serve the documents over https")
        try:
            with self._opener.open(url, timeout=SECONDS) as answer:
                text: bytes = answer.read(MOST + 1)
        except urllib.error.HTTPError as e:
            with e:
                raise _answered(e.code)(f"{url} answers {e.code}", remedy=self.remedy) from e
        except (OSError, http.client.HTTPException) as e:
            reason = getattr(e, "reason", e)
            if isinstance(reason, ssl.SSLCertVerificationError):
                raise Failed(f"the certificate of {url} is not believed: {reason.verify_message}", remedy="name further authorities with SSL_CERT_FILE") from e
            absent = isinstance(reason, socket.gaierror) or UNREACHED.search(str(reason)) is not None
            raise (_Absent if absent else NotYet)(f"{url} cannot be reached: {' '.join(str(reason).split())}", remedy=self.remedy) from e
        if len(text) > MOST:
            raise NotYet(f"{url} is longer than {MOST} bytes", remedy=self.remedy)
        return text


def _answered(code: int) -> type[NotYet]:
    if code == HTTPStatus.NOT_FOUND:
        return _Absent
    return _Busy if code == HTTPStatus.TOO_MANY_REQUESTS or code >= HTTPStatus.INTERNAL_SERVER_ERROR else NotYet
