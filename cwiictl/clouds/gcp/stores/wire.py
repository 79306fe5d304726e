"""How requests go out: one pool of connections for all, no second try that the engine knows nothing of, and a line for the log."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from google.api_core.exceptions import from_http_response
from google.auth.transport.requests import AuthorizedSession
from google.cloud.iam_admin_v1 import IAMClient
from google.cloud.iam_admin_v1.services.iam.transports import IAMGrpcTransport
from grpc import secure_channel, ssl_channel_credentials
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies, select_proxy

from cwiictl.clouds.gcp.stores.tokens import Tokens

log = logging.getLogger("cwiictl.gcp")

TIMEOUT = 60  # seconds for an answer
PAGE = 1000
OPTIONS = (("grpc.enable_retries", 0), ("grpc.primary_user_agent", "cwiictl"))
BUNDLES = ("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


class Session(AuthorizedSession):
    """Learns of the environment once for each host which way leads there: to read it for every request takes longer than all else about one."""

    def __init__(self, tokens: Tokens, width: int) -> None:
        super().__init__(tokens, max_refresh_attempts=1)
        self.ways: dict[Any, dict[str, Any]] = {}
        self.headers["User-Agent"] = "cwiictl"
        self.mount("https://", HTTPAdapter(pool_connections=width, pool_maxsize=width))
        self.hooks["response"].append(heard)

    def merge_environment_settings(
        self, url: Any, proxies: Any, stream: Any, verify: Any, cert: Any
    ) -> Any:
        asked = (urlsplit(str(url)).netloc, stream, verify, cert)
        if proxies:
            return super().merge_environment_settings(url, proxies, stream, verify, cert)
        if asked not in self.ways:
            self.ways[asked] = dict(
                super().merge_environment_settings(url, proxies, stream, verify, cert)
            )
        way = self.ways[asked]
        return {**way, "proxies": dict(way["proxies"])}


class Rest:
    """What Google offers over HTTP alone. An error is raised as the SDKs raise theirs."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def get(self, url: str, **asked: Any) -> Any:
        return self._call("GET", url, params=asked)

    def post(self, url: str, body: Mapping[str, Any], **asked: Any) -> Any:
        return self._call("POST", url, params=asked, json=body)

    def patch(self, url: str, body: Mapping[str, Any], *fields: str) -> Any:
        return self._call("PATCH", url, params={"updateMask": ",".join(fields)}, json=body)

    def delete(self, url: str) -> Any:
        return self._call("DELETE", url)

    def pages(self, url: str, of: str, **asked: Any) -> Iterator[Any]:
        token = ""
        while True:
            page = self.get(url, **asked, **({"pageToken": token} if token else {}))
            yield from page.get(of) or ()
            token = page.get("nextPageToken")
            if not token:
                return

    def _call(self, method: str, url: str, **asked: Any) -> Any:
        answer = self.session.request(method, url, timeout=TIMEOUT, **asked)
        if answer.status_code >= 400:
            raise from_http_response(answer)
        return answer.json() if answer.content else {}


class Iam:
    """What Google offers over gRPC. The token is asked for where its errors are heard: in the caller's thread."""

    def __init__(self, host: str, tokens: Tokens) -> None:
        self.tokens = tokens
        self.channel = secure_channel(
            f"{host}:443",
            ssl_channel_credentials(authorities()),
            options=[*OPTIONS, *proxied(host)],
        )
        self.client: Any = IAMClient(transport=IAMGrpcTransport(channel=self.channel))

    def call(self, method: str, request: Any) -> Any:
        told = tuple(self.tokens.headers().items())
        try:
            answer = getattr(self.client, method)(
                request=request, retry=None, timeout=TIMEOUT, metadata=told
            )
        except Exception as e:
            log.debug("gRPC %s %s", method, type(e).__name__)
            raise
        log.debug("gRPC %s OK", method)
        return answer

    def close(self) -> None:
        self.channel.close()


def authorities() -> bytes | None:
    """Those that are believed over HTTP are believed over gRPC too. None for its own."""
    named = next((path for path in map(os.environ.get, BUNDLES) if path), "")
    return Path(named).read_bytes() if named and Path(named).is_file() else None


def proxied(host: str) -> list[tuple[str, str]]:
    """By the way that leads there over HTTP: gRPC itself does not look at all the variables that requests does."""
    proxy = select_proxy(f"https://{host}", get_environ_proxies(f"https://{host}")) or ""
    return [("grpc.http_proxy", proxy)] if proxy.startswith("http://") else []


def heard(answer: Any, *_args: Any, **_asked: Any) -> None:
    """Which request, and what came of it: never what was in it, nor what was asked after the path."""
    log.debug(
        "%s %s %s", answer.request.method, str(answer.url).partition("?")[0], answer.status_code
    )
