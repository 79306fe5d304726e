"""Formats of values that appear both in flags and in annotations."""

from __future__ import annotations

import re

from msgspec import Struct

from cwii_webhook.settings.flags import BadFlag

# The API server accepts these lifetimes of a token.
MIN_TOKEN_SECONDS, MAX_TOKEN_SECONDS = 600, 1 << 32


class Format(Struct, frozen=True):
    """A pattern, with a description and an example for error messages."""

    pattern: re.Pattern[str]
    what: str
    example: str


def value_format(pattern: str, what: str, example: str) -> Format:
    return Format(re.compile(pattern, re.ASCII), what, example)


AUDIENCE = value_format(r"[\w!#%*+,./:=?@\[\]^{}~-]{1,1024}", "audience", "sts.amazonaws.com")
REGION = value_format(r"[a-z]{2}[a-z0-9-]{1,30}", "region", "eu-west-1")
DOMAIN = value_format(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?", "domain", "example.com")
NAME = value_format(DOMAIN.pattern.pattern, "object's name", "my-bundle")
FILE = value_format(r"(?!\.\.)[^/:]+(/(?!\.\.(/|$))[^/:]+)*", "path below a mount", "token")
QUANTITY = value_format(
    # Limits the digits, because a longer number does not make the result more exact.
    r"([+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40}))"
    r"(?:([KMGTPE]i|[numkMGTPE])|[eE]([+-]?[0-9]{1,2}))?",
    "quantity",
    "100m",
)
# Everything that the API server accepts. Nodes check images themselves.
ANY_IMAGE = value_format(r"\S(.*\S)?", "image", "registry.example.com/tools:1")
IMAGE = value_format(r"[A-Za-z0-9][\w./:@+-]{0,500}", "image", "registry.example.com/tools:1")


def check_flag(flag: str, value: str, form: Format) -> None:
    """Raises BadFlag at startup, because the value would make every pod invalid."""
    if not form.pattern.fullmatch(value):
        raise BadFlag(
            f"--{flag} is {value[:64]!r}, which is no {form.what}",
            f"say one such as {form.example}",
        )
