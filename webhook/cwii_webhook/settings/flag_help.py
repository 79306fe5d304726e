"""Formats flags for --help: name, value, help text, default and environment variable."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from cwii_webhook.settings.flags import Flag

WIDTH = 110


def format_flags(flags: Sequence[Flag], defaults: object) -> Iterator[str]:
    """Yields the lines for all flags that have an effect.

    `defaults` has an attribute for each flag's field; a dot in the field leads to a nested object.
    """
    for flag in (flag for flag in flags if flag.field):
        yield f"  --{flag.name}{_placeholder(flag)}"
        yield from textwrap.wrap(
            _text(flag, _format_default(flag, _default(defaults, flag.field))),
            WIDTH,
            initial_indent=" " * 8,
            subsequent_indent=" " * 8,
        )


def _placeholder(flag: Flag) -> str:
    if flag.kind == "switch":
        return " true|false" if flag.explicit else ""
    return {"words": " WORD,...", "address": " HOST:PORT"}.get(flag.kind, f" {flag.kind.upper()}")


def _text(flag: Flag, default: str) -> str:
    parts = [flag.help, default and f"[{default}]", flag.env and f"(${flag.env})"]
    return " ".join(filter(None, parts))


def _default(defaults: object, field: str) -> object:
    for name in field.split("."):
        defaults = getattr(defaults, name, None)
    return defaults


def _format_default(flag: Flag, value: object) -> str:
    """Formats a default value. An empty value and `false` are not shown."""
    match value:
        case None | "" | False | ():
            return ""
        case True:
            return "true"
        case float() if flag.kind != "share":
            return f"{value / 3600:g}h" if value >= 3600 else f"{value:g}s"
        case (str(host), int(port)):
            return f"{host}:{port}"
        case tuple():
            return ",".join(map(str, value))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        case _:
            return str(value)
