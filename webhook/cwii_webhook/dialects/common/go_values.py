"""Parses numbers and lists as Go's standard library does."""

from __future__ import annotations

import json
import re

_INTEGER = re.compile(r"[+-]?[0-9]+")


class InvalidNumber(Exception):
    """The text is no number. The message is Go's, which users of the peers know."""


def quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def parse_int(text: str, bits: int = 64) -> int:
    """Parses a decimal number as strconv.ParseInt does."""
    if not _INTEGER.fullmatch(text):
        raise InvalidNumber(f"strconv.ParseInt: parsing {quote(text)}: invalid syntax")
    number = int(text) if len(text.lstrip("+-0")) < 20 else 1 << 64  # int() is slow on long text
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise InvalidNumber(f"strconv.ParseInt: parsing {quote(text)}: value out of range")
    return number


def split_names(text: str, separator: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.split(separator)) if text else frozenset()
