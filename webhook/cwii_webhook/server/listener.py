"""Listening sockets, and the acceptance of connections."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import Coroutine

from cwii_webhook.server.connections import Connections, Stage
from cwii_webhook.server.http import Connection
from cwii_webhook.server.http_metrics import HttpMetrics
from cwii_webhook.server.messages import Handler
from cwii_webhook.server.tls import Certificates

BACKLOG = 1024
ACCEPT_BATCH = 64  # connections accepted before other tasks of the loop run
RESOURCE_ERRORS = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
TLS_SHUTDOWN_TIMEOUT = 2.0  # seconds that a client has to answer close_notify


def bind(host: str, port: int, *, processes: int = 1) -> list[socket.socket]:
    """Open one listening socket per process, all on the same port.

    An empty host means every address of both families. The sockets are created before the
    processes and outlive them. A new process therefore serves the connections that wait in the
    queue of the process that it replaces.
    """
    sockets: list[socket.socket] = []
    for _ in range(processes):
        sockets.append(listen(host, port, shared=processes > 1))
        port = sockets[0].getsockname()[1]
    return sockets


def listen(host: str, port: int, *, shared: bool) -> socket.socket:
    """Open one listening socket. With `shared`, other processes can listen on the same port."""
    family = (
        socket.AF_INET6
        if ":" in host or (not host and socket.has_dualstack_ipv6())
        else socket.AF_INET
    )
    with contextlib.ExitStack() as cleanup:
        sock = cleanup.enter_context(socket.socket(family, socket.SOCK_STREAM))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if shared:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(bool(host)))
        sock.bind((host, port))
        sock.listen(BACKLOG)
        sock.setblocking(False)  # noqa: FBT003  (the parameter is positional only)
        cleanup.pop_all()
        return sock


class Listener:
    """Accepts the connections of one port.

    Connections count towards the limits from the start of their TLS handshake.
    """

    def __init__(
        self,
        sock: socket.socket | None,
        handler: Handler,
        connections: Connections,
        metrics: HttpMetrics,
        certificates: Certificates | None = None,
    ) -> None:
        self.connections = connections
        self.metrics = metrics
        self.certificates = certificates
        self._socket = sock
        self._handler = handler
        self._accept_tasks: set[asyncio.Task[None]] = set()

    @property
    def is_waiting_for_port(self) -> bool:
        """Report whether another process has the port, so that there is no socket yet."""
        return self._socket is None

    def start_on(self, sock: socket.socket) -> None:
        """Start with a socket that was opened after the listener was created."""
        self._socket = sock
        self.start()

    def start(self) -> None:
        if self._socket:
            self._socket.listen(BACKLOG)
            asyncio.get_running_loop().add_reader(self._socket, self._accept, self._socket)

    def close(self) -> None:
        """Accept the connections in the queue, then close the socket.

        Other processes hold the same socket, so `shutdown` ends it for all of them.
        """
        if self._socket is None:
            return
        asyncio.get_running_loop().remove_reader(self._socket)
        self._accept(self._socket, BACKLOG)
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _accept(self, listening: socket.socket, limit: int = ACCEPT_BATCH) -> None:
        for _ in range(limit):
            try:
                sock, _address = listening.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:
                self._handle_accept_error(listening, error)
                return
            sock.setblocking(False)  # noqa: FBT003
            self._start_connection(sock)

    def _handle_accept_error(self, listening: socket.socket, error: OSError) -> None:
        """Evict a connection if the process has no resource for a new one, and retry later."""
        if error.errno not in RESOURCE_ERRORS:
            raise error
        loop = asyncio.get_running_loop()
        self.connections.evict_one()
        loop.remove_reader(listening)
        loop.call_later(0.1, self._resume)

    def _resume(self) -> None:
        if self._socket and self._socket.fileno() >= 0:
            self.start()

    def _start_connection(self, sock: socket.socket) -> None:
        context = None
        if self.certificates:
            context = self.certificates.context
            if context is None:  # no certificate yet: fail at once instead of at a timeout
                sock.close()
                return
        loop = asyncio.get_running_loop()
        connection = Connection(self._handler, self.connections)
        handshake_timeout = None if context is None else self.connections.limits.handshake_timeout
        shutdown_timeout = None if context is None else TLS_SHUTDOWN_TIMEOUT
        handshake = loop.connect_accepted_socket(
            lambda: connection,
            sock,
            ssl=context,
            ssl_handshake_timeout=handshake_timeout,
            ssl_shutdown_timeout=shutdown_timeout,
        )
        task = asyncio.ensure_future(self._complete_handshake(handshake, connection))
        connection.accept_task = task
        self._accept_tasks.add(task)
        task.add_done_callback(self._accept_tasks.discard)

    async def _complete_handshake(
        self, handshake: Coroutine[object, object, object], connection: Connection
    ) -> None:
        try:
            await handshake
        except (OSError, asyncio.CancelledError):  # scanners, probes of a load balancer
            self.metrics.count_failed_handshake()
        finally:
            if connection.stage is Stage.HANDSHAKE:
                self.connections.remove(connection)
