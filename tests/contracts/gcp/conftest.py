"""Google Cloud's stores, on a sandbox."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cwiictl.clouds.gcp.stores import Stores
from cwiictl.sandbox import Sandbox
from tests.contracts.gcp.ground import connected


@pytest.fixture
def stores(sandbox: Sandbox) -> Iterator[Stores]:  # noqa: ARG001 - it must run first
    yield from connected()


@pytest.fixture
def rival(sandbox: Sandbox) -> Iterator[Stores]:  # noqa: ARG001 - it must run first
    """Another process."""
    yield from connected()
