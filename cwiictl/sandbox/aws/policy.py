"""Policies, as far as the sandbox judges by them: who may assume a role, and who may read a bucket without an account."""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

Statement = Mapping[str, Any]
Context = Mapping[str, tuple[str, ...]]  # keys in lower case


@dataclass(frozen=True)
class Question:
    """`principal` is a kind and a name: ("Federated", an ARN). ("*", "") is somebody without an account."""

    principal: tuple[str, str]
    action: str
    resource: str = ""  # empty where the document belongs to the resource, as a role's trust does
    context: Context = field(default_factory=dict[str, tuple[str, ...]])


def statements(document: str | bytes) -> list[Statement]:
    body = cast("dict[str, Any]", json.loads(document))
    return [cast("Statement", one) for one in listed(body.get("Statement", []))]


def listed(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def allows(document: str | bytes, question: Question) -> bool:
    """One statement that allows it, and none that denies it."""
    return allows_any(document, [question])


def allows_any(document: str | bytes, questions: list[Question]) -> bool:
    """The same for somebody with several names: what is said of one of them counts."""
    effects = {
        one.get("Effect")
        for one in statements(document)
        if any(applies(one, question) for question in questions)
    }
    return "Allow" in effects and "Deny" not in effects


def applies(statement: Statement, question: Question) -> bool:
    return (
        _principal(statement, question)
        and _action(statement, question.action)
        and _resource(statement, question.resource)
        and conditions(statement.get("Condition", {}), question.context)
    )


def _principal(statement: Statement, question: Question) -> bool:
    if "Principal" in statement:
        return _names(statement["Principal"], *question.principal)
    return "NotPrincipal" in statement and not _names(
        statement["NotPrincipal"], *question.principal
    )


def _names(principal: Any, kind: str, name: str) -> bool:
    if principal == "*":
        return True
    found: Mapping[str, Any] = (
        cast("Mapping[str, Any]", principal) if isinstance(principal, dict) else {}
    )
    if kind in {"*", "AWS"} and "*" in listed(found.get("AWS", [])):
        return True
    return name != "" and name in listed(found.get(kind, []))


def _action(statement: Statement, action: str) -> bool:
    if "Action" in statement:
        return any(like(action.lower(), str(one).lower()) for one in listed(statement["Action"]))
    return "NotAction" in statement and not any(
        like(action.lower(), str(one).lower()) for one in listed(statement["NotAction"])
    )


def _resource(statement: Statement, resource: str) -> bool:
    if not resource:
        return True
    if "Resource" in statement:
        return any(like(resource, str(one)) for one in listed(statement["Resource"]))
    return "NotResource" in statement and not any(
        like(resource, str(one)) for one in listed(statement["NotResource"])
    )


def like(value: str, pattern: str) -> bool:
    """IAM's wildcards: `*` and `?`, and nothing else that the shell would know."""
    return re.fullmatch(fnmatch.translate(pattern.replace("[", "[[]")), value) is not None


def conditions(block: Any, context: Context) -> bool:
    """Every key of every operator must hold; an operator that the sandbox does not know holds never."""
    found = cast("Mapping[str, Mapping[str, Any]]", block)
    return all(
        _holds(operator, key, listed(wanted), context)
        for operator, keys in found.items()
        for key, wanted in keys.items()
    )


def _holds(operator: str, key: str, wanted: list[Any], context: Context) -> bool:
    quantifier, _, name = operator.rpartition(":")
    name, if_exists, _ = name.partition("IfExists")
    values, texts = context.get(key.lower(), ()), [_text(one) for one in wanted]
    if name == "Null":
        return (not values) == (texts[0] == "true")
    test = _OPERATORS.get(name)
    if test is None:
        return False
    negative = "Not" in name
    if not values:
        return bool(if_exists) or negative or quantifier == "ForAllValues"
    hits = [any(test(value, text) for text in texts) != negative for value in values]
    return all(hits) if quantifier == "ForAllValues" or (negative and not quantifier) else any(hits)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _equal(value: str, text: str) -> bool:
    return value == text


def _alike(value: str, text: str) -> bool:
    return value.lower() == text.lower()


_OPERATORS = {
    "StringEquals": _equal, "StringNotEquals": _equal, "StringEqualsIgnoreCase": _alike, "StringNotEqualsIgnoreCase": _alike,
    "StringLike": like, "StringNotLike": like, "ArnEquals": like, "ArnLike": like, "ArnNotEquals": like, "ArnNotLike": like, "Bool": _alike,
}  # fmt: skip
