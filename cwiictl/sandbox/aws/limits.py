"""IAM's limits on names, texts and numbers, which moto does not keep."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from .answers import Refusal
from .documents import malformed

Form = Mapping[str, str]

_NAME = re.compile(r"[\w+=,.@-]+", re.ASCII)
_PATH = re.compile(r"/|/[!-\x7f]+/")
_LONGEST = {
    "RoleName": 64,
    "PolicyName": 128,
    "Description": 1000,
    "PolicyDocument": 131072,
    "AssumeRolePolicyDocument": 131072,
}


def check_lengths(form: Form) -> None:
    for name, most in _LONGEST.items():
        value = form.get(name, "")
        if len(value) > most:
            raise invalid(
                value[:80],
                name[0].lower() + name[1:],
                f"Member must have length less than or equal to {most}",
            )
    if form.get("Action") in {"CreateRole", "PutRolePolicy"} and not (
        form.get("AssumeRolePolicyDocument") or form.get("PolicyDocument")
    ):
        raise malformed("Syntax errors in policy.")


def invalid(value: str, name: str, constraint: str) -> Refusal:
    return Refusal(
        400,
        "ValidationError",
        f"1 validation error detected: Value '{value}' at '{name}' failed to satisfy constraint: {constraint}",
    )


def check_new_role(form: Form, names: Collection[str]) -> None:
    """Names are one's own whatever their case."""
    name, path = form.get("RoleName", ""), form.get("Path", "/")
    check_name(name, "roleName")
    if not _PATH.fullmatch(path) or len(path) > 512:
        raise invalid(
            path,
            "path",
            "The specified value for path is invalid. It must begin and end with / and contain only alphanumeric characters and/or / characters.",
        )
    if name.lower() in {other.lower() for other in names}:
        raise Refusal(409, "EntityAlreadyExists", f"Role with name {name} already exists.")
    check_duration(form)


def check_name(name: str, field: str) -> None:
    if not _NAME.fullmatch(name):
        raise invalid(name, field, "Member must satisfy regular expression pattern: [\\w+=,.@-]+")


def check_duration(form: Form) -> None:
    duration = form.get("MaxSessionDuration", "3600")
    if not duration.isdigit() or not 3600 <= int(duration) <= 43200:
        raise invalid(
            duration, "maxSessionDuration", "Member must have value between 3600 and 43200"
        )
