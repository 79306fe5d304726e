"""One exchange as plain values: what was asked and what is answered. No handler ever sees a socket."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import parse_qsl

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Request:
    """`path` and `query` are as they came, percent-encoded: S3's keys depend on it."""

    method: str
    host: str
    path: str
    query: str = ""
    headers: Headers = ()
    body: bytes = b""

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")

    @cached_property
    def asked(self) -> dict[str, str]:
        return dict(parse_qsl(self.query, keep_blank_values=True))

    @cached_property
    def form(self) -> dict[str, str]:
        """The fields of a form body; empty when the body is no form."""
        return dict(parse_qsl(self.body.decode("utf-8", "replace"), keep_blank_values=True))


@dataclass(frozen=True)
class Response:
    status: int
    headers: Headers = ()
    body: bytes = field(default=b"", repr=False)

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")

    def but(self, headers: Iterable[tuple[str, str]]) -> Response:
        """The same answer with these headers in place of those of the same names."""
        new = tuple(headers)
        names = {key.lower() for key, _ in new}
        return Response(
            self.status,
            tuple(h for h in self.headers if h[0].lower() not in names) + new,
            self.body,
        )


def text(status: int, sentence: str) -> Response:
    return Response(
        status, (("Content-Type", "text/plain; charset=utf-8"),), f"{sentence}\n".encode()
    )
