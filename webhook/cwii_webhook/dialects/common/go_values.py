"""What webhooks written in Go have in common: how they read numbers and lists."""

from __future__ import annotations

import json
import re

_NUMBER = re.compile(r"[+-]?[0-9]+")


class InvalidNumber(Exception):
    """In Go's words, which users of the peers know."""


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def parse_int(text: str, bits: int = 64) -> int:
    """As strconv.ParseInt reads it in decimal."""
    if not _NUMBER.fullmatch(text):
        raise InvalidNumber(f"strconv.ParseInt: parsing {quoted(text)}: invalid syntax")
    number = int(text) if len(text.lstrip("+-0")) < 20 else 1 << 64
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise InvalidNumber(f"strconv.ParseInt: parsing {quoted(text)}: value out of range")
    return number


def split_names(text: str, separator: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.split(separator)) if text else frozenset()
