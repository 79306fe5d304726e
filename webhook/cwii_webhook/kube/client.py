"""Requests to the API server: who we are, a few connections that are used again, and its errors in our words."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import msgspec
from msgspec import Struct

from cwii_webhook.kube.access import Access, Server
from cwii_webhook.kube.clock import TimedOut, within
from cwii_webhook.kube.connection import Connection
from cwii_webhook.kube.errors import Refused, Unreachable
from cwii_webhook.kube.objects import status_of

CONNECT = 10.0  # seconds until there must be a connection
SILENCE = 30.0  # seconds until something of an answer must have come
IDLE = 5.0  # seconds: an older connection may be dead without having said so
DEAD = 0.5  # seconds after which a connection that was used before, and says nothing, is taken to be dead
MOST_IDLE = 4
MOST_BODY = 64 << 20
MOST_TOLD = 300  # characters of the API server's own words

JSON: Final = "application/json"
APPLY: Final = "application/apply-patch+yaml"
MERGE: Final = "application/strategic-merge-patch+json"  # of lists, what has the same name
METADATA: Final = f"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,{JSON}"
METADATA_LIST: Final = f"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,{JSON}"


class _Question(Struct, frozen=True):
    method: str
    target: str
    accept: str = JSON
    kind: str = JSON  # of the body
    body: bytes = b""

    def request(self, server: Server, token: str) -> bytes:
        lines = [
            f"{self.method} {server.prefix}{self.target} HTTP/1.1",
            f"Host: {server.authority}",
            "User-Agent: cwii-webhook",
            f"Accept: {self.accept}",
            *([f"Authorization: Bearer {token}"] if token else []),
            *(
                [f"Content-Type: {self.kind}", f"Content-Length: {len(self.body)}"]
                if self.body
                else []
            ),
        ]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


class Client:
    def __init__(self, access: Access, idle: float = IDLE) -> None:
        self._access, self._clock, self._lasts = access, access.clock, idle
        self._idle: list[tuple[float, Connection]] = []
        self._streaming: set[Connection] = set()
        self._closed = False
        access.leaving.append(self._leave)
        self.streams = 0  # how many have begun

    @property
    def server(self) -> Server:
        """That whatever is asked now is asked of."""
        return self._access.current.server

    async def get(self, target: str, accept: str = JSON) -> bytes:
        return await self._whole("GET", target, b"", accept=accept)

    async def post(self, target: str, body: bytes) -> bytes:
        return await self._whole("POST", target, body)

    async def apply(self, target: str, body: bytes) -> bytes:
        """Server-side apply, not forced: what another manager holds stays his."""
        return await self._whole("PATCH", target, body, kind=APPLY)

    async def merge(self, target: str, body: bytes) -> bytes:
        """With a resourceVersion in it, only where nobody has written since."""
        return await self._whole("PATCH", target, body, kind=MERGE)

    @asynccontextmanager
    async def stream(self, target: str, accept: str) -> AsyncGenerator[Connection]:
        """An answer of 200, to be read chunk by chunk. It has a connection to itself, which ends with it."""
        connection = await self._asked(_Question("GET", target, accept), new=True)
        try:
            await self._accept(connection)
            self.streams += 1
            self._streaming.add(connection)
            if connection.access is not self._access.current:
                connection.leave()
            yield connection
        finally:
            self._streaming.discard(connection)
            connection.close()

    async def close(self) -> None:
        """Of what is still being asked, the connection ends with its answer. What is cut off is gone in the loop's next turn, which must not be its last."""
        if not self._closed:
            self._access.leaving.remove(self._leave)
        self._closed = True
        self._hang_up()
        await asyncio.sleep(0)

    def _leave(self) -> None:
        """What is being answered comes to its end; a stream has none."""
        self._hang_up()
        for connection in self._streaming:
            connection.leave()

    def _hang_up(self) -> None:
        while self._idle:
            self._idle.pop()[1].close()

    async def _whole(
        self, method: str, target: str, body: bytes, *, accept: str = JSON, kind: str = JSON
    ) -> bytes:
        connection = await self._asked(_Question(method, target, accept, kind, body))
        try:
            await self._accept(connection)
            return await self._body(connection)
        finally:
            self._give_back(connection)

    async def _asked(self, question: _Question, *, new: bool = False) -> Connection:
        """The head of an answer. Who is refused with 401 shows what is newer, once."""
        connection = await self._once(question, new=new)
        if connection.status != 401:
            return connection
        connection.close()
        connection.access.identity.refused()
        return await self._once(question, new=True)

    async def _once(self, question: _Question, *, new: bool) -> Connection:
        access = self._access.current
        shown = await access.identity.shown()
        request = question.request(access.server, shown.token)
        while connection := None if new else self._take(access):
            try:
                return await self._sent(connection, request, DEAD)
            except Unreachable:
                continue  # it was lost while it lay idle, which says nothing; all we ask can be asked twice
        return await self._sent(await self._connected(access), request, SILENCE)

    async def _sent(self, connection: Connection, request: bytes, patience: float) -> Connection:
        try:
            await within(self._clock, patience, connection.ask(request))
        except TimedOut:
            connection.close()
            raise Unreachable(
                f"the API server has not answered for {patience:.0f} seconds"
            ) from None
        except BaseException:
            connection.close()
            raise
        return connection

    async def _connected(self, access: Access) -> Connection:
        server = access.server
        tls = access.tls(await access.identity.shown())
        loop = asyncio.get_running_loop()
        name = (server.name or server.host) if tls else None
        made, taken = Connection(access), False
        try:
            await within(
                self._clock,
                CONNECT,
                loop.create_connection(
                    lambda: made, server.host, server.port, ssl=tls, server_hostname=name
                ),
            )
            taken = True
        except TimedOut:
            raise Unreachable(
                f"the API server at {server.authority} has not taken a connection for {CONNECT:.0f} seconds"
            ) from None
        except (
            OSError,
            ValueError,
        ) as e:  # ssl's are of the first family, and names that no host can have of the second
            raise Unreachable(
                f"the API server at {server.authority} cannot be reached ({e})"
            ) from None
        finally:
            if not taken:
                made.close()  # it may have come about in the very moment in which nobody waited for it any more
        return made

    async def _accept(self, connection: Connection) -> None:
        if not 200 <= connection.status < 300:
            raise refusal(
                connection.status,
                await self._body(connection),
                connection.headers.get("retry-after", ""),
            )

    async def _body(self, connection: Connection) -> bytes:
        parts: list[bytes] = []
        held = 0
        while part := await self._chunk(connection):
            parts.append(part)
            held += len(part)
            if held > MOST_BODY:
                raise Unreachable(f"the API server's answer is longer than {MOST_BODY} bytes")
        return b"".join(parts)

    async def _chunk(self, connection: Connection) -> bytes:
        try:
            return await within(self._clock, SILENCE, connection.chunk())
        except TimedOut:
            raise Unreachable(
                f"the API server stopped for {SILENCE:.0f} seconds in the middle of an answer"
            ) from None

    def _take(self, access: Access) -> Connection | None:
        while self._idle:
            since, connection = self._idle.pop()
            if (
                connection.access is access
                and connection.usable
                and self._clock.now() - since < self._lasts
            ):
                return connection
            connection.close()
        return None

    def _give_back(self, connection: Connection) -> None:
        stays = connection.access is self._access.current and not self._closed
        if stays and connection.usable and len(self._idle) < MOST_IDLE:
            self._idle.append((self._clock.now(), connection))
            asyncio.get_running_loop().call_later(self._lasts + 0.1, self._let_go)
        else:
            connection.close()

    def _let_go(self) -> None:
        """Of what nobody will take any more, an API server need not keep its end either."""
        while self._idle and self._clock.now() - self._idle[0][0] >= self._lasts:
            self._idle.pop(0)[1].close()


def refusal(status: int, body: bytes, retry_after: str = "") -> Refused:
    """In the API server's own words, if it has any; proxies before it speak HTML."""
    after = float(retry_after) if retry_after.isdigit() else None
    try:
        told = status_of(body)
    except msgspec.DecodeError:
        return Refused(status, "", after)
    if after is None and told.details and told.details.retry_after_seconds:
        after = float(told.details.retry_after_seconds)
    return Refused(told.code or status, " ".join(told.message.split())[:MOST_TOLD], after)
