"""Which policy documents IAM takes: their grammar and their sizes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from .answers import Refusal
from .policy import listed

TRUST_LIMIT = 2048
INLINE_LIMIT = 10240
_VERSIONS = {"2012-10-17", "2008-10-17"}
_KEYS = {"Sid", "Effect", "Action", "NotAction", "Condition"}
_ACTION = re.compile(r"\*|[A-Za-z0-9-]+:[A-Za-z0-9*?]+")
_ASSUME = re.compile(
    r"sts:(AssumeRole\w*|TagSession|SetSourceIdentity|SetContext|\*|Assume[\w*]*|[\w*]*\*)",
    re.IGNORECASE,
)
_FEDERATED = re.compile(r"arn:[\w-]+:iam::\d{12}:(oidc|saml)-provider/.+|[\w-]+(\.[\w-]+)+")
_OPERATOR = re.compile(
    r"(For(All|Any)Values?:)?(String(Not)?(Equals(IgnoreCase)?|Like)|Arn(Not)?(Equals|Like)|(Numeric|Date)((Not)?Equals|(Less|Greater)Than(Equals)?)"
    r"|Bool|BinaryEquals|(Not)?IpAddress)(IfExists)?|Null"
)


def size(document: str) -> int:
    """As IAM counts: white space is free."""
    return len(re.sub(r"\s", "", document))


def malformed(message: str) -> Refusal:
    return Refusal(400, "MalformedPolicyDocument", message)


def check_trust(document: str) -> None:
    for statement in _statements(document, extra={"Principal", "NotPrincipal"}):
        if "Principal" not in statement and "NotPrincipal" not in statement:
            raise malformed("Missing required field Principal")
        _check_principal(statement.get("Principal", statement.get("NotPrincipal")))
        if not all(
            _ASSUME.fullmatch(str(action)) for action in listed(statement.get("Action", []))
        ):
            raise malformed("AssumeRole policy may only specify STS AssumeRole actions.")
    if size(document) > TRUST_LIMIT:
        raise Refusal(
            409, "LimitExceeded", f"Cannot exceed quota for ACLSizePerRole: {TRUST_LIMIT}"
        )


def check_inline(document: str) -> None:
    for statement in _statements(document, extra={"Resource", "NotResource"}):
        resources = listed(statement.get("Resource", statement.get("NotResource", [])))
        if not resources:
            raise malformed("Policy statement must contain resources.")
        for resource in resources:
            if resource != "*" and not re.match(r"(arn|\*|\?):", str(resource)):
                raise malformed(f'Resource {resource} must be in ARN format or "*".')


def _statements(document: str, *, extra: set[str]) -> list[Mapping[str, Any]]:
    body = _parsed(document)
    found = listed(body.get("Statement", []))
    if (
        not found
        or body.get("Version", "2008-10-17") not in _VERSIONS
        or set(body) - {"Version", "Id", "Statement"}
    ):
        raise malformed("Syntax errors in policy.")
    checked = [_statement(one, _KEYS | extra) for one in found]
    names = [one["Sid"] for one in checked if one.get("Sid")]
    if len(names) != len(set(names)):
        raise malformed("Statement IDs (SID) in a single policy must be unique.")
    return checked


def _parsed(document: str) -> Mapping[str, Any]:
    try:
        body = json.loads(document)
    except ValueError as error:
        raise malformed("This policy contains invalid Json") from error
    if not isinstance(body, dict):
        raise malformed("Syntax errors in policy.")
    return cast("dict[str, Any]", body)


def _statement(found: object, keys: set[str]) -> Mapping[str, Any]:
    if not isinstance(found, dict):
        raise malformed("Syntax errors in policy.")
    statement = cast("dict[str, Any]", found)
    if "Principal" in statement and "Principal" not in keys:
        raise malformed("Policy document should not specify a principal.")
    if "Resource" in statement and "Resource" not in keys:
        raise malformed("Has prohibited field Resource")
    if (
        set(statement) - keys
        or statement.get("Effect") not in {"Allow", "Deny"}
        or not _is_condition(statement.get("Condition", {}))
    ):
        raise malformed("Syntax errors in policy.")
    _check_actions(listed(statement.get("Action", statement.get("NotAction", []))))
    return statement


def _is_condition(block: object) -> bool:
    found = cast("dict[str, object]", block) if isinstance(block, dict) else None
    return found is not None and all(
        _OPERATOR.fullmatch(operator) and isinstance(keys, dict) for operator, keys in found.items()
    )


def _check_actions(actions: list[Any]) -> None:
    if not actions:
        raise malformed("Policy statement must contain actions.")
    if not all(isinstance(action, str) and _ACTION.fullmatch(action) for action in actions):
        raise malformed(
            "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc."
        )


def _check_principal(principal: object) -> None:
    """Whether a provider exists is not looked at: IAM does not either."""
    if principal == "*":
        return
    kinds = cast("dict[str, Any]", principal) if isinstance(principal, dict) else {}
    if not kinds or set(kinds) - {"AWS", "Federated", "Service", "CanonicalUser"}:
        raise malformed("Invalid principal in policy.")
    for name in listed(kinds.get("Federated", [])):
        if not _FEDERATED.fullmatch(str(name)):
            raise malformed("Federated principals must be valid domain names or SAML metadata ARNs")
