"""Formats the texts of `cwii-webhook --help` and `cwii-webhook DIALECT --help`."""

from __future__ import annotations

import textwrap
from types import SimpleNamespace

from cwii_webhook.dialects.dialect import Dialect
from cwii_webhook.dialects.registry import ALL
from cwii_webhook.settings.flag_help import WIDTH, format_flags

USAGE = (
    f"cwii-webhook {'|'.join(ALL)} [FLAG ...] [+ DIALECT [FLAG ...]], or cwii-webhook renew "
    "[FLAG ...]; --help behind one of them lists its flags"
)


def dialect_help(dialect: Dialect) -> str:
    """Returns the help text of one dialect."""
    settings = dialect.defaults
    names = settings.__struct_fields__ if settings else ()
    fields = {name: getattr(settings, name) for name in names}
    lines = [
        f"Usage: cwii-webhook {dialect.name} [FLAG ...] [+ DIALECT [FLAG ...]]",
        "",
        *format_flags(dialect.flags, SimpleNamespace(serving=dialect.serving, **fields)),
    ]
    ignored = sorted(f"--{flag.name}" for flag in dialect.flags if not flag.field)
    if ignored:
        text = "Taken, with a warning, and without a meaning here: " + ", ".join(ignored)
        lines += ["", *textwrap.wrap(text, WIDTH)]
    return "\n".join(lines)
