"""Policy documents as data, in one canonical form: S3 and IAM give back another text than they were given."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

Policy: TypeAlias = Mapping[str, Any]

VERSION = "2012-10-17"
SETS = ("Action", "NotAction", "Resource", "NotResource")


def allow(action: str | Sequence[str], **statement: object) -> dict[str, object]:
    return {"Effect": "Allow", "Action": action, **statement}


def canonical(*statements: Mapping[str, object]) -> Policy:
    return read({"Version": VERSION, "Statement": list(statements)})


def read(document: Mapping[str, Any] | str) -> Policy:
    """Two documents that mean the same are equal. What is no policy at all is kept as it is, and so equals none of ours."""
    try:
        policy: object = json.loads(document) if isinstance(document, str) else document
    except ValueError:
        return {"malformed": document}
    if not isinstance(policy, dict):
        return {"malformed": policy}
    members = cast("dict[str, Any]", policy)
    kept = {
        key: value
        for key, value in members.items()
        if value not in ("", None) and key != "Statement"
    }
    return {
        **kept,
        "Statement": sorted(
            (_statement(s) for s in _list(members.get("Statement", []))), key=_text
        ),
    }


def dump(policy: Policy) -> str:
    """Without a space: IAM's limits count them in places."""
    return _text(policy)


def _statement(value: object) -> object:
    if not isinstance(value, dict):
        return value
    statement = {
        key: part for key, part in cast("dict[str, Any]", value).items() if part not in ("", None)
    }
    for key in SETS:
        if key in statement:
            statement[key] = _scalar(statement[key])
    for key in ("Principal", "NotPrincipal"):
        if key in statement:
            statement[key] = _principal(statement[key])
    if "Condition" in statement:
        statement["Condition"] = _condition(statement["Condition"])
    return statement


def _principal(value: object) -> object:
    if not isinstance(value, dict):
        return value
    principal = {kind: _scalar(who) for kind, who in cast("dict[str, Any]", value).items()}
    return "*" if principal == {"AWS": "*"} else principal


def _condition(value: object) -> object:
    if not isinstance(value, dict):
        return value
    operators = cast("dict[str, dict[str, Any]]", value)
    return {
        operator: {key: _scalar([_word(v) for v in _list(values)]) for key, values in tests.items()}
        for operator, tests in operators.items()
    }


def _word(value: object) -> object:
    """Condition values are texts, however they were written."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _scalar(value: object) -> object:
    """A list is a set here, and a set of one is that one."""
    unique = sorted({_text(v): v for v in _list(value)}.items())
    values = [v for _, v in unique]
    return values[0] if len(values) == 1 else values


def _list(value: object) -> list[Any]:
    return (
        cast("list[Any]", value)
        if isinstance(value, list)
        else list(cast("tuple[Any, ...]", value))
        if isinstance(value, tuple)
        else [value]
    )


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
