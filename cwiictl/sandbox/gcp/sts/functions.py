"""What may be done with values in CEL: compared, looked into, and asked for what strings and lists can tell."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any, cast

SIGNS = frozenset({"==", "!=", "in", "<", ">", "<=", ">="})


class Missing:
    """What a claim is that is not there: only `has` may look at it, and whatever is done with it is missing too."""


def compared(sign: str, one: Any, other: Any) -> Any:
    if isinstance(one, Missing) or isinstance(other, Missing):
        return Missing()
    match sign:
        case "==":
            return one == other
        case "!=":
            return one != other
        case "in":
            return one in other
        case _:
            return (
                (one < other and sign[0] == "<")
                or (one > other and sign[0] == ">")
                or (one == other and sign[1:] == "=")
            )


def member(found: Any, name: Any) -> Any:
    if isinstance(found, Mapping):
        return cast("Mapping[Any, Any]", found).get(name, Missing())
    return found if isinstance(found, Missing) else found[name]


def called(name: str, arguments: list[Any]) -> Any:
    """A function that stands by itself."""
    match name, arguments:
        case "has", [one]:
            return not isinstance(one, Missing)
        case "size", [one]:
            return one if isinstance(one, Missing) else len(one)
        case "string", [one]:
            return one if isinstance(one, Missing) else str(one)
        case "timestamp", [one]:
            return one if isinstance(one, Missing) else dt.datetime.fromisoformat(one)
        case _:
            raise ValueError(f"{name} is no function")


def asked(name: str, one: Any, arguments: list[Any]) -> Any:
    """A method of a string or a list."""
    if isinstance(one, Missing):
        return one
    if isinstance(one, str):
        return _of_text(name, one, [str(argument) for argument in arguments])
    match name, arguments:
        case "join", _:
            return "".join(arguments).join(one)
        case "size", []:
            return len(one)
        case _:
            raise ValueError(f"{name} is no method")


def _of_text(name: str, text: str, arguments: list[str]) -> Any:  # noqa: C901, PLR0911 - one line for each method
    match name, arguments:
        case "startsWith", [start]:
            return text.startswith(start)
        case "endsWith", [end]:
            return text.endswith(end)
        case "contains", [part]:
            return part in text
        case "matches", [pattern]:
            return re.search(pattern, text) is not None
        case "split", [separator]:
            return text.split(separator)
        case "replace", [old, new]:
            return text.replace(old, new)
        case "extract", [template]:
            return _extracted(text, template)
        case "lowerAscii", []:
            return text.lower()
        case "upperAscii", []:
            return text.upper()
        case "size", []:
            return len(text)
        case _:
            raise ValueError(f"{name} is no method")


def _extracted(text: str, template: str) -> str:
    """'/a/{name}/b': what stands between; empty where it does not match."""
    before, _, rest = template.partition("{")
    after = rest.partition("}")[2]
    start = text.find(before)
    if start < 0:
        return ""
    inside = text[start + len(before) :]
    end = inside.find(after) if after else len(inside)
    return inside[:end] if end >= 0 else ""
