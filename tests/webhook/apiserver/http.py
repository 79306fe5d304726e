"""Minimal HTTP/1.1 for the fake API server: requests, responses and chunked streams."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

REASONS = {
    200: "OK",
    201: "Created",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    410: "Gone",
    422: "Unprocessable Entity",
}


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    user: str = ""  # common name of the client certificate
    path: str = ""
    query: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def token(self) -> str:
        return self.headers.get("authorization", "").removeprefix("Bearer ")


@dataclass(frozen=True)
class Response:
    status: int
    content: Any
    headers: dict[str, str] = field(default_factory=dict[str, str])


async def read_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ")
    headers = {
        name.lower(): value.strip()
        for name, _, value in (line.partition(":") for line in head[1:] if line)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    parts = urlsplit(target)
    return Request(
        method,
        target,
        headers,
        body,
        _certificate_user(writer),
        parts.path,
        dict(parse_qsl(parts.query)),
    )


def _certificate_user(writer: asyncio.StreamWriter) -> str:
    certificate: dict[str, tuple[tuple[tuple[str, str], ...], ...]] = (
        writer.get_extra_info("peercert") or {}
    )
    return next(
        (
            value
            for names in certificate.get("subject", ())
            for key, value in names
            if key == "commonName"
        ),
        "",
    )


def send_response(writer: asyncio.StreamWriter, answer: Response) -> None:
    body = json.dumps(answer.content).encode()
    head = {"Content-Type": "application/json", "Content-Length": str(len(body)), **answer.headers}
    writer.write(_head(answer.status, head) + body)


def begin_stream(writer: asyncio.StreamWriter) -> None:
    writer.write(_head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}))


def send_chunk(writer: asyncio.StreamWriter, content: Any) -> None:
    line = json.dumps(content).encode() + b"\n"
    writer.write(b"%x\r\n%s\r\n" % (len(line), line))


def end_stream(writer: asyncio.StreamWriter) -> None:
    writer.write(b"0\r\n\r\n")


def _head(status: int, headers: dict[str, str]) -> bytes:
    lines = [
        f"HTTP/1.1 {status} {REASONS.get(status, 'Some')}",
        *(f"{name}: {value}" for name, value in headers.items()),
        "",
        "",
    ]
    return "\r\n".join(lines).encode()
