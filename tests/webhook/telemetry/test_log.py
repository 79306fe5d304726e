"""JSON lines that nobody can forge, and that nobody has to wait for."""

from __future__ import annotations

import os
from collections.abc import Generator
from datetime import UTC, datetime

import msgspec
import pytest
from cwii_webhook.telemetry.log import PIPE, Log, line
from hypothesis import given, strategies

NOW = datetime(2026, 11, 19, 12, 0, 0, tzinfo=UTC)


@pytest.fixture
def pipe() -> Generator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


@given(strategies.text(), strategies.text(), strategies.lists(strategies.text(), max_size=20))
def test_whatever_a_name_says_it_is_one_line(what: str, name: str, names: list[str]) -> None:
    for lines in (
        line(NOW, "info", what, {"name": name, "names": tuple(names)}),
        line(NOW, "info", "x", {"name": name * 3000}),
    ):
        assert lines.endswith(b"\n")
        assert len(lines.decode("ascii").splitlines()) == 1
        assert all(32 <= byte < 127 for byte in lines[:-1])
        assert len(lines) <= PIPE
        assert msgspec.json.decode(lines)["level"] == "info"


def test_a_name_comes_back_as_it_was() -> None:
    name = 'default", "level": "error\n{"time":"x"}\u2028\x1b[31m\x9b\x7fé😀'
    found = msgspec.json.decode(
        line(NOW, "info", "decided", {"name": name, "dry_run": False, "warnings": ("a", "b")})
    )
    assert found == {
        "name": name,
        "dry_run": False,
        "warnings": ["a", "b"],
        "time": "2026-11-19T12:00:00Z",
        "level": "info",
        "what": "decided",
    }


def test_nothing_takes_the_place_of_what_the_line_says_itself() -> None:
    found = msgspec.json.decode(
        line(NOW, "info", "decided", {"level": "error", "time": "never", "what": "nothing"})
    )
    assert found == {"level": "info", "time": "2026-11-19T12:00:00Z", "what": "decided"}


def test_lines_of_one_moment_are_written_together(pipe: tuple[int, int]) -> None:
    log = Log(pipe[1], now=lambda: NOW)
    moments: list[object] = []
    log.later = moments.append
    log.debug("unheard")
    for number in range(100):
        log.info("said", number=number)
    assert len(moments) == 1
    log.flush()
    lines = os.read(pipe[0], 1 << 16).splitlines()
    assert [msgspec.json.decode(each)["number"] for each in lines] == list(range(100))


def test_a_reader_who_does_not_read_is_not_waited_for(pipe: tuple[int, int]) -> None:
    log = Log(pipe[1], now=lambda: NOW)
    for number in range(5000):
        log.info("said", number=number)
    read = os.read(pipe[0], 1 << 20).count(b"\n")
    log.info("said again")
    told = [msgspec.json.decode(each) for each in os.read(pipe[0], 1 << 20).splitlines()]
    assert told[0]["lines"] == 5000 - read
    assert told[1]["what"] == "said again"


def test_a_reader_who_is_gone_is_not_missed() -> None:
    read, write = os.pipe()
    os.close(read)
    Log(write).error("nobody hears this")
    os.close(write)
