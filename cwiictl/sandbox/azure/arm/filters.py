"""`$filter`, as far as these services understand it: comparisons with a word, and functions, joined with `and`."""

from __future__ import annotations

import re
from collections.abc import Collection

from cwiictl.sandbox.azure.answers import Refusal

from .call import Call

_CLAUSE = re.compile(
    r"\s*(?:(?P<name>\w+(?:/\w+)*)\s+eq\s+'(?P<text>(?:[^']|'')*)'|(?P<function>\w+)\(\s*(?:'(?P<given>[^']*)')?\s*\))\s*",
    re.IGNORECASE,
)
_AND = re.compile(r"and\s+", re.IGNORECASE)


def asked(call: Call, known: Collection[str]) -> dict[str, str]:
    """Each name that is compared, and each function, with its word; all in lower case."""
    text = call.request.asked.get("$filter", "").strip()
    found: dict[str, str] = {}
    place = 0
    while place < len(text):
        if found:
            place = _joined(text, place)
        clause = _CLAUSE.match(text, place)
        if clause is None:
            raise _invalid(text)
        name = str(clause["name"] or f"{clause['function']}()").lower()
        if name not in known:
            raise _invalid(text)
        found[name] = str(clause["text"] or clause["given"] or "").replace("''", "'")
        place = clause.end()
    return found


def _joined(text: str, place: int) -> int:
    joint = _AND.match(text, place)
    if joint is None:
        raise _invalid(text)
    return joint.end()


def _invalid(text: str) -> Refusal:
    return Refusal(
        400,
        "InvalidFilterInQueryString",
        f"Invalid $filter '{text}' specified in the query string.",
    )
