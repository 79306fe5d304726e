"""GUIDs: the names of definitions and assignments, and of everybody in the directory."""

from __future__ import annotations

import uuid

_DEFINITIONS = "/providers/microsoft.authorization/roledefinitions"


def role(path: str) -> str:
    """Of the id of a definition, at whatever scope."""
    before, _, guid = path.lower().rpartition("/")
    return guid if before.endswith(_DEFINITIONS) else ""


def valid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False
