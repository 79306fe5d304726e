"""A listening socket, and who comes in by it."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import errno
import socket
import struct
from collections.abc import Coroutine

from cwii_webhook.server.connections import Connections, Stage
from cwii_webhook.server.http import Connection
from cwii_webhook.server.http_metrics import HttpMetrics
from cwii_webhook.server.messages import Handler
from cwii_webhook.server.tls import Certificates

BACKLOG = 1024
AT_ONCE = 64  # accepted in one go, before others have their turn
FULL = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
SHUTDOWN = 2.0  # seconds that a peer has to end TLS properly


# A program for the kernel's filter of packets, of one instruction: keep nothing.
_NOTHING = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))
DEAF = struct.pack("@HP", 1, ctypes.addressof(_NOTHING))
ATTACH_FILTER = 26


def bind(host: str, port: int, *, processes: int = 1) -> list[socket.socket]:
    """A listening socket for each process, all on one port. An empty host is every address of both families.

    They are made before the processes are, and outlive each of them: who waits in the queue of one that ended is served by the next.
    """
    sockets: list[socket.socket] = []
    for _ in range(processes):
        sockets.append(listener(host, port, shared=processes > 1))
        port = sockets[0].getsockname()[1]
    return sockets


def listener(host: str, port: int, *, shared: bool) -> socket.socket:
    """One of them: `shared` with those of other processes."""
    family = (
        socket.AF_INET6
        if ":" in host or (not host and socket.has_dualstack_ipv6())
        else socket.AF_INET
    )
    with contextlib.ExitStack() as failing:
        sock = failing.enter_context(socket.socket(family, socket.SOCK_STREAM))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if shared:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(bool(host)))
        sock.bind((host, port))
        sock.listen(BACKLOG)
        sock.setblocking(False)  # noqa: FBT003  (has no other name)
        failing.pop_all()
        return sock


class Listener:
    """Who still shakes hands is a member already: those are bounded with all others. One without a socket is `late`."""

    def __init__(
        self,
        sock: socket.socket | None,
        handler: Handler,
        room: Connections,
        tally: HttpMetrics,
        certificates: Certificates | None = None,
    ) -> None:
        self.room = room
        self.tally = tally
        self.certificates = certificates
        self._socket = sock
        self._handler = handler
        self._arriving: set[asyncio.Task[None]] = set()

    @property
    def late(self) -> bool:
        """Another has its port: it opens when it is given a socket."""
        return self._socket is None

    def give(self, sock: socket.socket) -> None:
        self._socket = sock
        self.open()

    def open(self) -> None:
        if self._socket:
            self._socket.listen(BACKLOG)
            asyncio.get_running_loop().add_reader(self._socket, self._accept, self._socket)

    def hush(self) -> None:
        """Hear no new knock: who knocks now is not answered, knocks again after a second, and then finds another, or nobody; nobody is cut off in between."""
        with contextlib.suppress(OSError):  # a kernel that cannot do this only loses that much
            if self._socket:
                self._socket.setsockopt(socket.SOL_SOCKET, ATTACH_FILTER, DEAF)

    def close(self) -> None:
        """Who is in the queue comes in first. Other processes have this socket too, so it is shut down for all of them."""
        if self._socket is None:
            return
        asyncio.get_running_loop().remove_reader(self._socket)
        self._accept(self._socket)
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _accept(self, listening: socket.socket) -> None:
        for _ in range(AT_ONCE):
            try:
                sock, _address = listening.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:
                self._refused(listening, error)
                return
            sock.setblocking(False)  # noqa: FBT003
            self._welcome(sock)

    def _refused(self, listening: socket.socket, error: OSError) -> None:
        """No file is left for a connection: somebody gives way, and a moment later there is one."""
        if error.errno not in FULL:
            raise error
        loop = asyncio.get_running_loop()
        self.room.make_room()
        loop.remove_reader(listening)
        loop.call_later(0.1, self._reopen)

    def _reopen(self) -> None:
        if self._socket and self._socket.fileno() >= 0:
            self.open()

    def _welcome(self, sock: socket.socket) -> None:
        context = None
        if self.certificates:
            context = self.certificates.context
            if context is None:  # at once is better than late, for whoever waits
                sock.close()
                return
        loop = asyncio.get_running_loop()
        connection = Connection(self._handler, self.room)
        shaking = None if context is None else self.room.limits.handshake
        ending = None if context is None else SHUTDOWN
        coming = loop.connect_accepted_socket(
            lambda: connection,
            sock,
            ssl=context,
            ssl_handshake_timeout=shaking,
            ssl_shutdown_timeout=ending,
        )
        task = asyncio.ensure_future(self._arrive(coming, connection))
        connection.arrival = task
        self._arriving.add(task)
        task.add_done_callback(self._arriving.discard)

    async def _arrive(
        self, coming: Coroutine[object, object, object], connection: Connection
    ) -> None:
        try:
            await coming
        except (OSError, asyncio.CancelledError):  # strangers, scanners, probes of a load balancer
            self.tally.no_handshake()
        finally:
            if connection.stage is Stage.ARRIVING:
                self.room.leave(connection)
