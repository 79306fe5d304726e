"""A command line as the peers read theirs: Go's and clap's spellings, and an environment variable for a flag that has one."""

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

_UNITS: Mapping[str, float] = {
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
    """One word of a command line. One without a field is taken from the peer's users, and means nothing here."""

    name: str
    kind: Kind
    help: str
    field: str = ""
    env: str = ""
    explicit: bool = False  # a switch that is followed by true or false, as clap has them
    repeatable: bool = False  # words: said again, it adds to what was said


class ParsedFlags(Struct, frozen=True):
    """What was said, by field; and what a user should know who said it."""

    values: Mapping[str, object]
    warnings: tuple[str, ...] = ()
    help_requested: bool = False


class BadFlag(Exception):
    """What was said cannot be meant: what it is, and what to do."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}: {remedy}")
        self.problem = problem
        self.remedy = remedy


OnBadFlag = Callable[
    [BadFlag], None
]  # what is done with what cannot be meant: it is raised, or kept and the rest is understood without it


def raise_bad_flag(bad: BadFlag) -> None:
    raise bad


def parse(
    flags: Sequence[Flag],
    words: Sequence[str],
    environ: Mapping[str, str],
    refuse: OnBadFlag = raise_bad_flag,
) -> ParsedFlags:
    """A flag goes before its variable; of a flag that is said twice the last counts."""
    table = {flag.name: flag for flag in flags}
    values: dict[str, object] = {}
    warnings: list[str] = []
    spoken = [
        (flag, environ[flag.env], flag.env)
        for flag in flags
        if flag.field and environ.get(flag.env)
    ]
    warnings += [
        _meaningless(flag, flag.env) for flag in flags if not flag.field and environ.get(flag.env)
    ]
    for name, text in _said(table, words, refuse):
        if name in {"help", "h"}:
            return ParsedFlags({}, help_requested=True)
        flag = table[name]
        if flag.field:
            spoken.append((flag, text, f"--{flag.name}"))
        else:
            warnings.append(_meaningless(flag, f"--{flag.name}"))
    for flag, text, where in spoken:
        try:
            said = value(flag, text, where)
        except BadFlag as e:
            refuse(e)
            continue
        values[flag.field] = (
            (*cast("Words", values.get(flag.field, ())), *cast("Words", said))
            if flag.repeatable
            else said
        )
    return ParsedFlags(values, tuple(warnings))


def _meaningless(flag: Flag, said: str) -> str:
    return f"{said} has no meaning here and is left out: {flag.help}"


def build_settings(told: ParsedFlags, kind: type[S]) -> S:
    """The settings that were told, and by default the rest. A field with a dot is one of an object in them."""
    tree: dict[str, object] = {}
    for field, said in told.values.items():
        outer, dot, inner = field.rpartition(".")
        home = cast("dict[str, object]", tree.setdefault(outer, {})) if dot else tree
        home[inner] = said
    return msgspec.convert(tree, kind)


def _said(
    table: Mapping[str, Flag], words: Sequence[str], refuse: OnBadFlag
) -> Iterator[tuple[str, str]]:
    """Names of the table, with what is said of them. Go takes one dash or two, and the value behind a space or an equals sign."""
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or not word.lstrip("-"):
            refuse(BadFlag(f"{word!r} is no flag", "flags begin with --; see --help"))
            continue
        name, equals, text = _parted(table, word)
        flag = table.get(name)
        if name in {"help", "h"} or (equals and flag):
            yield name, text
        elif flag is None:
            refuse(_unknown(table, name))
        elif flag.kind == "switch" and not flag.explicit:
            yield name, "true"
        elif (value := next(rest, None)) is not None:
            yield name, value
        else:
            refuse(
                BadFlag(
                    f"--{flag.name} is followed by nothing",
                    "say true or false behind it" if flag.explicit else "give its value behind it",
                )
            )


def _parted(table: Mapping[str, Flag], word: str) -> tuple[str, str, str]:
    """Name and value, where there is one: -v4 is -v=4, and Go's log has underscores in its names where others have dashes."""
    if word[1:2] in table and word[2:].isdigit():
        return word[1], "=", word[2:]
    name, equals, text = word.lstrip("-").partition("=")
    return (name.replace("_", "-") if name not in table else name), equals, text


def _unknown(table: Mapping[str, Flag], name: str) -> BadFlag:
    near = difflib.get_close_matches(name, table, 1)
    return BadFlag(
        f"there is no flag --{name}", f"did you mean --{near[0]}?" if near else "see --help"
    )


def value(flag: Flag, text: str, where: str) -> object:
    try:
        return _PARSERS[flag.kind](text)
    except ValueError as e:
        raise BadFlag(
            f"{where} is {text!r}, which is no {flag.kind}", str(e) or "see --help"
        ) from e


def _switch(text: str) -> bool:
    if text in _TRUE | _FALSE:
        return text in _TRUE
    raise ValueError("say true or false")


def _number(text: str) -> int:
    """As Go reads it: 0440 and 0o440 are octal, 0x120 is hexadecimal."""
    octal = re.fullmatch(r"([+-]?)0(\d+)", text)
    try:
        return int(f"{octal[1]}0o{octal[2]}" if octal else text, 0)
    except ValueError:
        raise ValueError("say a whole number") from None


def duration(text: str) -> float:
    """Go's: 24h, 1h30m, 200ms. Bare zero needs no unit. In seconds."""
    if text in {"0", "+0", "-0"}:
        return 0.0
    found = _DURATION.findall(text)
    if not found or "".join(number + unit for number, unit in found) != text:
        raise ValueError("say it as 30s, 1h30m or 200ms")
    return sum(float(number) * _UNITS[unit] for number, unit in found)


def _share(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("say a part of one, such as 0.67") from None


def _json(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as e:
        raise ValueError(f"say it as JSON ({e})") from e


def _address(text: str) -> tuple[str, int]:
    """A host, which may be left out or stand in brackets, and a port."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise ValueError("say it as 0.0.0.0:8443, [::]:8443 or :8443")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _words(text: str) -> Words:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def level(text: str) -> str:
    """A level, or what Rust's programs are told: one for each part of them, of which cwii's counts, or else the one for all."""
    said = {
        part: level for part, _, level in (word.strip().rpartition("=") for word in text.split(","))
    }
    word = said.get("cwii") or said.get("") or "info"
    return _LEVELS.get(word.lower(), word)


_LEVELS: Mapping[str, str] = {
    **{level: level for level in ("debug", "info", "warning", "error")},
    "trace": "debug",
    "all": "debug",
    "warn": "warning",
    "off": "error",
    "cwii": "debug",  # all of that part
}
_PARSERS: Mapping[Kind, Callable[[str], object]] = {
    "text": str,
    "number": _number,
    "share": _share,
    "switch": _switch,
    "duration": duration,
    "words": _words,
    "json": _json,
    "address": _address,
    "level": level,
}
