"""What a workload is told in a file that was written earlier, beside what it would be told now."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any, cast

from cwiictl.documents import documents
from cwiictl.verify.letter import unlike

SHORT = 100  # characters that are worth showing

Place = tuple[str, ...]  # whose it is, and the keys that lead to it


def differing(name: str, have: bytes, want: bytes) -> Iterator[str]:
    """Word by word of what is wanted: what else the file says is another's."""
    found, wanted = dict(_words(name, have)), [*_words(name, want)]
    whose = {"", *(place[0] for place in found)}  # a file of one thing need not say whose it is
    yield from (
        f"it lacks {each}"
        for each in dict.fromkeys(place[0] for place, _ in wanted)
        if each not in whose
    )
    for place, text in wanted:
        if place[0] in whose and (other := found.get(place)) != text:
            yield _sentence(
                " of ".join(part for part in (place[-1], place[0]) if part), other, text
            )


def _sentence(what: str, have: str | None, want: str) -> str:
    if have is None:
        return f"it lacks {what}"
    if max(len(have), len(want)) > SHORT or "\n" in have + want:
        return f"{what} is not what it would be now"
    hint = unlike(have, want)
    return f"{what} is {have}, and not {want}{f': {hint}' if hint else ''}"


def _words(name: str, text: bytes) -> Iterator[tuple[Place, str]]:
    for document in documents(name, text):
        metadata = document.value.get("metadata")
        whose = cast("dict[str, Any]", metadata) if isinstance(metadata, dict) else {}
        title = f"{whose.get('namespace')}/{whose.get('name')}" if whose else ""
        yield from _leaves((title,), document.value)


def _leaves(place: Place, value: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    for key, each in value.items():
        if isinstance(each, dict):
            yield from _leaves((*place, key), cast("dict[str, Any]", each))
        else:
            yield (*place, key), _plain(str(each)) if place[-1] == "data" else str(each)


def _plain(coded: str) -> str:
    try:
        return base64.b64decode(coded, validate=True).decode()
    except ValueError:
        return coded
