"""Ground in Google Cloud: each test its own sandbox and folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.examples import two_gcp_requests
from tests.journeys.conftest import entering, undisturbed
from tests.journeys.gcp.ground import GcpGround

Enter = Callable[..., GcpGround]


@pytest.fixture
def enter(tmp_path: Path) -> Iterator[Enter]:
    yield from entering(tmp_path, GcpGround, two_gcp_requests(), deploy=0.2)


@pytest.fixture
def ground(enter: Enter) -> GcpGround:
    return enter()


@pytest.fixture(scope="session")
def clean_gcp(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Made first, because one sandbox runs at a time."""
    return undisturbed(tmp_path_factory.mktemp("clean"), GcpGround, two_gcp_requests(), deploy=0.2)
