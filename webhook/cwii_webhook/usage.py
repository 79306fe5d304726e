"""What --help says: how it is called, and every flag with what it holds by default."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from cwii_webhook.dialects import ALL, Dialect
from cwii_webhook.settings import azwi, cwii, eks, gcpwif, renewing
from cwii_webhook.settings.flags import Flag

RENEW = "renew"
USAGE = f"cwii-webhook {'|'.join(ALL)} [FLAG ...] [+ DIALECT [FLAG ...]], or cwii-webhook {RENEW} [FLAG ...]; --help behind one of them lists its flags"
SETTINGS: Mapping[str, Struct] = {
    "cwii": cwii.Settings(),
    "eks": eks.Settings(),
    "azwi": azwi.Settings(),
    "gcpwif": gcpwif.Settings(),
}
WIDE = 110


def usage(dialect: Dialect) -> str:
    lines = [
        f"Usage: cwii-webhook {dialect.name} [FLAG ...] [+ DIALECT [FLAG ...]]",
        "",
        *_flags(dialect.flags, lambda flag: _default(dialect, flag)),
    ]
    left_out = sorted(flag.name for flag in dialect.flags if not flag.field)
    if left_out:
        lines += [
            "",
            *textwrap.wrap(
                "Taken, with a warning, and without a meaning here: "
                + ", ".join(f"--{name}" for name in left_out),
                WIDE,
            ),
        ]
    return "\n".join(lines)


def renewing_usage() -> str:
    own = renewing.Settings()
    about = "Looks after the certificates of a webhook that runs: once, and then it ends. What is well stays as it is."
    flags = _flags(
        renewing.FLAGS,
        lambda flag: (
            str(getattr(own, flag.field))
            if flag.kind == "share"
            else _shown(getattr(own, flag.field))
        ),
    )
    return "\n".join([f"Usage: cwii-webhook {RENEW} [FLAG ...]", "", about, "", *flags])


def _flags(flags: Sequence[Flag], default: Callable[[Flag], str]) -> list[str]:
    lines: list[str] = []
    for flag in (flag for flag in flags if flag.field):
        meaning = textwrap.wrap(
            _meaning(flag, default(flag)), WIDE, initial_indent=" " * 8, subsequent_indent=" " * 8
        )
        lines += [f"  --{flag.name}{_value(flag)}", *meaning]
    return lines


def _value(flag: Flag) -> str:
    if flag.kind == "switch":
        return " true|false" if flag.explicit else ""
    return {"words": " WORD,...", "address": " HOST:PORT"}.get(flag.kind, f" {flag.kind.upper()}")


def _meaning(flag: Flag, default: str) -> str:
    return " ".join(
        [
            flag.meaning,
            *([f"[{default}]"] if default else []),
            *([f"(${flag.env})"] if flag.env else []),
        ]
    )


def _default(dialect: Dialect, flag: Flag) -> str:
    outer, _, inner = flag.field.rpartition(".")
    home: object = dialect.serving if outer == "serving" else SETTINGS.get(dialect.name)
    if outer and outer != "serving":
        home = getattr(home, outer, None)
    return _shown(getattr(home, inner, None))


def _shown(value: object) -> str:
    """What is empty, or is not so, needs no word."""
    match value:
        case None | "" | False | ():
            return ""
        case True:
            return "true"
        case float():
            return f"{value / 3600:g}h" if value >= 3600 else f"{value:g}s"
        case (str(host), int(port)):
            return f"{host}:{port}"
        case tuple():
            return ",".join(map(str, value))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        case _:
            return str(value)
