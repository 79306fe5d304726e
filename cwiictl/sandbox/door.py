"""The door: a CONNECT proxy that is every host name it knows, with a certificate for each, and refuses all others.

A thread for each connection, and blocking sockets: a handler may itself ask the door for something (a cloud that reads an issuer's documents), and no pool of
threads can run dry of it.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Protocol

from cwiictl.errors import BadInput

from . import pipe
from .ca import H2, Authority
from .exchange import Request, Response, text
from .wire import Answer, Wire

_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared, not bound to
HANDSHAKE = 15.0
IDLE = 300.0


class Streams(Protocol):
    """Where on loopback HTTP/2 is answered: a host that is called by gRPC offers it, and only those get it who speak nothing else."""

    def offered(self, host: str) -> bool: ...
    def port(self, host: str) -> int: ...


@dataclass(frozen=True)
class Desk:
    """What the door asks: whether a host is known, or a cloud's and nobody's there, what to answer to it, and whom to tell of a refusal."""

    knows: Callable[[str], bool]
    nobodys: Callable[[str], bool]
    answer: Answer
    refused: Callable[[Request, int], None]
    streams: Streams


class Door:
    def __init__(self, authority: Authority, desk: Desk) -> None:
        self._authority = authority
        self._desk = desk
        self._open: set[socket.socket] = set()
        self._threads: set[threading.Thread] = set()
        self._lock = threading.Lock()
        self._closing = False
        self._listener = socket.socket()

    def bind(self, address: str, port: int) -> tuple[str, int]:
        """Where this machine finds it. Who comes before `open` waits."""
        self._listener.close()
        try:
            self._listener = socket.create_server(
                (address, port),
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                backlog=128,
            )
        except OSError as error:
            why = error.strerror or str(error)
            raise BadInput(
                f"cannot listen on {address} port {port}: {why}",
                remedy="name a free port with --port, or none for any",
            ) from error
        self._listener.settimeout(0.5)  # shutdown() does not wake accept() on every system
        return _EVERYWHERE.get(address, address), int(self._listener.getsockname()[1])

    def open(self) -> None:
        self._start(self._accept)

    def close(self) -> None:
        with self._lock:
            self._closing = True
            threads, sockets = list(self._threads), list(self._open)
        for one in (self._listener, *sockets):
            with contextlib.suppress(OSError):
                socket.socket.shutdown(
                    one, socket.SHUT_RDWR
                )  # not SSLSocket's own: that takes TLS from under its reader
        for thread in threads:
            thread.join(5)
        self._listener.close()

    def _start(self, work: Callable[[], None]) -> None:
        def run() -> None:
            try:
                work()
            finally:
                with self._lock:
                    self._threads.discard(threading.current_thread())

        thread = threading.Thread(target=run, name="sandbox", daemon=True)
        with self._lock:  # what close() finds here has begun, and can be waited for
            self._threads.add(thread)
            thread.start()

    def _accept(self) -> None:
        while not self._closing:
            try:
                sock, _ = self._listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            self._start(lambda sock=sock: self._serve(sock))

    def _serve(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError), self._kept(sock):
            sock.settimeout(HANDSHAKE)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            outer = Wire(sock)
            request = outer.receive()
            if request is None:
                return
            host = _host(request)
            if request.method != "CONNECT" or not self._desk.knows(host):
                no = (
                    absence(request)
                    if request.method == "CONNECT" and self._desk.nobodys(host)
                    else refusal(request)
                )
                self._desk.refused(request, no.status)
                outer.send(request.method, no)
                return
            outer.send("CONNECT", Response(200))
            self._inside(sock, host)

    def _inside(self, sock: socket.socket, host: str) -> None:
        context = self._authority.context(host, h2=self._desk.streams.offered(host))
        sock.getpeername()  # OSError here when the client has gone: there, ssl would lose the socket without closing it
        tls = context.wrap_socket(sock, server_side=True)
        with self._kept(tls):
            if tls.selected_alpn_protocol() == H2:
                behind = socket.create_connection(
                    ("127.0.0.1", self._desk.streams.port(host)), HANDSHAKE
                )
                with self._kept(behind):
                    pipe.connect(tls, behind, IDLE)
                return
            tls.settimeout(IDLE)
            Wire(tls).converse(host, self._desk.answer)

    @contextlib.contextmanager
    def _kept(self, sock: socket.socket) -> Generator[None]:
        with self._lock:
            self._open.add(sock)
            late = self._closing  # close() has not seen it
        try:
            if late:
                raise ConnectionAbortedError("the door is closing")
            yield
        finally:
            with self._lock:
                self._open.discard(sock)
            sock.close()


def _host(request: Request) -> str:
    host, _, port = request.host.rpartition(":")
    return (host if port.isdigit() and host else request.host).strip("[]").rstrip(".").lower()


def absence(request: Request) -> Response:
    """As a proxy says of a name that nobody has."""
    return text(
        502, f"There is no {_host(request)}: no account, distribution or region has this name."
    )


def refusal(request: Request) -> Response:
    if request.method != "CONNECT":
        return text(
            403,
            "The sandbox speaks https only. Ask for an https address through it; metadata services are not there.",
        )
    host = _host(request)
    ways = f"Serve it with --serve {host}=FOLDER, let an address of a cluster of yours be reached with --let, or leave the sandbox"
    return text(403, f"{host} is not one of the sandbox's hosts. {ways} to reach it.")
