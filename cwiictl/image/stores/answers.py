"""JSON that somebody else wrote: an object, or nothing of use."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast


def parsed(text: bytes | str) -> Mapping[str, Any]:
    try:
        found: object = json.loads(text)
    except ValueError:
        return {}
    return as_object(found)


def as_object(found: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", found) if isinstance(found, dict) else {}


def as_objects(found: object) -> Sequence[Mapping[str, Any]]:
    entries = cast("list[object]", found) if isinstance(found, list) else []
    return [each for each in map(as_object, entries) if each]
