"""A sandbox, with this process in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cwiictl.sandbox import Sandbox, Settings


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    with Sandbox(Settings(deploy=0.0)) as running:
        for name, value in running.variables().items():
            monkeypatch.setenv(name, value)
        yield running
