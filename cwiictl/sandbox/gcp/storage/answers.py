"""Cloud Storage's two ways of answering: JSON with a list of errors, and XML for who simply asks for an object."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from xml.sax.saxutils import escape

from cwiictl.sandbox.exchange import Headers, Response
from cwiictl.sandbox.faults import Fault

Json = Mapping[str, object]
PRECONDITION = "At least one of the pre-conditions you specified did not hold."
_CODES = {
    "notModified": "NotModified", "invalid": "InvalidArgument", "required": "AccessDenied", "authError": "AuthenticationRequired", "forbidden": "AccessDenied",
    "rateLimitExceeded": "SlowDown", "backendError": "ServiceUnavailable", "internalError": "InternalError", "conditionNotMet": "PreconditionFailed",
}  # fmt: skip
_SENTENCES = {
    "AccessDenied": "Access denied.",
    "NoSuchKey": "The specified key does not exist.",
    "NoSuchBucket": "The specified bucket does not exist.",
}


class Refusal(Exception):
    """A request that is not carried out: status, a reason for programs, a sentence, and where in the request it was wrong."""

    def __init__(
        self,
        status: int,
        reason: str,
        sentence: str,
        location: tuple[str, str] | None = None,
        extra: Json | None = None,
    ) -> None:
        super().__init__(f"{reason}: {sentence}")
        self.status = status
        self.reason = reason
        self.sentence = sentence
        self.location = location
        self.extra = extra or {}


def json_response(value: object, status: int = 200, headers: Headers = ()) -> Response:
    kind = ("Content-Type", "application/json; charset=UTF-8")
    return Response(
        status,
        (kind, ("Cache-Control", "private, max-age=0, must-revalidate, no-transform"), *headers),
        json.dumps(value).encode(),
    )


def refused(refusal: Refusal) -> Response:
    if refusal.status == 304:
        return Response(304)
    one: dict[str, object] = {
        "message": refusal.sentence,
        "domain": "global",
        "reason": refusal.reason,
    }
    if refusal.location:
        one |= {"locationType": refusal.location[0], "location": refusal.location[1]}
    return json_response(
        {
            "error": {
                "code": refusal.status,
                "message": refusal.sentence,
                "errors": [one],
                **refusal.extra,
            }
        },
        refusal.status,
    )


def refused_in_xml(refusal: Refusal, *, bucket: bool) -> Response:
    """`bucket` is whether it is there: what is missing otherwise is the object."""
    if refusal.status == 304:
        return Response(304)
    code = _CODES.get(refusal.reason) or ("NoSuchKey" if bucket else "NoSuchBucket")
    status = 403 if refusal.reason == "required" else refusal.status  # JSON alone asks who is there
    details = (
        f"<Details>{escape(refusal.sentence)}</Details>"
        if code in _SENTENCES and code != "NoSuchBucket"
        else ""
    )
    message = escape(_SENTENCES.get(code, refusal.sentence))
    body = f"<?xml version='1.0' encoding='UTF-8'?><Error><Code>{code}</Code><Message>{message}</Message>{details}</Error>"
    return Response(
        status,
        (
            ("Content-Type", "application/xml; charset=UTF-8"),
            ("Cache-Control", "private, max-age=0"),
        ),
        body.encode(),
    )


def faulty(fault: Fault) -> Refusal:
    match fault:
        case Fault.THROTTLED:
            return Refusal(
                429,
                "rateLimitExceeded",
                "The total number of changes to the resource exceeds the rate limit. Please reduce the rate of changes.",
            )
        case Fault.UNAVAILABLE:
            return Refusal(
                503, "backendError", "We encountered an internal error. Please try again."
            )
        case Fault.BROKEN:
            return Refusal(
                500, "internalError", "We encountered an internal error. Please try again."
            )


def invalid(sentence: str) -> Refusal:
    return Refusal(400, "invalid", sentence)


def no_bucket() -> Refusal:
    return Refusal(404, "notFound", "The specified bucket does not exist.")


def no_object(bucket: str, name: str) -> Refusal:
    return Refusal(404, "notFound", f"No such object: {bucket}/{name}")


def not_met(status: int = 412) -> Refusal:
    return (
        Refusal(304, "notModified", "Not Modified")
        if status == 304
        else Refusal(412, "conditionNotMet", PRECONDITION, ("header", "If-Match"))
    )


def moment(seconds: float) -> str:
    return (
        datetime.fromtimestamp(seconds, UTC)
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
    )
