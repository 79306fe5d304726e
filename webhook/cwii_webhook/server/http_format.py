"""HTTP/1.1 as bytes: what is looked at in a head, and how an answer is written."""

from __future__ import annotations

from typing import TypedDict, cast

from cwii_webhook.server.messages import JSON, HttpResponse

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
# As they are mostly written: whoever writes them in another way is understood too, a little later. What an API server sends besides means nothing here.
WATCHED = {
    name: word
    for words, word in (
        ((b"content-type", b"Content-Type"), "type"),
        ((b"content-length", b"Content-Length"), "length"),
        ((b"expect", b"Expect"), "expect"),
    )
    for name in words
} | dict.fromkeys((b"Host", b"User-Agent", b"Accept", b"Accept-Encoding"), "")
REASONS = {
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
_PLAIN = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
_AGAIN = (
    (b"retry-after", b"1"),
)  # an API server tries again within its timeoutSeconds, and on another connection


def encoded(reply: HttpResponse, method: bytes, *, keep: bool) -> bytes:
    body = reply.body
    if (
        keep
        and reply.status == 200
        and reply.content_type == JSON
        and not reply.headers
        and method != b"HEAD"
    ):
        return _PLAIN % len(body) + body
    headers = (
        (b"content-type", reply.content_type),
        (b"content-length", b"%d" % len(body)),
        *reply.headers,
    )
    if reply.status == 503:
        headers += _AGAIN
    if not keep:
        headers += ((b"connection", b"close"),)
    head = b"".join(b"%s: %s\r\n" % header for header in headers)
    return b"HTTP/1.1 %d %s\r\n%s\r\n%s" % (
        reply.status,
        REASONS.get(reply.status, b""),
        head,
        b"" if method == b"HEAD" else body,
    )


class _Certificate(TypedDict, total=False):
    """A peer's, as `ssl` tells it: a subject is a row of rows of pairs."""

    subject: tuple[tuple[tuple[str, str], ...], ...]
    subjectAltName: tuple[tuple[str, str], ...]


def names(certificate: object) -> tuple[str, ...]:
    """The common name, and all that it is called otherwise."""
    told = cast("_Certificate", certificate or {})
    common = [value for row in told.get("subject", ()) for key, value in row if key == "commonName"]
    return (*common, *(value for _, value in told.get("subjectAltName", ())))
