"""Checks docs/reference/compatibility.md against the tests that exercise its rows."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cwii_webhook.admission.admit import Decision

from tests.webhook.compatibility import EXERCISED_BY, RECORDING
from tests.webhook.dialects.azwi import test_recordings as azwi
from tests.webhook.dialects.cwii import test_recordings as cwii
from tests.webhook.dialects.eks import test_recordings as eks
from tests.webhook.dialects.gcpwif import test_recordings as gcpwif
from tests.webhook.recorded_answers import (
    Change,
    Recording,
    apply_changes,
    load_recordings,
    normalized,
)

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs/reference/compatibility.md").read_text()
HEADER = ["difference", "peer", "cwii-webhook", "reason"]
TESTS = [
    (row, test)
    for rows in EXERCISED_BY.values()
    for row, tests in rows.items()
    for test in tests
    if test != RECORDING
]

Answer = Callable[[Recording], tuple[Decision, dict[str, Any]]]
# By section of the page: the dialect, the registered changes, and the webhook's answers.
RECORDED: Mapping[str, tuple[str, Mapping[str, Change], Answer]] = {
    "cwii": ("cwii", cwii.CHANGES, cwii.answer),
    "amazon-eks-pod-identity-webhook": ("eks", eks.CHANGES, eks.answer),
    "azure-workload-identity": ("azwi", azwi.CHANGES, azwi.answer),
    "gcp-workload-identity-federation-webhook": ("gcpwif", gcpwif.CHANGES, gcpwif.answer),
}
REGISTERED = [(section, row) for section, (_, changes, _) in RECORDED.items() for row in changes]


def tables() -> Iterator[tuple[str, list[list[str]]]]:
    """Yields each section of the page with the cells of its table, header included."""
    for section in PAGE.split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        lines = [line for line in text.splitlines() if line.strip()]
        yield title, [[cell.strip() for cell in line[1:-1].split(" | ")] for line in lines]


TABLES = list(tables())


@cache
def functions(path: str) -> frozenset[str]:
    tree = ast.parse((HERE / path).read_text())
    return frozenset(
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


@pytest.mark.parametrize(("section", "table"), TABLES, ids=[section for section, _ in TABLES])
def test_section_has_one_table_of_complete_rows(section: str, table: list[list[str]]) -> None:
    header, rule, *rows = table

    assert header == HEADER
    assert rule == ["---"] * 4
    assert rows
    assert [row for row in rows if len(row) != 4 or not all(row)] == [], section


def test_each_row_has_an_entry_and_each_entry_a_row() -> None:
    assert [(section, sorted(row[0] for row in rows)) for section, (_, _, *rows) in TABLES] == [
        (section, sorted(entries)) for section, entries in EXERCISED_BY.items()
    ]
    assert all(tests for entries in EXERCISED_BY.values() for tests in entries.values())


@pytest.mark.parametrize(("row", "test"), TESTS, ids=[test for _, test in TESTS])
def test_named_test_exists(row: str, test: str) -> None:
    path, _, name = test.partition("::")

    assert re.fullmatch(r"(\w+/)*test_\w+\.py", path), row
    assert name.startswith("test_")
    assert name in functions(path)


@pytest.mark.parametrize("section", EXERCISED_BY)
def test_recordings_register_exactly_the_rows_that_are_marked(section: str) -> None:
    marked = {row for row, tests in EXERCISED_BY[section].items() if RECORDING in tests}

    assert set(RECORDED[section][1]) == marked


@pytest.mark.parametrize(
    ("section", "row"), REGISTERED, ids=[f"{section}: {row}" for section, row in REGISTERED]
)
def test_a_recording_needs_each_registered_row(section: str, row: str) -> None:
    """With all changes the peer's pod equals the webhook's; without this one it does not."""
    dialect, changes, answer = RECORDED[section]

    def needs_row(recording: Recording) -> bool:
        expected = apply_changes(recording, changes)
        if apply_changes(recording, changes, without=row) == expected:
            return False
        return normalized(answer(recording)[1]) == expected

    assert any(needs_row(recording) for recording in load_recordings(dialect))
