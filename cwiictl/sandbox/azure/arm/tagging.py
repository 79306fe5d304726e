"""Tags, and what Azure does not take for one."""

from __future__ import annotations

import re
from typing import Any, cast

from cwiictl.sandbox.azure.answers import Refusal

from .call import malformed

_MOST = 50
_RESERVED = re.compile(r"[<>%&\\?/\x00-\x1f]")
_PREFIXES = ("microsoft", "azure", "windows")


def read(found: object, longest: int = 512) -> dict[str, str]:
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise malformed("tags are an object")
    tags = {
        name: "" if value is None else value
        for name, value in cast("dict[str, Any]", found).items()
    }
    if any(not isinstance(value, str) for value in tags.values()):
        raise malformed("the value of a tag is a string")
    _check(tags, longest)
    return tags


def _check(tags: dict[str, str], longest: int) -> None:
    if len(tags) > _MOST:
        raise Refusal(
            400,
            "TooManyTags",
            f"The number of tags '{len(tags)}' is more than the maximum number of tags allowed '{_MOST}'.",
        )
    if len({name.lower() for name in tags}) < len(tags):
        raise Refusal(400, "DuplicateTagNames", "The tags contain names that differ in case alone.")
    for name, value in tags.items():
        if _RESERVED.search(name):
            words = f"The tag names '{name}' have reserved characters '<,>,%,&,\\,?,/' or control characters."
            raise Refusal(400, "InvalidTagNameCharacters", words)
        if name.lower().startswith(_PREFIXES):
            raise Refusal(
                400,
                "InvalidTagName",
                f"The tag name '{name}' has a prefix that is reserved: 'microsoft', 'azure' or 'windows'.",
            )
        if not name or len(name) > longest:
            words = f"Tag name too large. Following tag name '{name}' exceeded the maximum length. Maximum allowed length for tag name - '{longest}' characters."
            raise Refusal(400, "InvalidTagNameLength", words)
        if len(value) > 256:
            words = f"Tag value too large. Following tag value '{value}' exceeded the maximum length. Maximum allowed length for tag value - '256' characters."
            raise Refusal(400, "InvalidTagValueLength", words)
