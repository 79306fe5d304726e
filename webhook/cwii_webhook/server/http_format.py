"""Formats HTTP/1.1 responses, and lists the request headers that the server reads."""

from __future__ import annotations

from typing import TypedDict, cast

from cwii_webhook.server.messages import JSON, HttpResponse

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
# Header names in their two common spellings. The connection looks up other spellings in lower
# case. The last four are headers of every API server: listing them saves that second lookup.
REQUEST_HEADERS = {
    name: kind
    for names, kind in (
        ((b"content-type", b"Content-Type"), "type"),
        ((b"content-length", b"Content-Length"), "length"),
        ((b"expect", b"Expect"), "expect"),
    )
    for name in names
} | dict.fromkeys((b"Host", b"User-Agent", b"Accept", b"Accept-Encoding"), "")
REASON_PHRASES = {
    200: b"OK",
    400: b"Bad Request",
    403: b"Forbidden",
    404: b"Not Found",
    405: b"Method Not Allowed",
    408: b"Request Timeout",
    413: b"Content Too Large",
    415: b"Unsupported Media Type",
    417: b"Expectation Failed",
    431: b"Request Header Fields Too Large",
    500: b"Internal Server Error",
    503: b"Service Unavailable",
}
_JSON_OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
# An API server retries within its timeoutSeconds, on another connection.
_RETRY_AFTER = ((b"retry-after", b"1"),)


def encode_response(response: HttpResponse, method: bytes, *, keep_alive: bool) -> bytes:
    body = response.body
    if (
        keep_alive
        and response.status == 200
        and response.content_type == JSON
        and not response.headers
        and method != b"HEAD"
    ):
        return _JSON_OK % len(body) + body
    headers = (
        (b"content-type", response.content_type),
        (b"content-length", b"%d" % len(body)),
        *response.headers,
    )
    if response.status == 503:
        headers += _RETRY_AFTER
    if not keep_alive:
        headers += ((b"connection", b"close"),)
    head = b"".join(b"%s: %s\r\n" % header for header in headers)
    return b"HTTP/1.1 %d %s\r\n%s\r\n%s" % (
        response.status,
        REASON_PHRASES.get(response.status, b""),
        head,
        b"" if method == b"HEAD" else body,
    )


class _PeerCertificate(TypedDict, total=False):
    """The result of `getpeercert`: a subject is a sequence of sequences of pairs."""

    subject: tuple[tuple[tuple[str, str], ...], ...]
    subjectAltName: tuple[tuple[str, str], ...]


def peer_names(certificate: object) -> tuple[str, ...]:
    """Return the common name and all subject alternative names of a client certificate."""
    peer = cast("_PeerCertificate", certificate or {})
    common_names = [
        value for row in peer.get("subject", ()) for key, value in row if key == "commonName"
    ]
    return (*common_names, *(value for _, value in peer.get("subjectAltName", ())))
