"""Requests to a registry: who we are is said when it asks, to it alone, and in the way that it asks for."""

from __future__ import annotations

import http.client
import logging
import re
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from cwiictl.errors import Denied, Failed
from cwiictl.image.reference import Reference, loopback
from cwiictl.image.stores.answers import as_objects, parsed
from cwiictl.image.stores.credentials import Credentials

log = logging.getLogger("cwiictl.image")

SECONDS = 120.0
MOST = 8 << 20
TRIES = 4
_EARLY = {408, 425, 429}
_BUSY = {429, 500, 502, 503, 504}
_WORD = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True)
class Answer:
    code: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def good(self) -> bool:
        return 200 <= self.code < 300

    @property
    def refused(self) -> bool:
        """It would be again."""
        return 400 <= self.code < 500 and self.code not in _EARLY


class _Stay(urllib.request.HTTPRedirectHandler):
    """Whoever a registry leads to is not told who we are."""

    def redirect_request(self, *_args: Any, **_keywords: Any) -> None:
        return None


class Wire:
    def __init__(
        self, reference: Reference, credentials: Credentials | None, *, plain: bool
    ) -> None:
        self.reference, self._credentials = reference, credentials
        self.url = f"{'http' if plain else 'https'}://{reference.host}"
        self._authorization = ""
        handlers = [_Stay(), urllib.request.HTTPSHandler(context=ssl.create_default_context())]
        self._opener = urllib.request.build_opener(
            *handlers, *([urllib.request.ProxyHandler({})] if reference.loopback else [])
        )

    def ask(self, method: str, path: str, body: bytes | None = None, /, **headers: str) -> Answer:
        """`path` may be a whole address, as registries give for uploads."""
        url = urljoin(f"{self.url}/", path)
        answer = self._patiently(method, url, body, headers)
        if answer.code == 401 and self._ours(url):
            self._authorize(answer)
            answer = self._patiently(method, url, body, headers)
        if answer.code in {401, 403}:
            raise Denied(
                f"{self.reference.registry} does not let us {_verb(method)} in {self.reference.repository}: {told(answer)}",
                remedy=self._login(),
            )
        return answer

    def _patiently(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        for attempt in range(TRIES):
            answer = self._once(
                method,
                url,
                body,
                {
                    **headers,
                    **(
                        {"Authorization": self._authorization}
                        if self._authorization and self._ours(url)
                        else {}
                    ),
                },
            )
            if answer.code not in _BUSY or attempt == TRIES - 1:
                return answer
            after = answer.headers.get("retry-after", "")
            time.sleep(min(float(after), 30) if after.isdigit() else 0.5 * 2**attempt)
        raise AssertionError

    def _once(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        request = urllib.request.Request(  # noqa: S310
            url,
            data=body,
            headers={key.replace("_", "-"): value for key, value in headers.items()},
            method=method,
        )
        try:
            answer = self._answered(request)
        except (OSError, http.client.HTTPException) as e:
            raise self._unreached(getattr(e, "reason", e)) from e
        log.debug("%s %s %s", method, url.partition("?")[0], answer.code)
        return answer

    def _answered(self, request: urllib.request.Request) -> Answer:
        """A refusal is an answer as any other."""
        try:
            with self._opener.open(request, timeout=SECONDS) as answer:
                return Answer(answer.status, _lower(answer.headers), answer.read(MOST))
        except urllib.error.HTTPError as e:
            with e:
                return Answer(e.code, _lower(e.headers), e.read(MOST))

    def _unreached(self, reason: object) -> Failed:
        registry = self.reference.host
        if isinstance(reason, ssl.SSLCertVerificationError):
            return Failed(
                f"the certificate of {registry} is not believed: {reason.verify_message}",
                remedy="name further authorities with SSL_CERT_FILE",
            )
        if isinstance(reason, ssl.SSLError) and "WRONG_VERSION_NUMBER" in str(reason):
            return Failed(
                f"{registry} speaks no TLS",
                remedy="say --plain-http if it is on this machine's loopback; else have it serve https",
            )
        why = " ".join(str(getattr(reason, "strerror", None) or reason).split())
        return Failed(
            f"{registry} cannot be reached: {why}",
            remedy="see that it can be reached from here, and run again",
        )

    # --- who we are ---

    def _authorize(self, answer: Answer) -> None:
        challenge = answer.headers.get("www-authenticate", "")
        scheme, words = challenge.partition(" ")[0].lower(), dict(_WORD.findall(challenge))
        if scheme == "bearer" and "realm" in words:
            self._authorization = f"Bearer {self._token(words)}"
        elif scheme == "basic" and self._credentials:
            self._authorization = self._credentials.basic

    def _token(self, words: Mapping[str, str]) -> str:
        """For what we came for, whatever the first refusal was about."""
        realm, known = words["realm"], self._credentials
        if not realm.startswith("https://") and not (
            self.reference.loopback and _on_loopback(realm)
        ):
            problem = f"{self.reference.registry} would have us say who we are without encryption, at {_shown(realm)}"
            raise Denied(problem, remedy="have its tokens served over https")
        asked = {
            "service": words.get("service", ""),
            "scope": f"repository:{self.reference.repository}:pull,push",
        }
        if known and known.refresh:
            form = urlencode(
                {
                    **asked,
                    "grant_type": "refresh_token",
                    "refresh_token": known.secret,
                    "client_id": "cwiictl",
                }
            ).encode()
            answer = self._once(
                "POST", realm, form, {"Content_Type": "application/x-www-form-urlencoded"}
            )
        else:
            query = f"{realm}{'&' if '?' in realm else '?'}{urlencode(asked)}"
            answer = self._once("GET", query, None, {"Authorization": known.basic} if known else {})
        given = parsed(answer.body if answer.good else b"")
        token = given.get("token") or given.get("access_token")
        if not isinstance(token, str):
            raise Denied(
                f"{urlsplit(realm).hostname} gives no token for {self.reference.place}: {told(answer)}",
                remedy=self._login(),
            )
        return token

    def _ours(self, url: str) -> bool:
        return url.startswith(f"{self.url}/")

    def _login(self) -> str:
        return f"log in{' as somebody who may push there' if self._credentials else ''}: docker login {self.reference.registry}"


def told(answer: Answer) -> str:
    """In the registry's words, if it has some."""
    errors = as_objects(parsed(answer.body).get("errors"))
    messages = [str(each.get("message") or each.get("code")) for each in errors]
    return _shown("; ".join(messages)) or f"it answers {answer.code}"


def _shown(text: str) -> str:
    """What would move a terminal is left out, and what has no end is cut."""
    return "".join(each for each in text if each.isprintable())[:300]


def _on_loopback(url: str) -> bool:
    return url.startswith("http://") and loopback(url.removeprefix("http://").partition("/")[0])


def _lower(headers: Any) -> Mapping[str, str]:
    return {key.lower(): value for key, value in headers.items()}


def _verb(method: str) -> str:
    return "look" if method in {"GET", "HEAD"} else "push"
