"""One door on the loopback, and a client that says exactly what a test wants said."""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from pathlib import Path
from typing import TypeVar

import msgspec
from cwii_webhook.server import lifecycle as server
from cwii_webhook.server.connections import Connections, Limits
from cwii_webhook.server.http_metrics import HttpMetrics
from cwii_webhook.server.listener import Listener, bind
from cwii_webhook.server.messages import Handler, HttpRequest, HttpResponse
from cwii_webhook.server.tls import Certificates
from cwii_webhook.telemetry.log import Log
from cwii_webhook.telemetry.metrics import Metrics

T = TypeVar("T")
CHUNKED = b"POST /mutate HTTP/1.1\r\nhost: webhook\r\ntransfer-encoding: chunked\r\n"
PATIENCE = 200.0  # so much slower than ever is a machine that has stopped


def told(story: Callable[[], Coroutine[object, object, T]]) -> T:
    """Tell a story on the loop that we serve with; no story may wait for ever."""
    ends: list[T] = []

    async def whole() -> None:
        ends.append(await asyncio.wait_for(story(), PATIENCE))

    server.run(whole)
    return ends[0]


def echo(asked: HttpRequest) -> HttpResponse:
    return HttpResponse(
        200, b"%s %s %s %d" % (asked.method, asked.path, asked.content_type, len(asked.body))
    )


class Answer(msgspec.Struct, frozen=True):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def closes(self) -> bool:
        return self.headers.get("connection") == "close"


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def say(self, *pieces: bytes) -> None:
        self.writer.write(b"".join(pieces))

    async def answer(self, method: str = "POST") -> Answer:
        status = int((await self.reader.readuntil(b"\r\n")).split()[1])
        head = (
            await self.reader.readuntil(b"\r\n\r\n")
            if status != 100
            else await self.reader.readuntil(b"\r\n")
        ).decode()
        headers = {
            key.lower(): value.strip()
            for key, _, value in (line.partition(":") for line in head.strip().split("\r\n"))
            if key
        }
        length = 0 if method == "HEAD" else int(headers.get("content-length", "0"))
        return Answer(status, headers, await self.reader.readexactly(length))

    async def ask(self, body: bytes = b"{}", path: str = "/mutate", more: bytes = b"") -> Answer:
        self.say(post(body, path, more))
        return await self.answer()

    async def ended(self) -> bytes:
        """Wait for the other side's end, and tell what was still said before it."""
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            return await self.reader.read()
        return b""

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()


def post(body: bytes = b"{}", path: str = "/mutate", more: bytes = b"") -> bytes:
    return (
        b"POST %s HTTP/1.1\r\nhost: webhook\r\ncontent-type: application/json\r\n%scontent-length: %d\r\n\r\n%s"
        % (path.encode(), more, len(body), body)
    )


class Ground:
    def __init__(
        self,
        handler: Handler,
        limits: Limits,
        certificates: Certificates | None,
        clock: Callable[[], float],
        host: str,
    ) -> None:
        self.host = host
        self._clients: list[Client] = []
        self.metrics = Metrics()
        self._log_read, self._log_write = os.pipe()
        self.log = Log(self._log_write)
        self.tally = HttpMetrics(self.metrics, self.log)
        self.room = Connections(limits, self.tally, clock)
        (sock,) = bind(host, 0)
        self.port: int = sock.getsockname()[1]
        self.door = Listener(sock, handler, self.room, self.tally, certificates)

    async def connect(self, context: ssl.SSLContext | None = None) -> Client:
        client = Client(*await asyncio.open_connection(self.host, self.port, ssl=context))
        self._clients.append(client)
        return client

    def lines(self) -> list[dict[str, object]]:
        os.set_blocking(self._log_read, False)
        with contextlib.suppress(BlockingIOError):
            return [
                msgspec.json.decode(line, type=dict[str, object])
                for line in os.read(self._log_read, 1 << 16).splitlines()
            ]
        return []

    def number(self, name: str) -> float:
        found = [
            line
            for line in self.metrics.exposition().decode().splitlines()
            if line.startswith(name + " ")
        ]
        return float(found[0].rpartition(" ")[2]) if found else 0.0

    async def end(self) -> None:
        for client in self._clients:
            client.writer.transport.abort()
            await client.close()
        while len(self.room):  # who is cut needs a moment to be gone
            self.room.make_room()
            await asyncio.sleep(0.001)
        self.door.close()
        os.close(self._log_read)
        os.close(self._log_write)


@contextlib.asynccontextmanager
async def serving(
    handler: Handler = echo,
    limits: Limits | None = None,
    *,
    certificates: Certificates | None = None,
    clock: Callable[[], float] = time.monotonic,
    host: str = "127.0.0.1",
) -> AsyncGenerator[Ground]:
    ground = Ground(handler, limits or Limits(), certificates, clock, host)
    ground.door.open()
    try:
        yield ground
    finally:
        await ground.end()


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.001)


def memory() -> int:
    """Of this process, in bytes, at this moment."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Clock:
    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def chunked(*pieces: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
