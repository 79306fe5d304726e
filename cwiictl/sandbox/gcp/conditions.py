"""Conditions of bindings: they look at what is asked for, and when. What cannot be worked out does not hold."""

from __future__ import annotations

import datetime as dt

from .sts.cel import Unusable, value

_KINDS = {
    "buckets": "storage.googleapis.com/Bucket",
    "objects": "storage.googleapis.com/Object",
    "serviceAccounts": "iam.googleapis.com/ServiceAccount",
}


def holds(condition: tuple[str, str, str] | None, resource: str, now: float) -> bool:
    if condition is None:
        return True
    try:
        return (
            value(
                condition[2],
                {
                    "resource": _known(resource),
                    "request": {"time": dt.datetime.fromtimestamp(now, dt.UTC)},
                },
            )
            is True
        )
    except Unusable:
        return False


def _known(resource: str) -> dict[str, str]:
    """A bucket with an object is of the object's kind."""
    words = resource.split("/")[2::2]
    kind = next(
        (_KINDS[one] for one in reversed(words) if one in _KINDS),
        "cloudresourcemanager.googleapis.com/Project",
    )
    return {"name": resource, "type": kind, "service": kind.partition("/")[0]}
