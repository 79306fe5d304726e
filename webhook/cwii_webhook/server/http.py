"""One connection that speaks HTTP/1.1. It trusts nobody: whatever comes, it keeps little, answers in order, and ends in time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable
from typing import cast

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser

from cwii_webhook.server import http_format as wire
from cwii_webhook.server.connections import Connections, Stage
from cwii_webhook.server.messages import Handler, HttpRequest, HttpResponse, text_response

SLICE = (
    16 << 10
)  # fed to the parser at once: no more than this is parsed ahead of an answer that has to wait


class _Refused(Exception):
    """Out of the parser's callbacks; what is wrong has been noted already."""


class Connection(asyncio.Protocol):
    # fmt: off
    __slots__ = (
        "_at", "_body", "_continue", "_handler", "_head", "_last", "_parser", "_peers", "_queue", "_rest", "_room", "_silent", "_started", "_stuck",
        "_task", "_transport", "_type", "_url", "_wrong", "arrival", "holds", "since", "stage",
    )
    # fmt: on

    def __init__(self, handler: Handler, room: Connections) -> None:
        self._handler = handler
        self._room = room
        self._parser = HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._peers: tuple[str, ...] = ()
        self._at = Stage.ARRIVING  # where it is in reading
        self._rest = bytearray()  # what has come and is not parsed yet, for something waits
        self._queue: deque[tuple[HttpRequest | HttpResponse, bool]] = (
            deque()
        )  # what waits for its turn, and whether more may follow
        self._task: asyncio.Future[HttpResponse] | None = None
        self._started = 0.0
        self._stuck = False
        self._last = False
        self._continue = False
        self._wrong: HttpResponse | None = None
        self._silent = 0  # bytes since the parser last had something to tell
        self._fresh()
        self.arrival: asyncio.Task[None] | None = None
        self.stage = Stage.ARRIVING
        self.since = room.clock()
        self.holds = 0
        room.join(self)

    def _fresh(self) -> None:
        self._url = b""
        self._type = b""
        self._head = 0
        self._body: bytes | bytearray = b""

    # What the transport says.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(
            "asyncio.Transport", transport
        )  # only streams are accepted; uvloop's are nobody's children
        self._peers = wire.names(transport.get_extra_info("peercert"))
        self._move(Stage.IDLE)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._transport = None
        self._room.leave(self)
        self._room.release(self, self.holds)
        self._queue.clear()
        self._rest.clear()
        if self._task:
            self._task.cancel()

    def data_received(self, data: bytes) -> None:
        if self._last or self._transport is None:
            return
        if len(data) <= SLICE and not self._rest and not self._waits():
            self._feed(data)
        else:
            self._rest += data
            self._feed_rest()

    def pause_writing(self) -> None:
        self._stuck = True
        self._settle()

    def resume_writing(self) -> None:
        """Later, for it may be said while something is being written, out of the parser's callbacks."""
        self._stuck = False
        self._settle()
        asyncio.get_running_loop().call_soon(self._go_on)

    # What the parser says.

    def on_message_begin(self) -> None:
        self._silent = 0
        self._move(Stage.HEAD)

    def on_url(self, url: bytes) -> None:
        self._url += url
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        self._silent = 0
        self._count(len(name) + len(value) + 4)
        word = wire.WATCHED.get(name)
        if word is None:
            word = wire.WATCHED.get(name.lower(), "")
        if not word or self._at is not Stage.HEAD:  # what trails a body changes nothing
            return
        if word == "type":
            self._type = value
        elif word == "expect":
            self._continue = True
            if value.lower() != b"100-continue":
                self._refuse(417, "only 100-continue can be expected")
        elif int(value[:20]) > self._room.limits.body:
            self._too_large()

    def on_headers_complete(self) -> None:
        self._move(Stage.BODY)
        if self._continue and not self._waits():
            self._ask_for_more()

    def on_body(self, piece: bytes) -> None:
        self._silent = 0
        if not self._room.hold(self, len(piece)):
            self._room.release(self, len(piece))
            self._refuse(503, "too much is being read at the moment")
        if not self._body:
            self._body = piece
            return
        if isinstance(
            self._body, bytes
        ):  # many small pieces are kept as one, or their number would count, and not their size
            self._body = bytearray(self._body)
        self._body += piece
        if len(self._body) > self._room.limits.body:
            self._too_large()

    def on_message_complete(self) -> None:
        self._continue = False
        asked = HttpRequest(
            self._parser.get_method(),
            self._url.partition(b"?")[0],
            self._type,
            bytes(self._body),
            self._peers,
        )
        keep = self._parser.should_keep_alive() and not self._parser.should_upgrade()
        self._fresh()
        self._at = Stage.IDLE
        if self._waits():
            self._queue.append((asked, keep))
        else:
            self._turn(asked, keep=keep)

    # Reading.

    def _feed(self, data: bytes) -> None:
        self._silent += len(data)
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:
            return  # it was answered like any other request, and nothing may follow
        except HttpParserError:
            self._end(self._wrong or text_response(400, "this is no HTTP/1.1"))
        else:
            if (
                self._silent > self._room.limits.head
            ):  # a header or an extension without an end, which the parser would go on keeping
                self._end(text_response(431, "there is no end to this header"))

    def _feed_rest(self) -> None:
        """Slice by slice, until something has to wait for its turn; then nothing more is taken off the network."""
        while self._rest and not self._last and not self._waits():
            piece = bytes(self._rest[:SLICE])
            del self._rest[:SLICE]
            self._feed(piece)
        if self._last:
            self._rest.clear()
        if self._transport:
            (self._transport.pause_reading if self._rest else self._transport.resume_reading)()

    def _count(self, size: int) -> None:
        self._head += size
        if self._head > self._room.limits.head:
            self._refuse(431, f"the head of a message may have {self._room.limits.head} bytes")

    def _too_large(self) -> None:
        self._refuse(413, f"a body may have {self._room.limits.body} bytes")

    def _refuse(self, status: int, text: str) -> None:
        self._wrong = text_response(status, text)
        raise _Refused

    def _ask_for_more(self) -> None:
        self._continue = False
        if self._transport:
            self._transport.write(wire.CONTINUE)

    # Answering.

    def _waits(self) -> bool:
        return self._task is not None or self._stuck or bool(self._queue)

    def _turn(self, item: HttpRequest | HttpResponse, *, keep: bool) -> None:
        self._started = self._room.clock()
        if isinstance(item, HttpResponse):
            self._write(item, b"", keep=keep)
            return
        try:
            reply = self._handler(item)
        except Exception as error:  # noqa: BLE001  (whatever a handler forgot, its peer gets an answer)
            reply = self._broken(item, error)
        if isinstance(reply, HttpResponse):
            self._answer(item, reply, keep=keep)
        else:
            self._wait(item, reply, keep=keep)

    def _wait(self, asked: HttpRequest, coming: Awaitable[HttpResponse], *, keep: bool) -> None:
        def arrived(done: asyncio.Future[HttpResponse]) -> None:
            self._task = None
            error = TimeoutError() if done.cancelled() else done.exception()
            if self._transport is None:
                return
            self._answer(
                asked, done.result() if error is None else self._broken(asked, error), keep=keep
            )
            self._go_on()

        self._task = asyncio.ensure_future(coming)
        self._task.add_done_callback(arrived)
        self._settle()

    def _answer(self, asked: HttpRequest, reply: HttpResponse, *, keep: bool) -> None:
        self._room.release(self, len(asked.body))
        self._write(reply, asked.method, keep=keep)

    def _broken(self, asked: HttpRequest, error: BaseException) -> HttpResponse:
        self._room.tally.broke(asked.path, error)
        return text_response(500, "something is wrong in the webhook itself; its log says what")

    def _write(self, reply: HttpResponse, method: bytes, *, keep: bool) -> None:
        transport = self._transport
        if transport is None:
            return
        keep = keep and reply.status != 503 and not self._room.draining
        transport.write(wire.encoded(reply, method, keep=keep))
        self._room.tally.answered(reply.status, self._room.clock() - self._started)
        if keep:
            self._settle()
            return
        self._last = True
        self._queue.clear()
        self._settle()
        if (
            self._at is Stage.IDLE
        ):  # all was read, so nothing of it can make the network forget the answer
            transport.close()

    def _end(self, reply: HttpResponse) -> None:
        """Nothing that follows can be understood. What came before it is answered first."""
        self._room.release(self, len(self._body))
        self._fresh()
        if self._waits():
            self._queue.append((reply, False))
        else:
            self._turn(reply, keep=False)

    def _go_on(self) -> None:
        while self._queue and not self._last and self._task is None and not self._stuck:
            item, keep = self._queue.popleft()
            self._turn(item, keep=keep)
        if self._continue and not self._last and not self._waits():
            self._ask_for_more()
        self._settle()
        self._feed_rest()

    # What all connections together say.

    def too_late(self) -> None:
        if self._transport and self.stage is Stage.IDLE:
            self._last = True
            self._settle()
            self._transport.close()
        elif self.stage in {Stage.HEAD, Stage.BODY}:
            self._room.tally.unfinished()
            self._end(text_response(408, "the rest of this message did not come in time"))
        else:
            self.cut()

    def overloaded(self) -> None:
        self._end(text_response(503, "too much is being read at the moment"))

    def cut(self) -> None:
        if self._transport:
            self._transport.abort()
        elif self.arrival:
            self.arrival.cancel()

    # Where it is.

    def _move(self, at: Stage) -> None:
        self._at = at
        self._settle()

    def _settle(self) -> None:
        stage = self._at
        if self._last:
            stage = Stage.LEAVING
        elif self._task is not None:
            stage = Stage.BUSY
        elif self._stuck:
            stage = Stage.STUCK
        if stage is not self.stage:
            self.stage = stage
            self.since = self._room.clock()
