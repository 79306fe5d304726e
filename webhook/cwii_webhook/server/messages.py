"""HTTP requests and responses as plain values, independent of the server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from msgspec import Struct

JSON = b"application/json"
TEXT = b"text/plain; charset=utf-8"


class HttpRequest(Struct, frozen=True, gc=False):
    """A complete request.

    `peer_names` are the names in the verified client certificate. The tuple is empty if the
    server requests no client certificate.
    """

    method: bytes
    path: bytes
    content_type: bytes
    body: bytes
    peer_names: tuple[str, ...] = ()


class HttpResponse(Struct, frozen=True):
    """A response. The server adds Content-Length, Connection, and Retry-After for status 503."""

    status: int = 200
    body: bytes = b""
    content_type: bytes = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()


# Nearly all requests get a response at once. A handler returns an awaitable when it must read
# from the cluster first.
Handler: TypeAlias = Callable[[HttpRequest], HttpResponse | Awaitable[HttpResponse]]


def text_response(status: int, text: str) -> HttpResponse:
    """Return a plain text response for people."""
    return HttpResponse(status, text.encode() + b"\n", TEXT)
