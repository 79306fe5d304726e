"""What is asked over HTTP and what is answered: bytes in, bytes out. Who decides knows these words, and no server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from msgspec import Struct

JSON = b"application/json"
TEXT = b"text/plain; charset=utf-8"


class Asked(Struct, frozen=True, gc=False):
    """A whole request. `peers` are the names in a client certificate that was verified; there are none where none was asked for."""

    method: bytes
    path: bytes
    type: bytes
    body: bytes
    peers: tuple[str, ...] = ()


class Reply(Struct, frozen=True):
    """Length, Connection, and what every 503 carries are the server's to say."""

    status: int = 200
    body: bytes = b""
    type: bytes = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()


# A Reply at once where everything is known, which is the way for nearly all; an awaitable where something has to be read first.
Handler: TypeAlias = Callable[[Asked], Reply | Awaitable[Reply]]


def told(status: int, text: str) -> Reply:
    """An answer for people."""
    return Reply(status, text.encode() + b"\n", TEXT)
