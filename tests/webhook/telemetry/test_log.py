"""Tests the log: lines that a value cannot forge, and writes that do not block."""

from __future__ import annotations

import os
from collections.abc import Generator
from datetime import UTC, datetime

import msgspec
import pytest
from cwii_webhook.telemetry.log import PIPE_BUF, Log, format_line
from hypothesis import given, strategies

NOW = datetime(2026, 11, 19, 12, 0, 0, tzinfo=UTC)


@pytest.fixture
def pipe() -> Generator[tuple[int, int]]:
    files = os.pipe()
    yield files
    for file in files:
        os.close(file)


@given(strategies.text(), strategies.text(), strategies.lists(strategies.text(), max_size=20))
def test_any_value_gives_one_line(message: str, name: str, names: list[str]) -> None:
    for lines in (
        format_line(NOW, "info", message, {"name": name, "names": tuple(names)}),
        format_line(NOW, "info", "x", {"name": name * 3000}),
    ):
        assert lines.endswith(b"\n")
        assert len(lines.decode("ascii").splitlines()) == 1
        assert all(32 <= byte < 127 for byte in lines[:-1])
        assert len(lines) <= PIPE_BUF
        assert msgspec.json.decode(lines)["level"] == "info"


def test_decoded_value_equals_the_original() -> None:
    name = 'default", "level": "error\n{"time":"x"}\u2028\x1b[31m\x9b\x7fé😀'
    decoded = msgspec.json.decode(
        format_line(
            NOW, "info", "decided", {"name": name, "dry_run": False, "warnings": ("a", "b")}
        )
    )
    assert decoded == {
        "name": name,
        "dry_run": False,
        "warnings": ["a", "b"],
        "time": "2026-11-19T12:00:00Z",
        "level": "info",
        "what": "decided",
    }


def test_fields_do_not_override_level_time_and_message() -> None:
    decoded = msgspec.json.decode(
        format_line(NOW, "info", "decided", {"level": "error", "time": "never", "what": "nothing"})
    )
    assert decoded == {"level": "info", "time": "2026-11-19T12:00:00Z", "what": "decided"}


def test_lines_of_one_moment_are_written_in_one_flush(pipe: tuple[int, int]) -> None:
    log = Log(pipe[1], now=lambda: NOW)
    scheduled: list[object] = []
    log.schedule_flush = scheduled.append
    log.debug("unheard")
    for number in range(100):
        log.info("said", number=number)
    assert len(scheduled) == 1
    log.flush()
    lines = os.read(pipe[0], 1 << 16).splitlines()
    assert [msgspec.json.decode(each)["number"] for each in lines] == list(range(100))


def test_slow_reader_does_not_block_the_log(pipe: tuple[int, int]) -> None:
    log = Log(pipe[1], now=lambda: NOW)
    for number in range(5000):
        log.info("said", number=number)
    read = os.read(pipe[0], 1 << 20).count(b"\n")
    log.info("said again")
    lines = [msgspec.json.decode(each) for each in os.read(pipe[0], 1 << 20).splitlines()]
    assert lines[0]["lines"] == 5000 - read
    assert lines[1]["what"] == "said again"


def test_closed_reader_is_ignored() -> None:
    read, write = os.pipe()
    os.close(read)
    Log(write).error("nobody hears this")
    os.close(write)
