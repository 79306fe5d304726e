"""How a sentence is set: with a large letter and a stop, and no wider than can be read."""

from __future__ import annotations

import shutil
import textwrap
import unicodedata
from collections.abc import Iterator

import click


def coloured(text: str, colour: str | None) -> str:
    """What has no colour is sent as it is: a terminal has nothing to take back."""
    return click.style(text, fg=colour) if colour else text


def error(problem: str, remedy: str) -> Iterator[str]:
    first, *listed = sentence(problem).splitlines()
    yield f"{click.style('Error:', fg='red')} {first}"
    for line in listed:
        yield from textwrap.wrap(
            line,
            _width(),
            initial_indent="    ",
            subsequent_indent="      ",
            break_on_hyphens=False,
            break_long_words=False,
        )
    if remedy:
        yield f"  {sentence(remedy)}"


def sentence(text: str) -> str:
    """A name at its beginning stays as it is written; a word is written large."""
    first = text.partition(" ")[0]
    begun = text[:1].upper() + text[1:] if first.isalpha() and first != "cwiictl" else text
    return begun if begun.endswith((".", "?", "!")) else f"{begun}."


def wrapped(text: str) -> list[str]:
    return textwrap.wrap(
        text,
        _width(),
        initial_indent=" " * 14,
        subsequent_indent=" " * 16,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _width() -> int:
    return min(116, max(40, shutil.get_terminal_size((116, 0)).columns))


def shown(text: str) -> str:
    """Characters that would move the terminal, or hide among others, are shown and not sent."""
    return "".join(
        c if unicodedata.category(c)[0] != "C" else c.encode("unicode_escape").decode()
        for c in text
    )
