"""Google's way of answering: JSON, an error in an envelope with a word for its status, and details for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from cwiictl.sandbox.exchange import Headers, Response
from cwiictl.sandbox.faults import Fault

from .world import NUMBER

Detail = Mapping[str, object]


class Refusal(Exception):
    """A request that Google does not carry out. `status` is HTTP's, `code` Google's word for it, such as NOT_FOUND; `reason` is why, for programs."""

    def __init__(  # noqa: PLR0913 - all that an error of Google's may have
        self,
        status: int,
        code: str,
        message: str,
        *,
        reason: str = "",
        domain: str = "googleapis.com",
        metadata: Mapping[str, str] | None = None,
        details: Sequence[Detail] = (),
        headers: Headers = (),
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.reason = reason
        self.details = (*_because(reason, domain, metadata), *details)
        self.headers = headers


def _because(reason: str, domain: str, metadata: Mapping[str, str] | None) -> tuple[Detail, ...]:
    if not reason:
        return ()
    own: dict[str, object] = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": reason,
        "domain": domain,
    }
    return ({**own, "metadata": dict(metadata)} if metadata else own,)


def json_response(
    value: object, status: int = 200, headers: Iterable[tuple[str, str]] = ()
) -> Response:
    content = f"{json.dumps(value, indent=2, ensure_ascii=False)}\n".encode()
    return Response(
        status,
        (
            ("Content-Type", "application/json; charset=UTF-8"),
            ("Cache-Control", "private"),
            *headers,
        ),
        content,
    )


def error(refusal: Refusal) -> Response:
    told: dict[str, object] = {
        "code": refusal.status,
        "message": refusal.message,
        "status": refusal.code,
    }
    if refusal.details:
        told["details"] = list(refusal.details)
    return json_response({"error": told}, refusal.status, refusal.headers)


def invalid(message: str, details: Sequence[Detail] = ()) -> Refusal:
    return Refusal(400, "INVALID_ARGUMENT", message, details=details)


def failed(message: str) -> Refusal:
    return Refusal(400, "FAILED_PRECONDITION", message)


def not_found(message: str = "Requested entity was not found.") -> Refusal:
    return Refusal(404, "NOT_FOUND", message)


def exists(message: str = "Requested entity already exists") -> Refusal:
    return Refusal(409, "ALREADY_EXISTS", message)


def denied(permission: str, resource: str, service: str = "iam.googleapis.com") -> Refusal:
    """Whether the thing is there, is not told."""
    words = f"Permission '{permission}' denied on resource '//{service}/{resource}' (or it may not exist)."
    told = {"permission": permission, "resource": resource}
    return Refusal(
        403,
        "PERMISSION_DENIED",
        words,
        reason="IAM_PERMISSION_DENIED",
        domain=service,
        metadata=told,
    )


def faulty(fault: Fault, service: str) -> Refusal:
    """What a service says when it does not carry a request out for reasons of its own."""
    match fault:
        case Fault.THROTTLED:
            words = f"Quota exceeded for quota metric 'Requests' and limit 'Requests per minute' of service '{service}' for consumer 'project_number:{NUMBER}'."
            return Refusal(
                429,
                "RESOURCE_EXHAUSTED",
                words,
                reason="RATE_LIMIT_EXCEEDED",
                metadata={"service": service, "consumer": f"projects/{NUMBER}"},
            )
        case Fault.UNAVAILABLE:
            return Refusal(503, "UNAVAILABLE", "The service is currently unavailable.")
        case Fault.BROKEN:
            return Refusal(500, "INTERNAL", "Internal error encountered.")
