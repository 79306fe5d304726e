"""States as plain data, for people, machines and checksums. What is secret is left out here, once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from typing import Any, cast

from cwiictl.engine.resource import State


def plain(value: object) -> Any:
    """Text, numbers, lists and dicts; sets in order; of a State, and of what it is made of, what is ours to say and no secret."""
    if is_dataclass(value) and not isinstance(value, type):
        return {
            f.name: plain(getattr(value, f.name))
            for f in fields(value)
            if not {"secret", "aside", "bookkeeping"} & f.metadata.keys()
        }
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in cast("Mapping[object, object]", value).items()}
    if isinstance(value, AbstractSet):
        return sorted((plain(v) for v in cast("AbstractSet[object]", value)), key=_text)
    if isinstance(value, list | tuple):
        return [plain(v) for v in cast("list[object]", value)]
    return value


def wanted(state: State) -> dict[str, Any]:
    """Without what the cloud assigns, which nobody knows before."""
    assigned = {f.name for f in fields(state) if "assigned" in f.metadata}
    return {name: value for name, value in plain(state).items() if name not in assigned}


def checksum(value: object) -> str:
    """A short name for exactly these data."""
    return hashlib.sha256(_text(plain(value)).encode()).hexdigest()[:16]


def _text(plain: object) -> str:
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
