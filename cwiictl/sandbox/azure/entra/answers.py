"""Entra's way of answering: OAuth's JSON, and in its errors a number that begins with AADSTS and ids that support would ask for."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime

from cwiictl.sandbox.exchange import Request, Response

_HEADERS = (
    ("Content-Type", "application/json; charset=utf-8"),
    ("Cache-Control", "no-store, no-cache"),
    ("Strict-Transport-Security", "max-age=31536000; includeSubDomains"),
    ("X-Content-Type-Options", "nosniff"),
)
_LIFE = 3599  # what Entra says of an hour


class Refusal(Exception):
    """A token that Entra does not give: status, OAuth's word, Entra's own number and sentence."""

    def __init__(self, status: int, error: str, number: int, sentence: str) -> None:
        super().__init__(f"AADSTS{number}: {sentence}")
        self.status = status
        self.error = error
        self.number = number


def json_response(status: int, value: object) -> Response:
    return Response(
        status, (*_HEADERS, ("x-ms-request-id", str(uuid.uuid4()))), json.dumps(value).encode()
    )


def missing() -> Response:
    return Response(404, (("Content-Type", "text/html"),), b"")


def refused(request: Request, refusal: Refusal, now: float) -> Response:
    trace, correlation = str(uuid.uuid4()), request.header("client-request-id") or str(uuid.uuid4())
    moment = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    body = {
        "error": refusal.error,
        "error_description": f"{refusal} Trace ID: {trace} Correlation ID: {correlation} Timestamp: {moment}",
        "error_codes": [refusal.number],
        "timestamp": moment,
        "trace_id": trace,
        "correlation_id": correlation,
        "error_uri": f"https://{request.host}/error?code={refusal.number}",
    }
    again = [("Retry-After", "1")] if refusal.status == 429 else []
    return json_response(refusal.status, body).but([("x-ms-request-id", trace), *again])


def granted(request: Request, version: int, token: str, now: float) -> Response:
    """The first version's numbers are texts, and it repeats what was asked for."""
    if version == 2:
        return json_response(
            200,
            {
                "token_type": "Bearer",
                "expires_in": _LIFE,
                "ext_expires_in": _LIFE,
                "access_token": token,
            },
        )
    end = {
        "expires_in": str(_LIFE),
        "ext_expires_in": str(_LIFE),
        "expires_on": str(int(now) + _LIFE),
        "not_before": str(int(now) - 300),
    }
    return json_response(
        200,
        {
            "token_type": "Bearer",
            **end,
            "resource": request.form["resource"],
            "access_token": token,
        },
    )
