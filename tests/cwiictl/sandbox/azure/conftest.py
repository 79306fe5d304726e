"""A fresh sandbox for each test, and somebody in its tenant."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cwiictl.sandbox.azure.manager import Manager
from tests.cwiictl.sandbox.azure.tenant import Begin, Tenant
from tests.cwiictl.sandbox.conftest import entering


@pytest.fixture
def begin() -> Iterator[Begin]:
    yield from entering(Tenant)


@pytest.fixture
def tenant(begin: Begin) -> Tenant:
    return begin()


@pytest.fixture
def manager(begin: Begin) -> Manager:
    """Where nothing takes its time."""
    return Manager(begin(deploy=0))


@pytest.fixture(autouse=True)
def nobodys_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No SDK must look at who runs the tests."""
    for name in (
        "HTTPS_PROXY",
        "https_proxy",
        "NO_PROXY",
        "no_proxy",
        "AZURE_AUTHORITY_HOST",
        "AZURE_FEDERATED_TOKEN_FILE",
        "AZURE_TOKEN_CREDENTIALS",
    ):
        monkeypatch.delenv(name, raising=False)
