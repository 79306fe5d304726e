"""How requests go out: one pool of connections for all clients, no second try that the engine knows nothing of, and a line for the log."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import requests
from azure.core.exceptions import HttpResponseError
from azure.core.pipeline.policies import (
    ContentDecodePolicy,
    CustomHookPolicy,
    HeadersPolicy,
    ProxyPolicy,
    RequestIdPolicy,
    UserAgentPolicy,
)
from azure.core.pipeline.transport import RequestsTransport
from azure.core.rest import HttpRequest
from azure.mgmt.core.policies import ARMChallengeAuthenticationPolicy
from requests.adapters import HTTPAdapter

from cwiictl.clouds.azure.stores.tokens import Tokens

log = logging.getLogger("cwiictl.azure")


def policies(tokens: Tokens, scope: str) -> list[Any]:
    return [
        RequestIdPolicy(),
        HeadersPolicy(),
        UserAgentPolicy(base_user_agent="cwiictl"),
        ProxyPolicy(),
        ContentDecodePolicy(),
        ARMChallengeAuthenticationPolicy(tokens, scope),
        CustomHookPolicy(raw_response_hook=heard),
    ]


def settled(models: ModuleType) -> None:
    """The SDK works out a model when it is first made. Threads that do so at once trip each other, and it then hands out plain dicts in silence."""
    for model in [each for each in vars(models).values() if hasattr(each, "_calculated")]:
        model.__new__(model)


def wide(width: int) -> Any:
    transport: Any = RequestsTransport(session=_Session(), connection_timeout=10, read_timeout=60)
    transport.open()
    transport.session.mount("https://", HTTPAdapter(pool_connections=width, pool_maxsize=width))
    return transport


class _Session(requests.Session):
    """Learns of the environment once for each host which way leads there: to read it for every request takes longer than all else about one."""

    def __init__(self) -> None:
        super().__init__()
        self.ways: dict[Any, Any] = {}

    def merge_environment_settings(
        self, url: Any, proxies: Any, stream: Any, verify: Any, cert: Any
    ) -> Any:
        asked = (urlsplit(str(url)).netloc, stream, verify, cert)
        if proxies:
            return super().merge_environment_settings(url, proxies, stream, verify, cert)
        if asked not in self.ways:
            self.ways[asked] = super().merge_environment_settings(
                url, proxies, stream, verify, cert
            )
        way = self.ways[asked]
        return {**way, "proxies": dict(way["proxies"])}


def listed(client: Any, url: str) -> Iterator[Any]:
    """All pages of what the SDK has no word for."""
    while url:
        answer = client.send_request(HttpRequest("GET", url))
        if answer.status_code != 200:
            raise HttpResponseError(response=answer)
        page = answer.json()
        yield from page.get("value", ())
        url = page.get("nextLink") or ""


def heard(answer: Any) -> None:
    """Which request, and what came of it: never what was in it, nor what was asked after the path."""
    asked = answer.http_request
    log.debug(
        "%s %s %s", asked.method, str(asked.url).partition("?")[0], answer.http_response.status_code
    )
