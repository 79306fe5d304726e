"""HTTP/1.1 on one socket: h11 keeps the rules, this keeps the bytes moving."""

from __future__ import annotations

import socket
from collections.abc import Callable
from urllib.parse import urlsplit

import h11

from .exchange import Headers, Request, Response, text

Answer = Callable[[Request], Response | None]

LARGEST = 128 * 1024 * 1024
CHUNK = 256 * 1024
_BODILESS = {204, 304}


class TooLarge(Exception):
    """A body over what the sandbox keeps in memory."""


class Wire:
    """One connection. `answer` gives None for a client that is not to hear anything any more."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._state = h11.Connection(h11.SERVER, max_incomplete_event_size=256 * 1024)

    def converse(self, host: str, answer: Answer) -> None:
        while (request := self.receive(host)) is not None:
            response = answer(request)
            if response is None:
                return
            self.send(request.method, response)
            if self._state.our_state is not h11.DONE or self._state.their_state is not h11.DONE:
                return
            self._state.start_next_cycle()

    def receive(self, host: str = "") -> Request | None:
        """The next request, whole; None when the client has gone or has said what nobody understands."""
        try:
            return self._receive(host)
        except h11.RemoteProtocolError as error:
            self._refuse(error.error_status_hint, "This is not HTTP/1.1.")
        except TooLarge:
            self._refuse(413, f"The sandbox takes bodies of up to {LARGEST} bytes.")
        return None

    def _receive(self, host: str) -> Request | None:
        head = self._event()
        if not isinstance(head, h11.Request):
            return None
        body = bytearray()
        if head.method != b"CONNECT":
            while isinstance(part := self._event(), h11.Data):
                body += part.data
                if len(body) > LARGEST:
                    raise TooLarge
        return _request(head, host, bytes(body))

    def _event(self) -> h11.Event | type[h11.PAUSED]:
        while (event := self._state.next_event()) is h11.NEED_DATA:
            if self._state.they_are_waiting_for_100_continue:
                self._write(h11.InformationalResponse(status_code=100, headers=[]))
            self._state.receive_data(self._sock.recv(CHUNK))
        return event  # pyright: ignore[reportReturnType] - the only other sentinel is NEED_DATA, which ended the loop

    def send(self, method: str, response: Response) -> None:
        self._write(h11.Response(status_code=response.status, headers=_framed(method, response)))
        if method == "CONNECT" and response.status < 300:
            return
        if response.body and method != "HEAD" and response.status not in _BODILESS:
            self._write(h11.Data(data=response.body))
        self._write(h11.EndOfMessage())

    def _write(self, event: h11.Event) -> None:
        self._sock.sendall(self._state.send(event) or b"")

    def _refuse(self, status: int, sentence: str) -> None:
        if self._state.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            self.send("", text(status, sentence).but([("Connection", "close")]))


def _request(head: h11.Request, host: str, body: bytes) -> Request:
    target = head.target.decode("ascii", "replace")
    method = head.method.decode("ascii")
    headers: Headers = tuple(
        (key.decode("latin-1"), value.decode("latin-1")) for key, value in head.headers.raw_items()
    )
    if method == "CONNECT":
        return Request(method, target, "", headers=headers)
    if not target.startswith("/") and "://" in target:
        whole = urlsplit(target)
        return Request(method, host or whole.netloc, whole.path or "/", whole.query, headers, body)
    path, _, query = target.partition("?")
    return Request(method, host, path, query, headers, body)


def _framed(method: str, response: Response) -> list[tuple[str, str]]:
    """Headers with one length that is true: of the body, or for HEAD the one the handler knows."""
    kept = [
        (key, value)
        for key, value in response.headers
        if key.lower() not in {"content-length", "transfer-encoding"}
    ]
    if response.status in _BODILESS or (method == "CONNECT" and response.status < 300):
        return kept
    known = response.header("content-length") if method == "HEAD" else ""
    return [*kept, ("Content-Length", known or str(len(response.body)))]
