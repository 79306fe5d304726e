"""Serves one HTTP/1.1 connection, with bounded memory and time, and responses in order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable
from typing import cast

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser

from cwii_webhook.server import http_format
from cwii_webhook.server.connections import Connections, Stage
from cwii_webhook.server.messages import Handler, HttpRequest, HttpResponse, text_response

# Bytes per call of the parser. The parser runs at most this far ahead of a pending response.
PARSE_CHUNK = 16 << 10


class _RequestRejectedError(Exception):
    """Leaves the parser's callbacks. The connection has already stored the error response."""


class Connection(asyncio.Protocol):
    """One client connection: parses requests, calls the handler, writes responses in order."""

    __slots__ = (
        "_body",
        "_buffer",
        "_bytes_since_progress",
        "_connections",
        "_content_type",
        "_error_response",
        "_expects_continue",
        "_handler",
        "_head_bytes",
        "_is_closing",
        "_is_write_blocked",
        "_parser",
        "_peer_names",
        "_queue",
        "_read_stage",
        "_started",
        "_task",
        "_transport",
        "_url",
        "accept_task",
        "buffered_bytes",
        "stage",
        "stage_since",
    )

    def __init__(self, handler: Handler, connections: Connections) -> None:
        self._handler = handler
        self._connections = connections
        self._parser = HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._peer_names: tuple[str, ...] = ()
        self._read_stage = Stage.HANDSHAKE
        self._buffer = bytearray()  # received bytes that the parser has not read yet
        # Requests and error responses that wait for their turn, with the flag keep_alive.
        self._queue: deque[tuple[HttpRequest | HttpResponse, bool]] = deque()
        self._task: asyncio.Future[HttpResponse] | None = None
        self._started = 0.0
        self._is_write_blocked = False
        self._is_closing = False
        self._expects_continue = False
        self._error_response: HttpResponse | None = None
        self._bytes_since_progress = 0  # since the last callback of the parser
        self._reset_message()
        self.accept_task: asyncio.Task[None] | None = None
        self.stage = Stage.HANDSHAKE
        self.stage_since = connections.clock()
        self.buffered_bytes = 0
        connections.add(self)

    def _reset_message(self) -> None:
        self._url = b""
        self._content_type = b""
        self._head_bytes = 0
        self._body: bytes | bytearray = b""

    # Callbacks of the transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # The listener accepts only streams. The cast is needed because uvloop's transports do not
        # derive from asyncio.Transport.
        self._transport = cast("asyncio.Transport", transport)
        self._peer_names = http_format.peer_names(transport.get_extra_info("peercert"))
        self._set_read_stage(Stage.IDLE)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._transport = None
        self._connections.remove(self)
        self._connections.release_bytes(self, self.buffered_bytes)
        self._queue.clear()
        self._buffer.clear()
        if self._task:
            self._task.cancel()

    def data_received(self, data: bytes) -> None:
        if self._is_closing or self._transport is None:
            return
        if len(data) <= PARSE_CHUNK and not self._buffer and not self._is_busy():
            self._parse(data)
        else:
            self._buffer += data
            self._parse_buffer()

    def pause_writing(self) -> None:
        self._is_write_blocked = True
        self._update_stage()

    def resume_writing(self) -> None:
        """Continue in a later iteration of the loop.

        The transport may call this during a write, and a write may happen in a callback of the
        parser.
        """
        self._is_write_blocked = False
        self._update_stage()
        asyncio.get_running_loop().call_soon(self._continue_queue)

    # Callbacks of the parser.

    def on_message_begin(self) -> None:
        self._bytes_since_progress = 0
        self._set_read_stage(Stage.HEAD)

    def on_url(self, url: bytes) -> None:
        self._url += url
        self._count_head_bytes(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        self._bytes_since_progress = 0
        self._count_head_bytes(len(name) + len(value) + 4)
        kind = http_format.REQUEST_HEADERS.get(name)
        if kind is None:
            kind = http_format.REQUEST_HEADERS.get(name.lower(), "")
        if not kind or self._read_stage is not Stage.HEAD:  # trailers have no effect
            return
        if kind == "type":
            self._content_type = value
        elif kind == "expect":
            self._expects_continue = True
            if value.lower() != b"100-continue":
                self._reject(417, "only 100-continue can be expected")
        elif int(value[:20]) > self._connections.limits.max_body_bytes:
            self._reject_body_size()

    def on_headers_complete(self) -> None:
        self._set_read_stage(Stage.BODY)
        if self._expects_continue and not self._is_busy():
            self._send_continue()

    def on_body(self, chunk: bytes) -> None:
        self._bytes_since_progress = 0
        if not self._connections.reserve_bytes(self, len(chunk)):
            self._connections.release_bytes(self, len(chunk))
            self._reject(503, "too much is being read at the moment")
        if not self._body:
            self._body = chunk
            return
        # One buffer instead of a list of chunks: with many small chunks, the objects would take
        # more memory than the bytes that the limit counts.
        if isinstance(self._body, bytes):
            self._body = bytearray(self._body)
        self._body += chunk
        if len(self._body) > self._connections.limits.max_body_bytes:
            self._reject_body_size()

    def on_message_complete(self) -> None:
        self._expects_continue = False
        request = HttpRequest(
            self._parser.get_method(),
            self._url.partition(b"?")[0],
            self._content_type,
            bytes(self._body),
            self._peer_names,
        )
        keep_alive = self._parser.should_keep_alive() and not self._parser.should_upgrade()
        self._reset_message()
        self._read_stage = Stage.IDLE
        if self._is_busy():
            self._queue.append((request, keep_alive))
        else:
            self._respond(request, keep_alive=keep_alive)

    # Reading.

    def _parse(self, data: bytes) -> None:
        self._bytes_since_progress += len(data)
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:
            return  # the request has its response, and the connection closes after it
        except HttpParserError:
            self._end_with(self._error_response or text_response(400, "this is no HTTP/1.1"))
        else:
            # The parser buffers a header or a chunk extension without a limit.
            if self._bytes_since_progress > self._connections.limits.max_head_bytes:
                self._end_with(text_response(431, "there is no end to this header"))

    def _parse_buffer(self) -> None:
        """Parse the buffer in chunks until a response is pending, then pause reading."""
        while self._buffer and not self._is_closing and not self._is_busy():
            chunk = bytes(self._buffer[:PARSE_CHUNK])
            del self._buffer[:PARSE_CHUNK]
            self._parse(chunk)
        if self._is_closing:
            self._buffer.clear()
        if self._transport:
            (self._transport.pause_reading if self._buffer else self._transport.resume_reading)()

    def _count_head_bytes(self, size: int) -> None:
        self._head_bytes += size
        limit = self._connections.limits.max_head_bytes
        if self._head_bytes > limit:
            self._reject(431, f"the head of a message may have {limit} bytes")

    def _reject_body_size(self) -> None:
        self._reject(413, f"a body may have {self._connections.limits.max_body_bytes} bytes")

    def _reject(self, status: int, text: str) -> None:
        self._error_response = text_response(status, text)
        raise _RequestRejectedError

    def _send_continue(self) -> None:
        self._expects_continue = False
        if self._transport:
            self._transport.write(http_format.CONTINUE)

    # Responding.

    def _is_busy(self) -> bool:
        """Report whether the next request has to wait for its turn."""
        return self._task is not None or self._is_write_blocked or bool(self._queue)

    def _respond(self, item: HttpRequest | HttpResponse, *, keep_alive: bool) -> None:
        self._started = self._connections.clock()
        if isinstance(item, HttpResponse):
            self._write(item, b"", keep_alive=keep_alive)
            return
        try:
            result = self._handler(item)
        except Exception as error:  # noqa: BLE001  (any error of the handler becomes status 500)
            result = self._handler_error(item, error)
        if isinstance(result, HttpResponse):
            self._finish(item, result, keep_alive=keep_alive)
        else:
            self._respond_later(item, result, keep_alive=keep_alive)

    def _respond_later(
        self, request: HttpRequest, pending: Awaitable[HttpResponse], *, keep_alive: bool
    ) -> None:
        def on_done(task: asyncio.Future[HttpResponse]) -> None:
            self._task = None
            error = TimeoutError() if task.cancelled() else task.exception()
            if self._transport is None:
                return
            self._finish(
                request,
                task.result() if error is None else self._handler_error(request, error),
                keep_alive=keep_alive,
            )
            self._continue_queue()

        self._task = asyncio.ensure_future(pending)
        self._task.add_done_callback(on_done)
        self._update_stage()

    def _finish(self, request: HttpRequest, response: HttpResponse, *, keep_alive: bool) -> None:
        self._connections.release_bytes(self, len(request.body))
        self._write(response, request.method, keep_alive=keep_alive)

    def _handler_error(self, request: HttpRequest, error: BaseException) -> HttpResponse:
        self._connections.metrics.log_handler_error(request.path, error)
        return text_response(500, "something is wrong in the webhook itself; its log says what")

    def _write(self, response: HttpResponse, method: bytes, *, keep_alive: bool) -> None:
        transport = self._transport
        if transport is None:
            return
        keep_alive = keep_alive and response.status != 503 and not self._connections.is_draining
        transport.write(http_format.encode_response(response, method, keep_alive=keep_alive))
        self._connections.metrics.observe_response(
            response.status, self._connections.clock() - self._started
        )
        if keep_alive:
            self._update_stage()
            return
        self._is_closing = True
        self._queue.clear()
        self._update_stage()
        # With unread input, the kernel would send a reset, and the client could lose the response.
        if self._read_stage is Stage.IDLE:
            transport.close()

    def _end_with(self, response: HttpResponse) -> None:
        """Send an error response after the pending ones, and ignore all later input."""
        self._connections.release_bytes(self, len(self._body))
        self._reset_message()
        if self._is_busy():
            self._queue.append((response, False))
        else:
            self._respond(response, keep_alive=False)

    def _continue_queue(self) -> None:
        while (
            self._queue
            and not self._is_closing
            and self._task is None
            and not self._is_write_blocked
        ):
            item, keep_alive = self._queue.popleft()
            self._respond(item, keep_alive=keep_alive)
        if self._expects_continue and not self._is_closing and not self._is_busy():
            self._send_continue()
        self._update_stage()
        self._parse_buffer()

    # Calls from Connections.

    def handle_timeout(self) -> None:
        if self._transport and self.stage is Stage.IDLE:
            self._is_closing = True
            self._update_stage()
            self._transport.close()
        elif self.stage in {Stage.HEAD, Stage.BODY}:
            self._connections.metrics.count_incomplete_request()
            self._end_with(text_response(408, "the rest of this message did not come in time"))
        else:
            self.abort()

    def reject_overload(self) -> None:
        self._end_with(text_response(503, "too much is being read at the moment"))

    def abort(self) -> None:
        if self._transport:
            self._transport.abort()
        elif self.accept_task:
            self.accept_task.cancel()

    # Stage.

    def _set_read_stage(self, stage: Stage) -> None:
        self._read_stage = stage
        self._update_stage()

    def _update_stage(self) -> None:
        stage = self._read_stage
        if self._is_closing:
            stage = Stage.CLOSING
        elif self._task is not None:
            stage = Stage.RESPONDING
        elif self._is_write_blocked:
            stage = Stage.WRITE_BLOCKED
        if stage is not self.stage:
            self.stage = stage
            self.stage_since = self._connections.clock()
