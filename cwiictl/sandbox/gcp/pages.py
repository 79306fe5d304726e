"""Lists in pages, each with a token for the next."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any

from cwiictl.sandbox.exchange import Response

from .answers import invalid, json_response
from .call import Call


def listed(call: Call, name: str, rows: Sequence[object], default: int, most: int) -> Response:
    asked = {
        **call.asked,
        **{key: value for key, value in call.body.items() if key in {"pageSize", "pageToken"}},
    }
    size, first = (
        _size(asked.get("pageSize"), default, most),
        _first(str(asked.get("pageToken") or "")),
    )
    body: dict[str, Any] = {name: list(rows[first : first + size])} if rows else {}
    if first + size < len(rows):
        body["nextPageToken"] = base64.urlsafe_b64encode(str(first + size).encode()).decode()
    return json_response(body)


def _size(asked: object, default: int, most: int) -> int:
    text = str(asked or 0)
    if not text.lstrip("-").isdigit() or int(text) < 0:
        raise invalid("Invalid page size.")
    return min(int(text) or default, most)


def _first(token: str) -> int:
    try:
        return int(base64.urlsafe_b64decode(token).decode() or "0")
    except (binascii.Error, ValueError) as error:
        raise invalid("Invalid page token.") from error
