"""What a token says of itself, to whoever does not believe it: nobody's signature is checked here."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast


@dataclass(frozen=True)
class Said:
    head: Mapping[str, Any]
    claims: Mapping[str, Any]

    @property
    def kid(self) -> str:
        return str(self.head.get("kid", ""))


def said(token: str) -> Said | None:
    """None of what is no token. Nothing of it gets into an error."""
    try:
        head, claims, _signature = token.split(".")
        return Said(_part(head), _part(claims))
    except (TypeError, ValueError, RecursionError):
        return None


def _part(text: str) -> Mapping[str, Any]:
    found: object = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    if not isinstance(found, dict):
        raise TypeError
    return cast("Mapping[str, Any]", found)
