"""Limits the connections of one listener: their number, their buffered bytes and their time."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Protocol

from msgspec import Struct

MIB = 1 << 20


class Stage(Enum):
    """The stage of a connection within its current message. Values are metric labels."""

    HANDSHAKE = "arriving"  # the TLS handshake is in progress
    IDLE = "idle"
    HEAD = "head"
    BODY = "body"
    RESPONDING = "busy"  # the handler computes the response
    WRITE_BLOCKED = "stuck"  # the client does not read
    CLOSING = "leaving"  # the last response was written


class Limits(Struct, frozen=True):
    """Limits of one listener, in bytes and seconds.

    An API server keeps an idle connection for 90 s. If the server closed it earlier, the close
    could cross the next request.
    """

    max_connections: int = 1000
    max_buffered_bytes: int = 32 * MIB  # request bodies of all connections
    max_body_bytes: int = 8 * MIB
    max_head_bytes: int = 64 << 10
    handshake_timeout: float = 10.0
    idle_timeout: float = 120.0
    head_timeout: float = 10.0
    body_timeout: float = 30.0
    write_timeout: float = 30.0
    close_timeout: float = 5.0

    def timeout(self, stage: Stage) -> float | None:
        """Return how long a connection may stay in a stage. RESPONDING has no limit."""
        return {
            Stage.HANDSHAKE: self.handshake_timeout,
            Stage.IDLE: self.idle_timeout,
            Stage.HEAD: self.head_timeout,
            Stage.BODY: self.body_timeout,
            Stage.WRITE_BLOCKED: self.write_timeout,
            Stage.CLOSING: self.close_timeout,
        }.get(stage)


class LimitedConnection(Protocol):
    """A connection as its limits see it."""

    stage: Stage
    stage_since: float  # when the connection entered its stage
    buffered_bytes: int  # bytes of request bodies

    def handle_timeout(self) -> None:
        """Send status 408, or abort."""

    def reject_overload(self) -> None:
        """Send status 503 and release the buffered bytes."""

    def abort(self) -> None: ...


class ConnectionMetrics(Protocol):
    """Counts the events of connections."""

    def observe_response(self, status: int, seconds: float, /) -> None: ...
    def count_eviction(self, stage: Stage, /) -> None: ...
    def count_incomplete_request(self) -> None: ...
    def log_handler_error(self, path: bytes, error: BaseException, /) -> None: ...


class Connections:
    """The open connections of one listener and the bytes that they buffer. It never blocks."""

    def __init__(
        self, limits: Limits, metrics: ConnectionMetrics, clock: Callable[[], float]
    ) -> None:
        self.limits = limits
        self.metrics = metrics
        self.clock = clock
        self.buffered_bytes = 0
        self.is_draining = False
        self._connections: dict[LimitedConnection, None] = {}

    def __len__(self) -> int:
        return len(self._connections)

    def count(self, *stages: Stage) -> int:
        return sum(connection.stage in stages for connection in self._connections)

    def is_quiet(self, seconds: float) -> bool:
        """Report whether every connection is closing, or has been idle for `seconds`."""
        idle_before = self.clock() - seconds
        return all(
            connection.stage is Stage.CLOSING
            or (connection.stage is Stage.IDLE and connection.stage_since <= idle_before)
            for connection in self._connections
        )

    def add(self, connection: LimitedConnection) -> None:
        if len(self._connections) >= self.limits.max_connections:
            self.evict_one()
        self._connections[connection] = None

    def remove(self, connection: LimitedConnection) -> None:
        """Remove a connection. A second call has no effect."""
        self._connections.pop(connection, None)

    def evict_one(self) -> None:
        """Abort the connection that is the least costly to lose.

        Idle connections come first, then connections within a request, then those whose response
        is being computed. Among equals, the one that has been in its stage for longest goes.
        """
        evicted = min(
            self._connections,
            key=lambda connection: (_eviction_rank(connection.stage), connection.stage_since),
            default=None,
        )
        if evicted is not None:
            self.metrics.count_eviction(evicted.stage)
            self.remove(evicted)
            evicted.abort()

    def reserve_bytes(self, connection: LimitedConnection, size: int) -> bool:
        """Count bytes of a request body. Return False if `connection` itself must be rejected.

        Slow senders cause nearly all overload, so the connection that has been sending its body
        for longest is rejected first.
        """
        self.buffered_bytes += size
        connection.buffered_bytes += size
        while self.buffered_bytes > self.limits.max_buffered_bytes:
            rejected = min(
                (
                    other
                    for other in self._connections
                    if other.stage is Stage.BODY and other.buffered_bytes
                ),
                key=lambda other: other.stage_since,
                default=connection,
            )
            self.metrics.count_eviction(Stage.BODY)
            if rejected is connection:
                return False
            rejected.reject_overload()
        return True

    def release_bytes(self, connection: LimitedConnection, size: int) -> None:
        self.buffered_bytes -= size
        connection.buffered_bytes -= size

    def enforce_timeouts(self) -> None:
        """Time out connections that exceed the limit of their stage. Runs about every second."""
        now = self.clock()
        for connection in tuple(self._connections):
            timeout = self.limits.timeout(connection.stage)
            if timeout is not None and now - connection.stage_since > timeout:
                connection.handle_timeout()

    def close_idle(self) -> None:
        for connection in tuple(self._connections):
            if connection.stage in {Stage.IDLE, Stage.HANDSHAKE}:
                connection.handle_timeout()


def _eviction_rank(stage: Stage) -> int:
    return {
        Stage.CLOSING: 0,
        Stage.IDLE: 1,
        Stage.HANDSHAKE: 1,
        Stage.HEAD: 2,
        Stage.BODY: 2,
        Stage.WRITE_BLOCKED: 2,
    }.get(stage, 3)
