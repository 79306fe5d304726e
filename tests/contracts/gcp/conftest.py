"""A sandbox, and Google Cloud's stores on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cwiictl.clouds.gcp.stores import Stores
from cwiictl.sandbox import Sandbox, Settings
from tests.contracts.gcp.ground import (
    connected,
)


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    with Sandbox(Settings(deploy=0.0)) as running:
        for name, value in running.variables().items():
            monkeypatch.setenv(name, value)
        yield running


@pytest.fixture
def stores(sandbox: Sandbox) -> Iterator[Stores]:  # noqa: ARG001 - it must run first
    yield from connected()


@pytest.fixture
def rival(sandbox: Sandbox) -> Iterator[Stores]:  # noqa: ARG001 - it must run first
    """Another process."""
    yield from connected()
