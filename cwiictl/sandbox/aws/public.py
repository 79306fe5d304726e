"""What the public may do with a bucket, and what CloudFront may: its policy, and the blocks of the bucket and of the account."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from .answers import Refusal
from .policy import Context, Question, Statement, allows_any, listed, statements
from .things import Block

_CONTEXT = {"aws:securetransport": ("true",)}
_LIMITING = {
    "aws:sourcearn", "aws:sourcevpc", "aws:sourcevpce", "aws:sourceowner", "aws:sourceaccount", "aws:userid", "aws:principalorgid", "aws:principalorgpaths",
    "aws:principalaccount", "aws:principalarn", "aws:calledvia", "s3:dataaccesspointarn", "s3:dataaccesspointaccount",
}  # fmt: skip


@dataclass(frozen=True)
class Reader:
    """Somebody without credentials of this account: all the names a policy may have for them. The first is the public."""

    principals: tuple[tuple[str, str], ...] = (("*", ""),)
    context: Context = field(default_factory=dict[str, tuple[str, ...]])

    @property
    def is_service(self) -> bool:
        return any(kind == "Service" for kind, _ in self.principals)


ANYBODY = Reader()


@dataclass(frozen=True)
class Openness:
    """What decides it, as a reader sees it now."""

    policy: bytes | None
    blocks: tuple[Block | None, ...]  # the bucket's and the account's

    def allows(self, action: str, resource: str, reader: Reader = ANYBODY) -> bool:
        """A bucket that is public against the will of its block is for its own account and for AWS's services only."""
        if self.policy is None:
            return False
        if (
            not reader.is_service
            and is_public(self.policy)
            and any(block.restrict_public_buckets for block in self.blocks if block)
        ):
            return False
        context = {**_CONTEXT, **reader.context}
        return allows_any(
            self.policy,
            [Question(principal, action, resource, context) for principal in reader.principals],
        )


def is_public(policy: bytes) -> bool:
    """A statement for everybody that no condition ties to fixed values."""
    return any(
        one.get("Effect") == "Allow" and _for_everybody(one) and not _tied(one.get("Condition", {}))
        for one in statements(policy)
    )


def _for_everybody(statement: Statement) -> bool:
    principal = statement.get("Principal")
    if isinstance(principal, dict):
        return "*" in listed(cast("Mapping[str, Any]", principal).get("AWS", []))
    return principal == "*" or "NotPrincipal" in statement


def _tied(block: Mapping[str, Mapping[str, Any]]) -> bool:
    return any(
        _fixed(key.lower(), listed(values))
        for operator, keys in block.items()
        if "Not" not in operator
        for key, values in keys.items()
    )


def _fixed(key: str, values: list[Any]) -> bool:
    if key == "aws:sourceip":
        return all(
            ipaddress.ip_network(str(value), strict=False).prefixlen >= 8 for value in values
        )
    return key in _LIMITING and not any("*" in str(value) or "?" in str(value) for value in values)


def check_policy(
    bucket: str, partition: str, document: bytes, blocks: tuple[Block | None, ...]
) -> None:
    """Whether S3 takes this bucket policy."""
    own = f"arn:{partition}:s3:::{bucket}"
    try:
        found = statements(document)
        public = is_public(document)
    except (ValueError, AttributeError) as error:
        raise Refusal(
            400, "MalformedPolicy", "Policies must be valid JSON and the first byte must be '{'"
        ) from error
    for statement in found:
        _check(statement, own)
    if public and any(block.block_public_policy for block in blocks if block):
        reason = "because public policies are prevented by the BlockPublicPolicy setting in S3 Block Public Access."
        raise Refusal(
            403,
            "AccessDenied",
            f'User is not authorized to perform: s3:PutBucketPolicy on resource: "{own}" {reason}',
        )


def _check(statement: Statement, own: str) -> None:
    for name, words in (
        ("Effect", ("Effect",)),
        ("Principal", ("Principal", "NotPrincipal")),
        ("Action", ("Action", "NotAction")),
    ):
        if not any(word in statement for word in words):
            raise Refusal(400, "MalformedPolicy", f"Missing required field {name}")
    resources = [
        str(one) for one in listed(statement.get("Resource", statement.get("NotResource", [])))
    ]
    if not resources:
        raise Refusal(400, "MalformedPolicy", "Missing required field Resource")
    if not all(
        one == own or one.startswith(f"{own}/") or (one.startswith(own) and "*" in one)
        for one in resources
    ):
        raise Refusal(400, "MalformedPolicy", "Policy has invalid resource")
