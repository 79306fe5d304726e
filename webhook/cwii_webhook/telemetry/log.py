"""Writes the log as JSON lines. A value from the cluster cannot forge or split a line."""

from __future__ import annotations

import os
import re
import select
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import msgspec

from cwii_webhook.settings.serving import LEVELS

PIPE_BUF = 4096  # a write of this size to a pipe is atomic, even with several writers
MAX_TEXT = 512  # characters of one value
MAX_ITEMS = 16  # items of one value

_encode = msgspec.json.Encoder().encode

Value = str | int | float | bool | None | tuple[str, ...]


class Log:
    """Writes lines without blocking.

    If the reader is too slow, the log drops lines, and reports their number in the next line that
    it can write. `schedule_flush` lets the event loop collect the lines of a moment into one
    write. Without it, the log writes each line at once.
    """

    def __init__(
        self,
        file: int,
        level: str = "info",
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.schedule_flush: Callable[[Callable[[], None]], object] | None = None
        self._file = file
        self._enabled_levels = frozenset(LEVELS[LEVELS.index(level) :])
        self._now = now
        self._lines: list[bytes] = []
        self._dropped_lines = 0
        self._poll = select.poll()
        self._poll.register(file, select.POLLOUT)

    def is_enabled(self, level: str) -> bool:
        return level in self._enabled_levels

    def debug(self, message: str, /, **fields: Value) -> None:
        self.write("debug", message, fields)

    def info(self, message: str, /, **fields: Value) -> None:
        self.write("info", message, fields)

    def warning(self, message: str, /, **fields: Value) -> None:
        self.write("warning", message, fields)

    def error(self, message: str, /, **fields: Value) -> None:
        self.write("error", message, fields)

    def write(self, level: str, message: str, fields: Mapping[str, Value]) -> None:
        if level in self._enabled_levels:
            self._append(format_line(self._now(), level, message, fields))

    def _append(self, text: bytes) -> None:
        self._lines.append(text)
        if self.schedule_flush is None:
            self.flush()
        elif len(self._lines) == 1:
            self.schedule_flush(self.flush)

    def flush(self) -> None:
        lines, self._lines = self._lines, []
        batch = b""
        for line in lines:
            if len(batch) + len(line) > PIPE_BUF:
                self._write(batch)
                batch = b""
            batch += line
        self._write(batch)

    def _write(self, lines: bytes) -> None:
        if not lines:
            return
        if self._dropped_lines:
            warning = format_line(
                self._now(),
                "warning",
                "nobody read the log, and lines were lost",
                {"lines": self._dropped_lines},
            )
            if not self._try_write(warning):
                self._dropped_lines += lines.count(b"\n")
                return
            self._dropped_lines = 0
        if not self._try_write(lines):
            self._dropped_lines += lines.count(b"\n")

    def _try_write(self, lines: bytes) -> bool:
        """Write if this cannot block: a writable pipe has space for at least PIPE_BUF bytes."""
        if not self._poll.poll(0):
            return False
        try:
            os.write(self._file, lines)
        except OSError:  # the reader has closed the pipe; serving continues
            return False
        return True


def format_line(now: datetime, level: str, message: str, fields: Mapping[str, Value]) -> bytes:
    """Format one line in ASCII.

    JSON leaves some characters unescaped that end a line or control a terminal.
    """
    try:
        text = _encode({**fields, "time": now, "level": level, "what": message})
    except UnicodeEncodeError:  # a lone surrogate
        text = None
    if text is None or len(text) > MAX_TEXT:
        return _format_truncated_line(now, level, message, fields)
    return _to_ascii(text) + b"\n"  # a short line has no value that is too long


def _format_truncated_line(
    now: datetime, level: str, message: str, fields: Mapping[str, Value]
) -> bytes:
    base = {"time": now, "level": level, "what": _truncate(message)}
    text = _to_ascii(_encode({**{key: _truncate(value) for key, value in fields.items()}, **base}))
    if len(text) >= PIPE_BUF:
        text = _to_ascii(_encode({"cut": True, **base}))
    return text + b"\n"


def _truncate(value: Value) -> Value:
    if isinstance(value, str):
        text = value if len(value) <= MAX_TEXT else value[:MAX_TEXT] + "..."
        return text if text.isascii() else text.encode(errors="backslashreplace").decode()
    if isinstance(value, tuple):
        return tuple(str(_truncate(item)) for item in value[:MAX_ITEMS])
    return value


def _to_ascii(text: bytes) -> bytes:
    if text.isascii() and b"\x7f" not in text:
        return text
    return re.sub(r"[^\x00-\x7e]", lambda match: _escape(ord(match[0])), text.decode()).encode()


def _escape(code: int) -> str:
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
