"""IAM's policy simulator, as far as it is asked here: what may this user or this role do?"""

from __future__ import annotations

import re
from collections.abc import Collection

from .answers import Refusal, Tree
from .denial import denied
from .limits import Form
from .listings import page

_ENTITY = re.compile(r"arn:[\w-]+:iam::\d{12}:(user|role|group)/.+")


def simulated(form: Form, known: Collection[str], deny: Collection[str]) -> Tree:
    source = form.get("PolicySourceArn", "")
    entity = _ENTITY.fullmatch(source)
    if entity is None:
        raise Refusal(
            400,
            "InvalidInput",
            f"Invalid Entity Arn: {source} does not clearly define entity type and name.",
        )
    if source not in known:
        raise Refusal(
            404,
            "NoSuchEntity",
            f"The {entity[1]} with name {source.rpartition('/')[2]} cannot be found.",
        )
    resources = _members(form, "ResourceArns") or ["*"]
    results = [
        _result(action, resource, deny)
        for action in _members(form, "ActionNames")
        for resource in resources
    ]
    shown, rest = page(form, ((f"{number:06}", result) for number, result in enumerate(results)))
    return {"EvaluationResults": shown, **rest}


def _members(form: Form, name: str) -> list[str]:
    found = {
        key.rpartition(".")[2]: text
        for key, text in form.items()
        if key.startswith(f"{name}.member.")
    }
    return [found[number] for number in sorted(found, key=int)]


def _result(action: str, resource: str, deny: Collection[str]) -> Tree:
    if not re.fullmatch(r"[\w-]+:\w+", action):
        raise Refusal(400, "InvalidInput", f"Invalid Action Name: {action}")
    decision = "implicitDeny" if denied(action, deny) else "allowed"
    return {
        "EvalActionName": action,
        "EvalResourceName": resource,
        "EvalDecision": decision,
        "MatchedStatements": [],
        "MissingContextValues": [],
    }
