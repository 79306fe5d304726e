"""S3 gives a bucket policy back in words of its own: lists of one become the one, and the order is S3's."""

from __future__ import annotations

import json
from typing import Any, cast

_TOP = ("Version", "Id", "Statement")
_STATEMENT = (
    "Sid",
    "Effect",
    "Principal",
    "NotPrincipal",
    "Action",
    "NotAction",
    "Resource",
    "NotResource",
    "Condition",
)


def rewritten(policy: bytes) -> bytes:
    document = cast("dict[str, Any]", json.loads(policy))
    found = document.get("Statement", [])
    members = cast("list[dict[str, Any]]", found if isinstance(found, list) else [found])
    document["Statement"] = [
        _ordered({key: _collapsed(value) for key, value in one.items()}, _STATEMENT)
        for one in members
    ]
    return json.dumps(_ordered(document, _TOP), separators=(",", ":")).encode()


def _ordered(found: dict[str, Any], order: tuple[str, ...]) -> dict[str, Any]:
    return {key: found[key] for key in order if key in found}


def _collapsed(value: Any) -> Any:
    """Sets have no order; this one differs from most that were put."""
    if isinstance(value, dict):
        return {key: _collapsed(inner) for key, inner in cast("dict[str, Any]", value).items()}
    if not isinstance(value, list):
        return value
    values = sorted({str(one) for one in cast("list[Any]", value)}, reverse=True)
    return values[0] if len(values) == 1 else values
