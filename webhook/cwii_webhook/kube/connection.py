"""One HTTP/1.1 connection to the API server: one request at a time, and an answer that may be a stream without an end."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import cast

import httptools

from cwii_webhook.kube.access import Access
from cwii_webhook.kube.errors import Unreachable

MOST_HELD = (
    1 << 20
)  # bytes that nobody has taken yet; above it we stop reading, and TCP tells the other end


class Connection(asyncio.Protocol):
    def __init__(self, access: Access) -> None:
        self.access = access  # whose server it leads to
        self.headers: dict[str, str] = {}
        self._lost: Unreachable | None = None
        self._made = self._closed = False
        self._waiter: asyncio.Future[None] | None = None
        self._begin()

    def _begin(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._chunks: deque[bytes] = deque()
        self._held = 0
        self._head = self._ended = self._keep = False
        self.headers = {}

    @property
    def status(self) -> int:
        return self._parser.get_status_code()

    @property
    def usable(self) -> bool:
        """For one more request: the last answer came whole, and nobody hung up."""
        return self._lost is None and self._ended and self._keep

    def close(self) -> None:
        """At once: a TLS farewell to an end that is gone would never be answered."""
        self._closed = True
        if self._made:
            self._transport.abort()

    def leave(self) -> None:
        """Whoever reads of it is told that nothing more will come."""
        self._lost = self._lost or Unreachable("the API server is reached otherwise now")
        self.close()
        self._wake()

    async def ask(self, request: bytes) -> int:
        """Sends a request; gives the answer's status as soon as its head is here."""
        self._begin()
        self._transport.write(request)
        while not self._head:
            await self._news()
        return self.status

    async def chunk(self) -> bytes:
        """What came of the body since the last time; nothing at its end."""
        while not self._chunks:
            if self._ended:
                return b""
            await self._news()
        taken = b"".join(self._chunks)
        self._chunks.clear()
        self._held = 0
        self._transport.resume_reading()
        return taken

    async def _news(self) -> None:
        if self._lost:
            raise self._lost
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by descent
        self._made = True
        if self._closed:  # before it was there
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as e:
            self._lost = Unreachable(f"the API server's answer is not HTTP ({e})")
            self._transport.abort()
        if self._held > MOST_HELD:
            self._transport.pause_reading()
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = self._lost or Unreachable(
            f"the connection to the API server was lost ({exc or 'closed by the other end'})"
        )
        self._wake()

    # What httptools calls.

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self._head = True

    def on_body(self, body: bytes) -> None:
        self._chunks.append(body)
        self._held += len(body)

    def on_message_complete(self) -> None:
        self._ended, self._keep = True, self._parser.should_keep_alive()
