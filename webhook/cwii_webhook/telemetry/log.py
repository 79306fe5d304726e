"""The log: JSON lines. A name from a cluster can say anything, and still be no more than a part of its own line."""

from __future__ import annotations

import os
import re
import select
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from cwii_webhook.settings.serving import LEVELS

PIPE = 4096  # so much is written to a pipe as a whole, also where several processes write
TEXT = 512  # characters of one value
MANY = 16  # parts of one value

_encode = msgspec.json.Encoder().encode

_NEVER = datetime(1, 1, 1, microsecond=1, tzinfo=UTC)  # with as many letters as any other time

Value = str | int | float | bool | None | tuple[str, ...]


class Form(Struct, frozen=True, gc=False):
    """A line that is said of one after the other: all of it but whom it is of, and when it was."""

    level: str
    parts: tuple[bytes, bytes, bytes]


def form(level: str, what: str, more: Mapping[str, Value], whose: str) -> Form | None:
    """None where these cannot be told from the rest."""
    own, never = _encode(whose), _encode(_NEVER)
    text = line(_NEVER, level, what, more)
    begin, found, rest = text.partition(own)
    middle, dated, end = rest.partition(never)
    if not found or not dated or own in rest:
        return None
    return Form(level, (begin + b'"', b'"' + middle + b'"', b'"' + end))


class Log:
    """Never waits for its reader: what cannot be written at once is left out, and counted in the next line that can.

    `later` is how lines of one moment are gathered into one write; without it, each is written at once.
    """

    def __init__(
        self,
        file: int,
        level: str = "info",
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.later: Callable[[Callable[[], None]], object] | None = None
        self._file = file
        self._said = frozenset(LEVELS[LEVELS.index(level) :])
        self._now = now
        self._lines: list[bytes] = []
        self._lost = 0
        self._poll = select.poll()
        self._poll.register(file, select.POLLOUT)

    def is_enabled(self, level: str) -> bool:
        return level in self._said

    def debug(self, what: str, **more: Value) -> None:
        self.write("debug", what, more)

    def info(self, what: str, **more: Value) -> None:
        self.write("info", what, more)

    def warning(self, what: str, **more: Value) -> None:
        self.write("warning", what, more)

    def error(self, what: str, **more: Value) -> None:
        self.write("error", what, more)

    def write(self, level: str, what: str, more: Mapping[str, Value]) -> None:
        if level in self._said:
            self._add(line(self._now(), level, what, more))

    def again(self, form: Form, whose: bytes) -> None:
        """Of somebody who is called so in plain letters."""
        if form.level in self._said:
            begin, middle, end = form.parts
            self._add(b"%b%b%b%b%b" % (begin, whose, middle, _encode(self._now())[1:-1], end))

    def _add(self, text: bytes) -> None:
        self._lines.append(text)
        if self.later is None:
            self.flush()
        elif len(self._lines) == 1:
            self.later(self.flush)

    def flush(self) -> None:
        lines, self._lines = self._lines, []
        held = b""
        for one in lines:
            if len(held) + len(one) > PIPE:
                self._write(held)
                held = b""
            held += one
        self._write(held)

    def _write(self, lines: bytes) -> None:
        if not lines:
            return
        if self._lost:
            told = line(
                self._now(),
                "warning",
                "nobody read the log, and lines were lost",
                {"lines": self._lost},
            )
            if not self._fits(told):
                self._lost += lines.count(b"\n")
                return
            self._lost = 0
        if not self._fits(lines):
            self._lost += lines.count(b"\n")

    def _fits(self, lines: bytes) -> bool:
        """A pipe that can be written to takes at least `PIPE` bytes, so this does not wait."""
        if not self._poll.poll(0):
            return False
        try:
            os.write(self._file, lines)
        except OSError:  # whoever read it is gone: serving goes on
            return False
        return True


def line(now: datetime, level: str, what: str, more: Mapping[str, Value]) -> bytes:
    """ASCII alone: there are more characters that end a line, or drive a terminal, than JSON escapes."""
    try:
        text = _encode({**more, "time": now, "level": level, "what": what})
    except UnicodeEncodeError:  # half a character
        text = None
    if text is None or len(text) > TEXT:
        return _cut_line(now, level, what, more)
    return _ascii(text) + b"\n"  # what is short as a whole has nothing that is long


def _cut_line(now: datetime, level: str, what: str, more: Mapping[str, Value]) -> bytes:
    own = {"time": now, "level": level, "what": _cut(what)}
    text = _ascii(_encode({**{key: _cut(value) for key, value in more.items()}, **own}))
    if len(text) >= PIPE:
        text = _ascii(_encode({"cut": True, **own}))
    return text + b"\n"


def _cut(value: Value) -> Value:
    if isinstance(value, str):
        kept = value if len(value) <= TEXT else value[:TEXT] + "..."
        return kept if kept.isascii() else kept.encode(errors="backslashreplace").decode()
    if isinstance(value, tuple):
        return tuple(str(_cut(part)) for part in value[:MANY])
    return value


def _ascii(text: bytes) -> bytes:
    if text.isascii() and b"\x7f" not in text:
        return text
    return re.sub(r"[^\x00-\x7e]", lambda found: _escape(ord(found[0])), text.decode()).encode()


def _escape(code: int) -> str:
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
