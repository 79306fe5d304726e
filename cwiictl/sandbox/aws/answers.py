"""AWS's two ways of answering in XML: S3's own, and the query protocol of IAM and STS."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from cwiictl.sandbox.exchange import Response

QUERY_XMLNS = {
    "iam": "https://iam.amazonaws.com/doc/2010-05-08/",
    "sts": "https://sts.amazonaws.com/doc/2011-06-15/",
    "cloudfront": "http://cloudfront.amazonaws.com/doc/2020-05-31/",  # REST, but its errors are of the same form
}
Tree = Mapping[
    str, "str | Tree | Sequence[Tree]"
]  # a sequence is a list of the query protocol, whose elements are `member`s


class Refusal(Exception):
    """A request that AWS does not carry out: status, code, message, and for S3 what the error names besides."""

    def __init__(self, status: int, code: str, message: str, **named: str) -> None:
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.named = named


def xml(tree: Tree) -> str:
    return "".join(f"<{key}>{_inner(value)}</{key}>" for key, value in tree.items())


def _inner(value: str | Tree | Sequence[Tree]) -> str:
    if isinstance(value, str):
        return escape(value)
    return (
        xml(value)
        if isinstance(value, Mapping)
        else "".join(f"<member>{xml(one)}</member>" for one in value)
    )


def refused(service: str, refusal: Refusal) -> Response:
    return _query_error(service, refusal) if service in QUERY_XMLNS else _rest_error(refusal)


def _rest_error(refusal: Refusal) -> Response:
    request_id, host_id = secrets.token_hex(8).upper(), secrets.token_urlsafe(56)
    tree: Tree = {
        "Error": {
            "Code": refusal.code,
            "Message": refusal.message,
            **refusal.named,
            "RequestId": request_id,
            "HostId": host_id,
        }
    }
    headers = [
        ("Content-Type", "application/xml"),
        ("x-amz-request-id", request_id),
        ("x-amz-id-2", host_id),
    ]
    if "Region" in refusal.named:
        headers.append(("x-amz-bucket-region", refusal.named["Region"]))
    return Response(
        refusal.status,
        tuple(headers),
        f'<?xml version="1.0" encoding="UTF-8"?>\n{xml(tree)}'.encode(),
    )


def _query_error(service: str, refusal: Refusal) -> Response:
    request_id = str(uuid.uuid4())
    kind = "Receiver" if refusal.status >= 500 else "Sender"
    inner = xml(
        {
            "Error": {"Type": kind, "Code": refusal.code, "Message": refusal.message},
            "RequestId": request_id,
        }
    )
    return _query(service, refusal.status, "ErrorResponse", inner, request_id)


def done(service: str, action: str, result: Tree | None = None) -> Response:
    """An answer of the query protocol; some actions have no result of their own."""
    request_id = str(uuid.uuid4())
    inner = xml({f"{action}Result": result}) if result is not None else ""
    return _query(
        service,
        200,
        f"{action}Response",
        inner + xml({"ResponseMetadata": {"RequestId": request_id}}),
        request_id,
    )


def _query(service: str, status: int, element: str, inner: str, request_id: str) -> Response:
    body = f'<{element} xmlns="{QUERY_XMLNS[service]}">{inner}</{element}>\n'
    return Response(
        status, (("Content-Type", "text/xml"), ("x-amzn-RequestId", request_id)), body.encode()
    )
