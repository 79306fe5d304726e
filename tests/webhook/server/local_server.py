"""A listener on the loopback address, and a client that sends exactly the given bytes."""

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
from cwii_webhook.server import lifecycle
from cwii_webhook.server.connections import Connections, Limits
from cwii_webhook.server.http_metrics import HttpMetrics
from cwii_webhook.server.listener import Listener, bind
from cwii_webhook.server.messages import Handler, HttpRequest, HttpResponse
from cwii_webhook.server.tls import Certificates
from cwii_webhook.telemetry.log import Log
from cwii_webhook.telemetry.metrics import Metrics

T = TypeVar("T")
CHUNKED_HEAD = b"POST /mutate HTTP/1.1\r\nhost: webhook\r\ntransfer-encoding: chunked\r\n"
TIMEOUT = 200.0  # seconds; far more than a slow machine needs


def run_async(scenario: Callable[[], Coroutine[object, object, T]]) -> T:
    """Run a scenario on the event loop of the server, with a timeout."""
    results: list[T] = []

    async def run() -> None:
        results.append(await asyncio.wait_for(scenario(), TIMEOUT))

    lifecycle.run(run)
    return results[0]


def echo(request: HttpRequest) -> HttpResponse:
    return HttpResponse(
        200,
        b"%s %s %s %d" % (request.method, request.path, request.content_type, len(request.body)),
    )


class Response(msgspec.Struct, frozen=True):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def closes_connection(self) -> bool:
        return self.headers.get("connection") == "close"


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, *pieces: bytes) -> None:
        self.writer.write(b"".join(pieces))

    async def read_response(self, method: str = "POST") -> Response:
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
        return Response(status, headers, await self.reader.readexactly(length))

    async def post(
        self, body: bytes = b"{}", path: str = "/mutate", headers: bytes = b""
    ) -> Response:
        self.send(build_post(body, path, headers))
        return await self.read_response()

    async def read_to_end(self) -> bytes:
        """Wait until the server closes the connection. Return the bytes before the close."""
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            return await self.reader.read()
        return b""

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()


def build_post(body: bytes = b"{}", path: str = "/mutate", headers: bytes = b"") -> bytes:
    return (
        b"POST %s HTTP/1.1\r\nhost: webhook\r\ncontent-type: application/json\r\n"
        b"%scontent-length: %d\r\n\r\n%s" % (path.encode(), headers, len(body), body)
    )


class LocalServer:
    """A listener with its limits, metrics and log, and the clients that are connected to it."""

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
        self.http_metrics = HttpMetrics(self.metrics, self.log)
        self.connections = Connections(limits, self.http_metrics, clock)
        (sock,) = bind(host, 0)
        self.port: int = sock.getsockname()[1]
        self.listener = Listener(sock, handler, self.connections, self.http_metrics, certificates)

    async def connect(self, context: ssl.SSLContext | None = None) -> Client:
        client = Client(*await asyncio.open_connection(self.host, self.port, ssl=context))
        self._clients.append(client)
        return client

    def log_lines(self) -> list[dict[str, object]]:
        os.set_blocking(self._log_read, False)
        with contextlib.suppress(BlockingIOError):
            return [
                msgspec.json.decode(line, type=dict[str, object])
                for line in os.read(self._log_read, 1 << 16).splitlines()
            ]
        return []

    def metric_value(self, name: str) -> float:
        lines = [
            line
            for line in self.metrics.exposition().decode().splitlines()
            if line.startswith(name + " ")
        ]
        return float(lines[0].rpartition(" ")[2]) if lines else 0.0

    async def stop(self) -> None:
        for client in self._clients:
            client.writer.transport.abort()
            await client.close()
        while len(self.connections):  # the loop needs a moment to end an aborted connection
            self.connections.evict_one()
            await asyncio.sleep(0.001)
        self.listener.close()
        os.close(self._log_read)
        os.close(self._log_write)


@contextlib.asynccontextmanager
async def run_server(
    handler: Handler = echo,
    limits: Limits | None = None,
    *,
    certificates: Certificates | None = None,
    clock: Callable[[], float] = time.monotonic,
    host: str = "127.0.0.1",
) -> AsyncGenerator[LocalServer]:
    server = LocalServer(handler, limits or Limits(), certificates, clock, host)
    server.listener.start()
    try:
        yield server
    finally:
        await server.stop()


async def wait_until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.001)


def resident_bytes() -> int:
    """Return the memory that this process uses now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class FakeClock:
    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def encode_chunks(*pieces: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
