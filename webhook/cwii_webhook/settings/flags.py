"""Parses command lines in the syntax of Go and clap, with environment variables as fallback."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, TypeVar, cast

import msgspec
from msgspec import Struct

Kind = Literal["text", "number", "share", "switch", "duration", "words", "json", "address", "level"]

S = TypeVar("S", bound=Struct)
Words = tuple[str, ...]

_DURATION_UNITS: Mapping[str, float] = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1,
    "m": 60,
    "h": 3600,
}
_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)")
_TRUE, _FALSE = (
    frozenset({"1", "t", "T", "TRUE", "true", "True"}),
    frozenset({"0", "f", "F", "FALSE", "false", "False"}),
)


class Flag(Struct, frozen=True):
    """One flag of a command line.

    A flag without a field is accepted for compatibility, with a warning, and has no effect.
    """

    name: str
    kind: Kind
    help: str
    field: str = ""
    env: str = ""
    explicit: bool = False  # the switch requires a value, true or false, as in clap
    repeatable: bool = False  # each occurrence adds to a list of words


class ParsedFlags(Struct, frozen=True):
    """The values of the flags by field, and warnings for the user."""

    values: Mapping[str, object]
    warnings: tuple[str, ...] = ()
    help_requested: bool = False


class BadFlag(Exception):
    """An invalid command line: the problem and its remedy."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}: {remedy}")
        self.problem = problem
        self.remedy = remedy


# Handles an invalid flag. If the handler does not raise, parsing continues without the flag.
OnBadFlag = Callable[[BadFlag], None]


def raise_bad_flag(bad: BadFlag) -> None:
    raise bad


def parse(
    flags: Sequence[Flag],
    arguments: Sequence[str],
    environ: Mapping[str, str],
    on_bad_flag: OnBadFlag = raise_bad_flag,
) -> ParsedFlags:
    """Parses a command line.

    A flag takes precedence over its environment variable. The last occurrence of a flag wins.
    """
    table = {flag.name: flag for flag in flags}
    values: dict[str, object] = {}
    from_environ = [flag for flag in flags if environ.get(flag.env)]
    inputs = [(flag, environ[flag.env], flag.env) for flag in from_environ if flag.field]
    warnings = [_ignored_warning(flag, flag.env) for flag in from_environ if not flag.field]
    for name, text in _split_arguments(table, arguments, on_bad_flag):
        if name in {"help", "h"}:
            return ParsedFlags({}, help_requested=True)
        flag = table[name]
        if flag.field:
            inputs.append((flag, text, f"--{flag.name}"))
        else:
            warnings.append(_ignored_warning(flag, f"--{flag.name}"))
    for flag, text, source in inputs:
        try:
            value = parse_value(flag, text, source)
        except BadFlag as e:
            on_bad_flag(e)
            continue
        values[flag.field] = (
            (*cast("Words", values.get(flag.field, ())), *cast("Words", value))
            if flag.repeatable
            else value
        )
    return ParsedFlags(values, tuple(warnings))


def _ignored_warning(flag: Flag, source: str) -> str:
    return f"{source} has no meaning here and is left out: {flag.help}"


def build_settings(flags: ParsedFlags, kind: type[S]) -> S:
    """Builds a Struct of settings. Fields without a value keep their default.

    A dot in the name of a field separates the nested Struct from its field.
    """
    tree: dict[str, object] = {}
    for field, value in flags.values.items():
        outer, dot, inner = field.rpartition(".")
        section = cast("dict[str, object]", tree.setdefault(outer, {})) if dot else tree
        section[inner] = value
    return msgspec.convert(tree, kind)


def _split_arguments(
    table: Mapping[str, Flag], arguments: Sequence[str], on_bad_flag: OnBadFlag
) -> Iterator[tuple[str, str]]:
    """Yields the name and the text of each flag.

    As in Go, a name follows one dash or two, and a value follows a space or an equals sign.
    """
    rest = iter(arguments)
    for argument in rest:
        if not argument.startswith("-") or not argument.lstrip("-"):
            on_bad_flag(BadFlag(f"{argument!r} is no flag", "flags begin with --; see --help"))
            continue
        name, equals, text = _split_flag(table, argument)
        flag = table.get(name)
        if name in {"help", "h"} or (equals and flag):
            yield name, text
        elif flag is None:
            on_bad_flag(_unknown_flag(table, name))
        elif flag.kind == "switch" and not flag.explicit:
            yield name, "true"
        elif (value := next(rest, None)) is not None:
            yield name, value
        else:
            on_bad_flag(
                BadFlag(
                    f"--{flag.name} is followed by nothing",
                    "say true or false behind it" if flag.explicit else "give its value behind it",
                )
            )


def _split_flag(table: Mapping[str, Flag], argument: str) -> tuple[str, str, str]:
    """Splits a flag into name, equals sign and value.

    -v4 equals -v=4. Underscores in a name equal dashes, because klog's flags have underscores.
    """
    if argument[1:2] in table and argument[2:].isdigit():
        return argument[1], "=", argument[2:]
    name, equals, text = argument.lstrip("-").partition("=")
    return (name.replace("_", "-") if name not in table else name), equals, text


def _unknown_flag(table: Mapping[str, Flag], name: str) -> BadFlag:
    near = difflib.get_close_matches(name, table, 1)
    return BadFlag(
        f"there is no flag --{name}", f"did you mean --{near[0]}?" if near else "see --help"
    )


def parse_value(flag: Flag, text: str, source: str) -> object:
    """Parses the value of a flag. `source` names the flag or the environment variable."""
    try:
        return _PARSERS[flag.kind](text)
    except ValueError as e:
        raise BadFlag(
            f"{source} is {text!r}, which is no {flag.kind}", str(e) or "see --help"
        ) from e


def _parse_switch(text: str) -> bool:
    if text in _TRUE | _FALSE:
        return text in _TRUE
    raise ValueError("say true or false")


def _parse_number(text: str) -> int:
    """Parses an integer as Go does: 0440 and 0o440 are octal, 0x120 is hexadecimal."""
    octal = re.fullmatch(r"([+-]?)0(\d+)", text)
    try:
        return int(f"{octal[1]}0o{octal[2]}" if octal else text, 0)
    except ValueError:
        raise ValueError("say a whole number") from None


def parse_duration(text: str) -> float:
    """Parses a Go duration (24h, 1h30m, 200ms) into seconds. Zero needs no unit."""
    if text in {"0", "+0", "-0"}:
        return 0.0
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError("say it as 30s, 1h30m or 200ms")
    return sum(float(number) * _DURATION_UNITS[unit] for number, unit in parts)


def _parse_share(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("say a part of one, such as 0.67") from None


def _parse_json(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as e:
        raise ValueError(f"say it as JSON ({e})") from e


def _parse_address(text: str) -> tuple[str, int]:
    """Parses HOST:PORT. The host can be empty, or in brackets."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise ValueError("say it as 0.0.0.0:8443, [::]:8443 or :8443")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _split_words(text: str) -> Words:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def parse_log_level(text: str) -> str:
    """Parses a level, or a list of levels per component in the syntax of Rust's env_logger.

    Of a list, the level of the component cwii applies, or else the level without a component.
    """
    levels = {
        component: level
        for component, _, level in (word.strip().rpartition("=") for word in text.split(","))
    }
    level = levels.get("cwii") or levels.get("") or "info"
    return _LEVELS.get(level.lower(), level)


_LEVELS: Mapping[str, str] = {
    **{level: level for level in ("debug", "info", "warning", "error")},
    "trace": "debug",
    "all": "debug",
    "warn": "warning",
    "off": "error",
    "cwii": "debug",  # a component without a level logs everything
}
_PARSERS: Mapping[Kind, Callable[[str], object]] = {
    "text": str,
    "number": _parse_number,
    "share": _parse_share,
    "switch": _parse_switch,
    "duration": parse_duration,
    "words": _split_words,
    "json": _parse_json,
    "address": _parse_address,
    "level": parse_log_level,
}
