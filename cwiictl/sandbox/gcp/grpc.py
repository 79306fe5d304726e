"""gRPC of IAM: a call becomes the same request over REST, and REST's answer the message that the caller waits for."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import quote, urlencode

from cwiictl.sandbox.calls import Call, Status
from cwiictl.sandbox.exchange import Request, Response

from .messages import find
from .methods import SERVICES, Method

_BROKEN = Status("INTERNAL", "The sandbox itself failed at this request. Its own output says how.")
_FIELD = re.compile(r"\{([a-z_.]+)\}")


class Interpreter:
    """Of one service; it speaks for every host that the service has."""

    def __init__(self, service: str) -> None:
        self._service = service

    def knows(self, method: str) -> bool:
        service, _, name = method.partition("/")
        return service == self._service and name in SERVICES[service]

    def request(self, call: Call) -> Request:
        name, method = self._method(call)
        from google.protobuf import json_format  # noqa: PLC0415 - slow to import

        message = find(method.asks(name)).FromString(call.message)
        path = _FIELD.sub(
            lambda found: quote(str(_field(message, found[1])), safe="/@:-._~"), method.path
        )
        fields: dict[str, Any] = json_format.MessageToDict(message)
        for used in _FIELD.findall(method.path):  # what the path says is not said again
            fields.pop(used, None)
        body, query = _divided(fields, method.body)
        headers = (*call.metadata, ("Content-Type", "application/json"))
        return Request(method.verb, call.host, f"/{path}".replace("//", "/"), query, headers, body)

    def reply(self, call: Call, response: Response) -> bytes | Status:
        from google.protobuf import json_format  # noqa: PLC0415 - slow to load: only where it is needed

        try:
            told: Any = json.loads(response.body or b"{}")
        except ValueError:
            return _BROKEN
        if response.status >= 400:
            return _status(cast("dict[str, Any]", told).get("error"))
        answer = find(self._method(call)[1].reply)()
        json_format.ParseDict(told, answer, ignore_unknown_fields=True)
        return bytes(answer.SerializeToString())

    def _method(self, call: Call) -> tuple[str, Method]:
        name = call.method.partition("/")[2]
        return name, SERVICES[self._service][name]


INTERPRETERS = {
    "iam.googleapis.com": Interpreter("google.iam.admin.v1.IAM"),
    "iamcredentials.googleapis.com": Interpreter("google.iam.credentials.v1.IAMCredentials"),
}


def _field(message: Any, path: str) -> object:
    for name in path.split("."):
        message = getattr(message, name)
    return message


def _divided(fields: dict[str, Any], body: str) -> tuple[bytes, str]:
    """What is sent, and what is asked."""
    if body == "*":
        return json.dumps(fields).encode(), ""
    sent = json.dumps(fields.pop(body, {})).encode() if body else b""
    return sent, urlencode(list(_flat(fields)))


def _flat(fields: Mapping[str, Any], above: str = "") -> list[tuple[str, str]]:
    """As a query has it: options.requestedPolicyVersion=3."""
    found: list[tuple[str, str]] = []
    for key, value in fields.items():
        if isinstance(value, dict):
            found += _flat(cast("dict[str, Any]", value), f"{above}{key}.")
        else:
            found.append(
                (f"{above}{key}", json.dumps(value) if isinstance(value, bool) else str(value))
            )
    return found


def _status(error: object) -> Status:
    from google.protobuf import any_pb2, json_format  # noqa: PLC0415 - slow to load: only where it is needed
    from google.rpc import error_details_pb2, status_pb2  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs] - it has none

    if not isinstance(error, dict):
        return _BROKEN
    told = cast("dict[str, Any]", error)
    code, sentence = str(told.get("status", "UNKNOWN")), str(told.get("message", ""))
    status = status_pb2.Status(code=_NUMBERS.get(code, 2), message=sentence)
    assert error_details_pb2  # noqa: S101 - its messages are known from now on
    for detail in told.get("details", ()):
        with contextlib.suppress(json_format.ParseError, TypeError):
            status.details.append(json_format.ParseDict(detail, any_pb2.Any()))
    return Status(code, sentence, status.SerializeToString())


_NUMBERS = {
    "INVALID_ARGUMENT": 3, "NOT_FOUND": 5, "ALREADY_EXISTS": 6, "PERMISSION_DENIED": 7, "RESOURCE_EXHAUSTED": 8, "FAILED_PRECONDITION": 9, "ABORTED": 10,
    "UNIMPLEMENTED": 12, "INTERNAL": 13, "UNAVAILABLE": 14, "UNAUTHENTICATED": 16,
}  # fmt: skip
