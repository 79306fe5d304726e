"""Masks: which fields of a thing a client means to change."""

from __future__ import annotations

import re
from collections.abc import Collection

from cwiictl.sandbox.gcp.answers import invalid


def fields(mask: object, known: Collection[str]) -> frozenset[str]:
    """In camel case, whichever way they were written."""
    names = [_camel(part.strip()) for part in str(mask or "").split(",") if part.strip()]
    if not names:
        raise invalid("The update_mask is required.")
    for name in names:
        if name not in known and name != "*":
            raise invalid(f"Invalid field in update_mask: {name}.")
    return frozenset(known if "*" in names else names)


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)
