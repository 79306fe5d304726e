"""CONTRIBUTING.md leads to what is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = (ROOT, ROOT / "cwiictl", ROOT / "webhook" / "cwii_webhook")
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
NAMED = sorted(set(re.findall(r"`([\w.-]+(?:/[\w.-]*)+)`", TEXT)))
WALKS = TEXT.partition("## Two walks")[2].partition("\n## ")[0]


def tree() -> Iterator[str]:
    """The first word of each line, below those that it stands under."""
    above: list[str] = []
    for line in TEXT.partition("## The tree\n\n```\n")[2].partition("```")[0].splitlines():
        depth, name = (len(line) - len(line.lstrip())) // 2, line.split()[0]
        above[depth:] = [name.rstrip("/")]
        head, _, last = name.rstrip("/").rpartition("/")
        yield from (
            "/".join(filter(None, [*above[:depth], head, each])) for each in last.split("|")
        )


@pytest.mark.parametrize("path", [*tree(), *NAMED])
def test_each_path_that_it_names_exists(path: str) -> None:
    assert any((around / path).exists() for around in ROOMS) or path == "tests/cwiictl/..."


def test_its_two_walks_are_ten_steps_each_and_every_step_names_a_file() -> None:
    steps = re.findall(r"^(\d+)\. `[\w/.]+\.py`", WALKS, re.MULTILINE)

    assert [int(step) for step in steps] == [*range(1, 11), *range(1, 11)]


def test_it_can_be_read_in_one_go() -> None:
    assert len(TEXT.splitlines()) < 150
