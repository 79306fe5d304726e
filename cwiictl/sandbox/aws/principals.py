"""Whom a bucket policy may name. S3 does not take a principal that it has not heard of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, cast

from .answers import Refusal
from .policy import listed, statements

Identities = Callable[
    [str], Collection[str]
]  # CloudFront's origin access identities in a partition, by all of their names


def check_principals(document: bytes, identities: Collection[str]) -> None:
    """IAM's own users and roles are not looked for: the sandbox has one user, and policies of issuers name no role."""
    for statement in statements(document):
        named: Any = statement.get("Principal", {})
        kinds: Mapping[str, Any] = (
            cast("Mapping[str, Any]", named) if isinstance(named, dict) else {}
        )
        of_cloudfront = [
            str(name)
            for name in listed(kinds.get("AWS", []))
            if ":iam::cloudfront:user/" in str(name)
        ]
        unknown = {*of_cloudfront, *map(str, listed(kinds.get("CanonicalUser", [])))} - set(
            identities
        )
        services = [str(name) for name in listed(kinds.get("Service", []))]
        if unknown or not all(".amazonaws." in name for name in services):
            raise Refusal(
                400,
                "MalformedPolicy",
                "Invalid principal in policy",
                Detail=", ".join(sorted(unknown) or services),
            )
