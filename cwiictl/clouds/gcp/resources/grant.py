"""What a project's policy is made of: a role, to one member, and when."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Condition:
    """When a grant holds. Two that differ in a letter are two."""

    title: str
    expression: str
    description: str = ""


@dataclass(frozen=True)
class Grant:
    """A role, to one member."""

    role: str
    member: str
    condition: Condition | None = None
