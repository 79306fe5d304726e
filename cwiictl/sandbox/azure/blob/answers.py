"""Blob storage's way of answering: XML, a code that is told in a header too, and an id for each request."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import formatdate
from xml.sax.saxutils import escape

from cwiictl.sandbox.exchange import Headers, Request, Response

Tree = Mapping[str, "str | Tree | list[Tree]"]  # a list's members each bring their own name
_DECLARED = '<?xml version="1.0" encoding="utf-8"?>'


class Refusal(Exception):
    """A request that the service does not carry out: status, code, sentence, what the error names besides, and further headers."""

    def __init__(
        self,
        status: int,
        code: str,
        sentence: str,
        named: Tree | None = None,
        headers: Headers = (),
    ) -> None:
        super().__init__(f"{code}: {sentence}")
        self.status = status
        self.code = code
        self.sentence = sentence
        self.named = named or {}
        self.headers = headers


def xml(tree: Tree) -> str:
    return "".join(
        f"<{name}>{_inner(value)}</{name}>" if value else f"<{name} />"
        for name, value in tree.items()
    )


def _inner(value: str | Tree | list[Tree]) -> str:
    if isinstance(value, str):
        return escape(value)
    return xml(value) if isinstance(value, Mapping) else "".join(xml(one) for one in value)


def document(root: str, tree: Tree, attributes: str = "") -> Response:
    """It begins with a byte order mark, as the service's lists do."""
    body = f"\ufeff{_DECLARED}<{root}{attributes}>{xml(tree)}</{root}>"
    return Response(200, (("Content-Type", "application/xml"),), body.encode())


def refused(request: Request, refusal: Refusal, now: float) -> Response:
    """Whoever asks with HEAD, or asks for what has not changed, has the code in its header alone."""
    headers = (("x-ms-error-code", refusal.code), *refusal.headers)
    if request.method == "HEAD" or refusal.status == 304:
        return Response(refusal.status, headers)
    message = f"{refusal.sentence}\nRequestId:{uuid.uuid4()}\nTime:{datetime.fromtimestamp(now, UTC):%Y-%m-%dT%H:%M:%S.%f}0Z"
    body = f"{_DECLARED}<Error>{xml({'Code': refusal.code, 'Message': message, **refusal.named})}</Error>"
    return Response(refusal.status, (("Content-Type", "application/xml"), *headers), body.encode())


def stamped(request: Request, response: Response, now: float) -> Response:
    """With what every answer bears."""
    echoed = ((name, request.header(name)) for name in ("x-ms-version", "x-ms-client-request-id"))
    own = (
        ("Server", "Windows-Azure-Blob/1.0 Microsoft-HTTPAPI/2.0"),
        ("x-ms-request-id", str(uuid.uuid4())),
        ("Date", date(now)),
    )
    return response.but([*own, *((name, value) for name, value in echoed if value)])


def date(moment: float) -> str:
    return formatdate(moment, usegmt=True)


def empty(status: int, headers: Iterable[tuple[str, str]] = ()) -> Response:
    return Response(status, tuple(headers))


def missing_header(name: str) -> Refusal:
    sentence = "An HTTP header that's mandatory for this request is not specified."
    return Refusal(400, "MissingRequiredHeader", sentence, {"HeaderName": name})


def wrong_header(name: str, value: str) -> Refusal:
    sentence = "The value for one of the HTTP headers is not in the correct format."
    return Refusal(400, "InvalidHeaderValue", sentence, {"HeaderName": name, "HeaderValue": value})


def wrong_query(name: str, value: str) -> Refusal:
    sentence = "Value for one of the query parameters specified in the request URI is invalid."
    return Refusal(
        400,
        "InvalidQueryParameterValue",
        sentence,
        {"QueryParameterName": name, "QueryParameterValue": value},
    )


def not_found(kind: str) -> Refusal:
    """Of a blob or a container, to those who may know."""
    return Refusal(404, f"{kind.capitalize()}NotFound", f"The specified {kind} does not exist.")


NOWHERE = Refusal(404, "ResourceNotFound", "The specified resource does not exist.")
NOT_PUBLIC = Refusal(
    409, "PublicAccessNotPermitted", "Public access is not permitted on this storage account."
)
