"""What somebody asks a bucket to be, read and checked."""

from __future__ import annotations

import ipaddress
import json
import re
from typing import Any, cast

from cwiictl.sandbox.exchange import Request
from cwiictl.sandbox.gcp.world import Bucket

from .answers import Refusal, invalid

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]")
_KEY = re.compile(r"[a-z][a-z0-9_-]{0,62}")
_VALUE = re.compile(r"[a-z0-9_-]{0,63}")
_LABELS = 64


def body(request: Request) -> dict[str, Any]:
    try:
        told: Any = json.loads(request.body or b"{}")
    except ValueError as error:
        raise Refusal(400, "parseError", "Parse Error") from error
    if not isinstance(told, dict):
        raise Refusal(400, "parseError", "Parse Error")
    return cast("dict[str, Any]", told)


def check_name(name: str) -> None:
    if (
        not _NAME.fullmatch(name)
        or (len(name) > 63 and "." not in name)
        or ".." in name
        or name.startswith("goog")
        or _is_address(name)
    ):
        raise invalid(f"Invalid bucket name: '{name}'")
    if "google" in name or "g00gle" in name:
        raise invalid(f"Invalid bucket name: '{name}'")
    if "." in name:
        words = "You can either verify domain ownership at https://search.google.com/search-console/welcome?new_domain_name"
        raise Refusal(
            403,
            "forbidden",
            f"Another user owns the domain {name} or a parent domain. {words}={name}",
        )


def shape(bucket: Bucket, asked: dict[str, Any], *, patch: bool) -> None:
    """Write into a bucket what is asked of it. What is not named stays, or goes when it is not a patch."""
    configuration: dict[str, Any] = asked.get("iamConfiguration") or {}
    uniform: dict[str, Any] = (
        configuration.get("uniformBucketLevelAccess") or configuration.get("bucketPolicyOnly") or {}
    )
    prevention = configuration.get("publicAccessPrevention", bucket.prevention)
    if prevention not in {"inherited", "enforced", "unspecified"}:
        raise invalid(f"Invalid argument: publicAccessPrevention {prevention}")
    labels = _labels(bucket.labels if patch else {}, asked.get("labels", {}))
    bucket.prevention = "enforced" if prevention == "enforced" else "inherited"
    bucket.uniform = bool(uniform.get("enabled", bucket.uniform))
    bucket.labels = labels


def _labels(known: dict[str, str], asked: object) -> dict[str, str]:
    """A null takes a label away; in place of all of them, all."""
    if asked is None:
        return {}
    if not isinstance(asked, dict):
        raise invalid("Invalid value for labels.")
    new = {**known, **cast("dict[str, Any]", asked)}
    labels = {key: str(value) for key, value in new.items() if value is not None}
    for key, value in labels.items():
        if not _KEY.fullmatch(key):
            raise invalid(
                f"Invalid argument: label key '{key}' must start with a lowercase letter and have up to 63 of [a-z0-9_-]."
            )
        if not _VALUE.fullmatch(value):
            raise invalid(
                f"Invalid argument: label value '{value}' may have up to 63 of [a-z0-9_-]."
            )
    if len(labels) > _LABELS:
        raise invalid(f"Invalid argument: a bucket can have at most {_LABELS} labels.")
    return labels


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
