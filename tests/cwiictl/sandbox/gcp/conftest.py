"""A fresh sandbox for each test, and somebody who owns its project."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cwiictl.sandbox.conftest import entering
from tests.cwiictl.sandbox.gcp.owner import Begin, Owner


@pytest.fixture
def begin() -> Iterator[Begin]:
    yield from entering(Owner)


@pytest.fixture
def owner(begin: Begin) -> Owner:
    """Where nothing takes its time."""
    return begin(deploy=0)


@pytest.fixture(autouse=True)
def nobodys_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No SDK must look at who runs the tests."""
    for name in (
        "HTTPS_PROXY",
        "https_proxy",
        "NO_PROXY",
        "no_proxy",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "GOOGLE_CLOUD_PROJECT",
        "STORAGE_EMULATOR_HOST",
    ):
        monkeypatch.delenv(name, raising=False)
