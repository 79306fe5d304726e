"""What is asked over HTTP and what is answered: bytes in, bytes out. Who decides knows these words, and no server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from msgspec import Struct

JSON = b"application/json"
TEXT = b"text/plain; charset=utf-8"


class HttpRequest(Struct, frozen=True, gc=False):
    """A whole request. `peers` are the names in a client certificate that was verified; there are none where none was asked for."""

    method: bytes
    path: bytes
    content_type: bytes
    body: bytes
    peer_names: tuple[str, ...] = ()


class HttpResponse(Struct, frozen=True):
    """Length, Connection, and what every 503 carries are the server's to say."""

    status: int = 200
    body: bytes = b""
    content_type: bytes = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()


# A Reply at once where everything is known, which is the way for nearly all; an awaitable where something has to be read first.
Handler: TypeAlias = Callable[[HttpRequest], HttpResponse | Awaitable[HttpResponse]]


def text_response(status: int, text: str) -> HttpResponse:
    """An answer for people."""
    return HttpResponse(status, text.encode() + b"\n", TEXT)
