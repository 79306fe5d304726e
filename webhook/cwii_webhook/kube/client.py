"""Sends requests to the API server over pooled connections, and translates its errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import msgspec
from msgspec import Struct

from cwii_webhook.kube.access import Access, ApiServer
from cwii_webhook.kube.clock import TimedOut, with_timeout
from cwii_webhook.kube.connection import Connection
from cwii_webhook.kube.errors import StatusError, Unreachable
from cwii_webhook.kube.objects import decode_status

CONNECT_TIMEOUT = 10.0  # seconds
READ_TIMEOUT = 30.0  # seconds without a byte of the response
IDLE_TIMEOUT = 5.0  # seconds; an older connection may be lost without a FIN or RST
# Seconds. A reused connection without a response after this time counts as lost.
REUSED_CONNECTION_TIMEOUT = 0.5
MAX_IDLE_CONNECTIONS = 4
MAX_BODY_BYTES = 64 << 20
MAX_MESSAGE_CHARS = 300  # of the API server's error message

JSON: Final = "application/json"
APPLY: Final = "application/apply-patch+yaml"
MERGE: Final = "application/strategic-merge-patch+json"  # merges list items by name
METADATA: Final = f"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,{JSON}"
METADATA_LIST: Final = f"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,{JSON}"


class _Request(Struct, frozen=True):
    method: str
    target: str
    accept: str = JSON
    content_type: str = JSON
    body: bytes = b""

    def encode(self, server: ApiServer, token: str) -> bytes:
        lines = [
            f"{self.method} {server.prefix}{self.target} HTTP/1.1",
            f"Host: {server.authority}",
            "User-Agent: cwii-webhook",
            f"Accept: {self.accept}",
            *([f"Authorization: Bearer {token}"] if token else []),
            *(
                [f"Content-Type: {self.content_type}", f"Content-Length: {len(self.body)}"]
                if self.body
                else []
            ),
        ]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


class Client:
    """Client of the API server. It retries a request once if the server answers 401."""

    def __init__(self, access: Access, idle_timeout: float = IDLE_TIMEOUT) -> None:
        self._access, self._clock, self._idle_timeout = access, access.clock, idle_timeout
        self._idle_connections: list[tuple[float, Connection]] = []
        self._streaming: set[Connection] = set()
        self._is_closed = False
        access.replace_callbacks.append(self._disconnect)
        self.stream_count = 0  # streams opened since the start

    @property
    def server(self) -> ApiServer:
        """The server that the next request goes to."""
        return self._access.current.server

    async def get(self, target: str, accept: str = JSON) -> bytes:
        return await self._request("GET", target, b"", accept=accept)

    async def post(self, target: str, body: bytes) -> bytes:
        return await self._request("POST", target, body)

    async def apply(self, target: str, body: bytes) -> bytes:
        """Server-side apply without force: a field of another manager is a conflict."""
        return await self._request("PATCH", target, body, content_type=APPLY)

    async def merge(self, target: str, body: bytes) -> bytes:
        """Strategic merge patch. A resourceVersion in the body makes a later write a conflict."""
        return await self._request("PATCH", target, body, content_type=MERGE)

    @asynccontextmanager
    async def stream(self, target: str, accept: str) -> AsyncGenerator[Connection]:
        """Opens a successful response that the caller reads chunk by chunk.

        The stream has its own connection, which is closed at the end.
        """
        connection = await self._send(_Request("GET", target, accept), new=True)
        try:
            await self._check_status(connection)
            self.stream_count += 1
            self._streaming.add(connection)
            if connection.access is not self._access.current:
                connection.disconnect()
            yield connection
        finally:
            self._streaming.discard(connection)
            connection.close()

    async def close(self) -> None:
        """Closes idle connections. A connection in use is closed after its response."""
        if not self._is_closed:
            self._access.replace_callbacks.remove(self._disconnect)
        self._is_closed = True
        self._close_idle()
        # An aborted transport calls connection_lost in the next iteration of the event loop.
        await asyncio.sleep(0)

    def _disconnect(self) -> None:
        """Leaves a replaced server: requests in progress finish, streams are interrupted."""
        self._close_idle()
        for connection in self._streaming:
            connection.disconnect()

    def _close_idle(self) -> None:
        while self._idle_connections:
            self._idle_connections.pop()[1].close()

    async def _request(
        self, method: str, target: str, body: bytes, *, accept: str = JSON, content_type: str = JSON
    ) -> bytes:
        connection = await self._send(_Request(method, target, accept, content_type, body))
        try:
            await self._check_status(connection)
            return await self._read_body(connection)
        finally:
            self._release(connection)

    async def _send(self, request: _Request, *, new: bool = False) -> Connection:
        """Sends a request and waits for the response's head.

        After a 401 it sends the request once more, with a fresh credential.
        """
        connection = await self._attempt(request, new=new)
        if connection.status != 401:
            return connection
        connection.close()
        connection.access.identity.invalidate()
        return await self._attempt(request, new=True)

    async def _attempt(self, request: _Request, *, new: bool) -> Connection:
        access = self._access.current
        credential = await access.identity.credential()
        message = request.encode(access.server, credential.token)
        while connection := None if new else self._take_idle(access):
            try:
                return await self._exchange(connection, message, REUSED_CONNECTION_TIMEOUT)
            except Unreachable:
                continue  # lost while idle; all requests of the webhook are safe to repeat
        return await self._exchange(await self._connect(access), message, READ_TIMEOUT)

    async def _exchange(self, connection: Connection, message: bytes, seconds: float) -> Connection:
        try:
            await with_timeout(self._clock, seconds, connection.send_request(message))
        except TimedOut:
            connection.close()
            raise Unreachable(
                f"the API server has not answered for {seconds:.0f} seconds"
            ) from None
        except BaseException:
            connection.close()
            raise
        return connection

    async def _connect(self, access: Access) -> Connection:
        server = access.server
        tls = access.tls_context(await access.identity.credential())
        loop = asyncio.get_running_loop()
        tls_server_name = (server.tls_server_name or server.host) if tls else None
        connection, is_connected = Connection(access), False
        try:
            await with_timeout(
                self._clock,
                CONNECT_TIMEOUT,
                loop.create_connection(
                    lambda: connection,
                    server.host,
                    server.port,
                    ssl=tls,
                    server_hostname=tls_server_name,
                ),
            )
            is_connected = True
        except TimedOut:
            raise Unreachable(
                f"the API server at {server.authority} has not taken a connection"
                f" for {CONNECT_TIMEOUT:.0f} seconds"
            ) from None
        # ssl.SSLError is an OSError; an invalid host name raises ValueError.
        except (OSError, ValueError) as e:
            raise Unreachable(
                f"the API server at {server.authority} cannot be reached ({e})"
            ) from None
        finally:
            if not is_connected:
                connection.close()  # it may be established after the timeout or cancellation
        return connection

    async def _check_status(self, connection: Connection) -> None:
        if not 200 <= connection.status < 300:
            raise parse_status_error(
                connection.status,
                await self._read_body(connection),
                connection.headers.get("retry-after", ""),
            )

    async def _read_body(self, connection: Connection) -> bytes:
        chunks: list[bytes] = []
        size = 0
        while chunk := await self._read_chunk(connection):
            chunks.append(chunk)
            size += len(chunk)
            if size > MAX_BODY_BYTES:
                raise Unreachable(f"the API server's answer is longer than {MAX_BODY_BYTES} bytes")
        return b"".join(chunks)

    async def _read_chunk(self, connection: Connection) -> bytes:
        try:
            return await with_timeout(self._clock, READ_TIMEOUT, connection.read_chunk())
        except TimedOut:
            raise Unreachable(
                f"the API server stopped for {READ_TIMEOUT:.0f} seconds in the middle of an answer"
            ) from None

    def _take_idle(self, access: Access) -> Connection | None:
        while self._idle_connections:
            idle_since, connection = self._idle_connections.pop()
            if (
                connection.access is access
                and connection.is_reusable
                and self._clock.now() - idle_since < self._idle_timeout
            ):
                return connection
            connection.close()
        return None

    def _release(self, connection: Connection) -> None:
        is_current = connection.access is self._access.current and not self._is_closed
        if (
            is_current
            and connection.is_reusable
            and len(self._idle_connections) < MAX_IDLE_CONNECTIONS
        ):
            self._idle_connections.append((self._clock.now(), connection))
            asyncio.get_running_loop().call_later(self._idle_timeout + 0.1, self._close_expired)
        else:
            connection.close()

    def _close_expired(self) -> None:
        """Closes connections that are too old for reuse, which frees them on the server too."""
        while (
            self._idle_connections
            and self._clock.now() - self._idle_connections[0][0] >= self._idle_timeout
        ):
            self._idle_connections.pop(0)[1].close()


def parse_status_error(status: int, body: bytes, retry_after: str = "") -> StatusError:
    """Builds the error from a Status object, or from the code alone.

    A proxy in front of the API server can answer in HTML.
    """
    seconds = float(retry_after) if retry_after.isdigit() else None
    try:
        content = decode_status(body)
    except msgspec.DecodeError:
        return StatusError(status, "", seconds)
    if seconds is None and content.details and content.details.retry_after_seconds:
        seconds = float(content.details.retry_after_seconds)
    return StatusError(
        content.code or status, " ".join(content.message.split())[:MAX_MESSAGE_CHARS], seconds
    )
