"""The web as a cloud reads it: over https, without credentials, no further than it is told, and neither much nor for long."""

from __future__ import annotations

import http.client
import ipaddress
import re
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from cwiictl.issuer.page import MOST, SECONDS, Page

CHUNK = 1 << 16
UNREACHED = re.compile(
    r"Tunnel connection failed: 50[234]\b"
)  # what a proxy says of a host that it cannot find or reach


class _Stay(urllib.request.HTTPRedirectHandler):
    """Clouds do not follow redirects of an issuer, so neither do we."""

    def redirect_request(self, *_args: Any, **_keywords: Any) -> None:
        return None


class Pages:
    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds

    def read(self, url: str) -> Page:
        """Whatever becomes of it: nothing is raised."""
        until = time.monotonic() + self.seconds
        try:
            if urlsplit(url).scheme != "https":
                return Page(url, trouble="insecure")
            with self._opener.open(url, timeout=self.seconds) as answer:
                return _whole(url, answer, until)
        except urllib.error.HTTPError as e:
            with e:
                return Page(url, e.code, _headers(e), ahead=_ahead(e))
        except (
            OSError,
            http.client.HTTPException,
            ValueError,
        ) as e:  # the last of what is no URL, or none that HTTP can ask for
            return _without(url, e)

    def publicly(self, url: str) -> Page:
        """The same for whoever is in no network of ours. Where a proxy asks for us, its network is the one that counts."""
        private = _private(url)
        return Page(url, trouble="private", why=private) if private else self.read(url)

    @cached_property
    def _opener(self) -> urllib.request.OpenerDirector:
        return urllib.request.build_opener(
            _Stay(), urllib.request.HTTPSHandler(context=ssl.create_default_context())
        )


def _whole(url: str, answer: Any, until: float) -> Page:
    headers, ahead, text = _headers(answer), _ahead(answer), bytearray()
    while chunk := answer.read1(CHUNK):
        text += chunk
        if len(text) > MOST:
            return Page(url, answer.status, headers, trouble="long", ahead=ahead)
        if time.monotonic() > until:
            return Page(
                url, answer.status, headers, trouble="slow", why="its answer goes on", ahead=ahead
            )
    return Page(url, answer.status, headers, bytes(text), ahead=ahead)


def _without(url: str, e: Exception) -> Page:
    reason: object = getattr(e, "reason", e)
    if isinstance(reason, ssl.SSLCertVerificationError):
        return Page(url, trouble="distrusted", why=reason.verify_message)
    why = " ".join(str(reason).split())
    if isinstance(reason, TimeoutError):
        return Page(url, trouble="slow", why=why)
    absent = isinstance(reason, socket.gaierror) or UNREACHED.search(why) is not None
    return Page(url, trouble="absent" if absent else "unreachable", why=why)


def _headers(answer: Any) -> Mapping[str, str]:
    return {str(name).lower(): str(value) for name, value in answer.headers.items()}


def _ahead(answer: Any) -> float | None:
    """What comes from a cache was dated when it was put there."""
    now, headers = time.time(), _headers(answer)
    age = headers.get("age", "")
    try:
        return (
            now
            - parsedate_to_datetime(headers["date"]).timestamp()
            - (float(age) if age.isdigit() else 0.0)
        )
    except (KeyError, ValueError):
        return None


def _private(url: str) -> str:
    """An address of its host that nobody outside reaches, if we would ask there ourselves."""
    try:
        host = urlsplit(url).hostname or ""
        if urllib.request.getproxies().get("https") and not urllib.request.proxy_bypass(host):
            return ""
        found = {
            str(address[0])
            for *_, address in socket.getaddrinfo(host, 443, type=socket.SOCK_STREAM)
        }
    except (OSError, ValueError):
        return ""
    return next(
        (
            address
            for address in sorted(found)
            if not ipaddress.ip_address(address.partition("%")[0]).is_global
        ),
        "",
    )
