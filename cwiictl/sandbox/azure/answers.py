"""ARM's way of answering: JSON, an error in an envelope of its own, and a request id that support would ask for."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping

from cwiictl.sandbox.exchange import Headers, Response


class Refusal(Exception):
    """A request that Azure does not carry out: status, code, message, and further headers."""

    def __init__(self, status: int, code: str, message: str, headers: Headers = ()) -> None:
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers


def json_response(status: int, value: object, headers: Iterable[tuple[str, str]] = ()) -> Response:
    return Response(
        status,
        (("Content-Type", "application/json; charset=utf-8"), *_traced(), *headers),
        json.dumps(value).encode(),
    )


def empty(status: int, headers: Iterable[tuple[str, str]] = ()) -> Response:
    return Response(status, (*_traced(), *headers))


def arm_error(refusal: Refusal) -> Response:
    envelope: Mapping[str, object] = {"error": {"code": refusal.code, "message": refusal.message}}
    return json_response(
        refusal.status, envelope, (("x-ms-failure-cause", "gateway"), *refusal.headers)
    )


def _traced() -> Headers:
    request, correlation = str(uuid.uuid4()), str(uuid.uuid4())
    return (
        ("Cache-Control", "no-cache"),
        ("x-ms-request-id", request),
        ("x-ms-correlation-request-id", correlation),
        ("x-ms-routing-request-id", f"SANDBOX:{correlation}"),
    )
