"""Lists in pages, each with a link to the next."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from urllib.parse import quote

from cwiictl.sandbox.azure.answers import Refusal, json_response
from cwiictl.sandbox.exchange import Response

from .call import Call


def listed(call: Call, rows: Sequence[object], size: int = 1000) -> Response:
    first = _first(call)
    last = first + min(_top(call, size), size)
    body: dict[str, object] = {"value": list(rows[first:last])}
    if last < len(rows):
        body["nextLink"] = _link(call, last)
    return json_response(200, body)


def _top(call: Call, size: int) -> int:
    asked = call.request.asked.get("$top", str(size))
    if not asked.isdigit() or int(asked) < 1:
        raise Refusal(
            400,
            "InvalidTopInQueryString",
            f"Invalid $top '{asked}' specified in the query string. It must be a positive integer.",
        )
    return int(asked)


def _first(call: Call) -> int:
    token = call.request.asked.get("$skiptoken") or call.request.asked.get("$skipToken") or ""
    try:
        return int(base64.urlsafe_b64decode(token).decode() or "0")
    except (binascii.Error, ValueError) as error:
        raise Refusal(400, "InvalidSkipToken", f"The skip token '{token}' is invalid.") from error


def _link(call: Call, first: int) -> str:
    token = base64.urlsafe_b64encode(str(first).encode()).decode()
    kept = {
        name: quote(text)
        for name, text in call.request.asked.items()
        if name.lower() not in {"$skiptoken", "api-version"}
    }
    return call.url(quote(call.address.id), **kept, **{"$skiptoken": quote(token)})
