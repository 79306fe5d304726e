"""CEL, as much of it as people write in attribute mappings and conditions: claims, strings, lists, comparisons, and a few methods."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .functions import SIGNS, Missing, asked, called, compared, member

_TOKEN = re.compile(
    r"""\s*(?:(?P<text>r?"(?:[^"\\]|\\.)*"|r?'(?:[^'\\]|\\.)*')|(?P<number>\d+(?:\.\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<sign>\|\||&&|==|!=|<=|>=|[-!?:+.,<>()\[\]]))"""
)
_WORDS = {"true": True, "false": False, "null": None}


class Unusable(Exception):
    """An expression that cannot be read, or has no value for these claims."""


def value(expression: str, known: Mapping[str, object]) -> Any:
    """`known` are the names that an expression may begin with: assertion, google, attribute."""
    reader = _Reader(expression, known)
    try:
        found = reader.whole()
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, re.error) as error:
        raise Unusable(expression) from error
    if isinstance(found, Missing):
        raise Unusable(expression)
    return found


class _Reader:
    """Reads and works out at once. Both sides of && and || are worked out; a side that has no value counts when the other does not decide."""

    def __init__(self, expression: str, known: Mapping[str, object]) -> None:
        self._known = known
        self._tokens = _split(expression)
        self._at = 0

    def whole(self) -> Any:
        found = self._chosen()
        if self._at != len(self._tokens):
            raise ValueError("more than an expression")
        return found

    def _chosen(self) -> Any:
        found = self._either()
        if not self._skip("?"):
            return found
        first = self._chosen()
        self._expect(":")
        second = self._chosen()
        return first if found is True else second

    def _either(self) -> Any:
        found = self._both()
        while self._skip("||"):
            other = self._both()
            found = (
                True if True in (found, other) else other if isinstance(other, Missing) else found
            )
        return found

    def _both(self) -> Any:
        found = self._compared()
        while self._skip("&&"):
            other = self._compared()
            found = (
                False if False in (found, other) else other if isinstance(other, Missing) else found
            )
        return found

    def _compared(self) -> Any:
        found = self._sum()
        if self._peek() not in SIGNS:
            return found
        sign = self._next()
        return compared(sign, found, self._sum())

    def _sum(self) -> Any:
        found = self._unary()
        while self._skip("+"):
            found = found + self._unary()
        return found

    def _unary(self) -> Any:
        if self._skip("!"):
            found = self._unary()
            return found if isinstance(found, Missing) else not found
        return self._followed(self._single())

    def _followed(self, found: Any) -> Any:
        while self._peek() in {".", "["}:
            if self._next() == "[":
                found = member(found, self._chosen())
                self._expect("]")
                continue
            name = self._next()
            found = (
                asked(name, found, self._arguments(")")) if self._skip("(") else member(found, name)
            )
        return found

    def _single(self) -> Any:
        one = self._next()
        match one[:1]:
            case "(":
                found = self._chosen()
                self._expect(")")
                return found
            case "[":
                return self._arguments("]")
            case first if first in "'\"" or one[1:2] in {"'", '"'}:
                return _text(one)
            case first if first.isdigit():
                return float(one) if "." in one else int(one)
            case _:
                return self._named(one)

    def _named(self, name: str) -> Any:
        if name in _WORDS:
            return _WORDS[name]
        return called(name, self._arguments(")")) if self._skip("(") else self._known[name]

    def _arguments(self, end: str) -> list[Any]:
        found: list[Any] = []
        while not self._skip(end):
            found.append(self._chosen())
            if self._peek() != end:
                self._expect(",")
        return found

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def _skip(self, sign: str) -> bool:
        if self._peek() != sign:
            return False
        self._at += 1
        return True

    def _expect(self, sign: str) -> None:
        if not self._skip(sign):
            raise ValueError(f"{sign} is missing")


def _split(expression: str) -> list[str]:
    tokens: list[str] = []
    at, text = 0, expression.rstrip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise Unusable(expression)
        tokens.append(found[0].strip())
        at = found.end()
    return tokens


def _text(quoted: str) -> str:
    return quoted[2:-1] if quoted.startswith("r") else re.sub(r"\\(.)", r"\1", quoted[1:-1])
