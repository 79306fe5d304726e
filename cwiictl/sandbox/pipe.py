"""A pipe between two sockets, one of them in TLS: what comes out of one goes into the other, until either ends."""

from __future__ import annotations

import contextlib
import selectors
import socket
import ssl

CHUNK = 64 * 1024


def connect(tls: ssl.SSLSocket, plain: socket.socket, idle: float) -> None:
    """In one thread: OpenSSL must not read and write one connection at once. Nobody is heard any more who says nothing for `idle` seconds."""
    tls.settimeout(0)
    plain.settimeout(idle)
    with selectors.DefaultSelector() as both:
        both.register(tls, selectors.EVENT_READ)
        both.register(plain, selectors.EVENT_READ)
        while ready := [tls] if tls.pending() else [key.fileobj for key, _ in both.select(idle)]:
            if tls in ready and not _moved_in(tls, plain):
                return
            if plain in ready and not _moved_out(plain, tls, idle):
                return


def _moved_in(tls: ssl.SSLSocket, plain: socket.socket) -> bool:
    try:
        data = tls.recv(CHUNK)
    except (ssl.SSLWantReadError, ssl.SSLWantWriteError):  # not a whole record yet
        return True
    plain.sendall(data)
    return bool(data)


def _moved_out(plain: socket.socket, tls: ssl.SSLSocket, idle: float) -> bool:
    data = memoryview(plain.recv(CHUNK))
    more = bool(data)
    while data:
        with contextlib.suppress(ssl.SSLWantReadError, ssl.SSLWantWriteError):
            data = data[tls.send(data) :]
            continue
        if not _writable(tls, idle):
            return False
    return more


def _writable(tls: ssl.SSLSocket, idle: float) -> bool:
    with selectors.DefaultSelector() as one:
        one.register(tls, selectors.EVENT_WRITE)
        return bool(one.select(idle))
