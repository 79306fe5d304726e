"""Ground in Azure: each test its own sandbox and folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.examples import two_azure_requests
from tests.journeys.azure.ground import AzureGround
from tests.journeys.conftest import entering, undisturbed

Enter = Callable[..., AzureGround]


@pytest.fixture
def enter(tmp_path: Path) -> Iterator[Enter]:
    yield from entering(tmp_path, AzureGround, two_azure_requests(), deploy=0.2)


@pytest.fixture
def ground(enter: Enter) -> AzureGround:
    return enter()


@pytest.fixture(scope="session")
def clean_azure(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Made first, because one sandbox runs at a time."""
    return undisturbed(
        tmp_path_factory.mktemp("clean"), AzureGround, two_azure_requests(), deploy=0.2
    )
