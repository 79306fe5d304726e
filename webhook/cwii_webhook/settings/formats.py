"""What a value may look like that may be told to the webhook as well as be written by a user."""

from __future__ import annotations

import re

from msgspec import Struct

from cwii_webhook.settings.flags import BadFlag

MIN_TOKEN_SECONDS, MAX_TOKEN_SECONDS = (
    600,
    1 << 32,
)  # seconds: what the API server takes for a token


class Format(Struct, frozen=True):
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
    # The digits are few, and an exponent's fewer: whoever writes more gets no more exact an answer.
    r"([+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40}))(?:([KMGTPE]i|[numkMGTPE])|[eE]([+-]?[0-9]{1,2}))?",
    "quantity",
    "100m",
)
ANY_IMAGE = value_format(
    r"\S(.*\S)?", "image", "registry.example.com/tools:1"
)  # by the API server: a node may know better
IMAGE = value_format(r"[A-Za-z0-9][\w./:@+-]{0,500}", "image", "registry.example.com/tools:1")


def check_flag(flag: str, value: str, form: Format) -> None:
    """What every pod would be refused for is better refused at the start."""
    if not form.pattern.fullmatch(value):
        raise BadFlag(
            f"--{flag} is {value[:64]!r}, which is no {form.what}",
            f"say one such as {form.example}",
        )
