"""One HTTP/1.1 connection to the API server."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import cast

import httptools

from cwii_webhook.kube.access import Access
from cwii_webhook.kube.errors import Unreachable

# Limit of unread body bytes. Above it the connection pauses, and TCP slows the server down.
MAX_BUFFERED_BYTES = 1 << 20


class Connection(asyncio.Protocol):
    """A connection that carries one request at a time. A response can be an endless stream."""

    def __init__(self, access: Access) -> None:
        self.access = access
        self.headers: dict[str, str] = {}
        self._error: Unreachable | None = None
        self._is_connected = self._is_closed = False
        self._waiter: asyncio.Future[None] | None = None
        self._reset()

    def _reset(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._chunks: deque[bytes] = deque()
        self._buffered_bytes = 0
        self._has_head = self._is_complete = self._keep_alive = False
        self.headers = {}

    @property
    def status(self) -> int:
        return self._parser.get_status_code()

    @property
    def is_reusable(self) -> bool:
        """The last response is complete, and the connection is still open."""
        return self._error is None and self._is_complete and self._keep_alive

    def close(self) -> None:
        """Closes the connection without a TLS shutdown, which a dead peer would never answer."""
        self._is_closed = True
        if self._is_connected:
            self._transport.abort()

    def disconnect(self) -> None:
        """Closes the connection and raises Unreachable in a pending read."""
        self._error = self._error or Unreachable("the API server is reached otherwise now")
        self.close()
        self._wake_reader()

    async def send_request(self, request: bytes) -> int:
        """Sends a request. Returns the status when the head of the response has arrived."""
        self._reset()
        self._transport.write(request)
        while not self._has_head:
            await self._wait_for_data()
        return self.status

    async def read_chunk(self) -> bytes:
        """Returns the body bytes since the last call, or b"" at the end of the body."""
        while not self._chunks:
            if self._is_complete:
                return b""
            await self._wait_for_data()
        content = b"".join(self._chunks)
        self._chunks.clear()
        self._buffered_bytes = 0
        self._transport.resume_reading()
        return content

    async def _wait_for_data(self) -> None:
        if self._error:
            raise self._error
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake_reader(self) -> None:
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)

    # Callbacks of asyncio.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass
        self._is_connected = True
        if self._is_closed:  # `close` was called before the connection was established
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as e:
            self._error = Unreachable(f"the API server's answer is not HTTP ({e})")
            self._transport.abort()
        if self._buffered_bytes > MAX_BUFFERED_BYTES:
            self._transport.pause_reading()
        self._wake_reader()

    def connection_lost(self, exc: Exception | None) -> None:
        self._error = self._error or Unreachable(
            f"the connection to the API server was lost ({exc or 'closed by the other end'})"
        )
        self._wake_reader()

    # Callbacks of httptools.

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self._has_head = True

    def on_body(self, body: bytes) -> None:
        self._chunks.append(body)
        self._buffered_bytes += len(body)

    def on_message_complete(self) -> None:
        self._is_complete, self._keep_alive = True, self._parser.should_keep_alive()
