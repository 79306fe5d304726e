"""What was found out about one thing: that it is right, or what is wrong with it and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

TRUST = "trust"  # whether a thing believes the cluster's tokens

Severity = Literal["ok", "warning", "failed", "not tried"]


@dataclass(frozen=True)
class Finding:
    thing: str  # by its address, as `status` shows it
    check: str
    severity: Severity = "ok"
    problem: str = ""
    remedy: str = ""


@dataclass(frozen=True)
class Exchange:
    """A ServiceAccount's token, and what it is to be exchanged for: `target` is its cloud's own."""

    thing: str
    needs: tuple[str, ...]  # addresses of what must believe the issuer for it
    namespace: str
    account: str
    audience: str
    target: Any


@dataclass(frozen=True)
class Refusal:
    """Why a cloud did not take a token."""

    problem: str
    remedy: str


def whole(thing: str, check: str, found: Iterable[Finding]) -> tuple[Finding, ...]:
    """What was found of one thing; or that it is as it should be."""
    return tuple(found) or (Finding(thing, check),)
