"""Ground in Azure: each test its own sandbox and folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cwiictl.sandbox import Sandbox, Settings
from tests.examples import two_azure_requests
from tests.journeys.azure.ground import AzureGround
from tests.journeys.conftest import entering

Enter = Callable[..., AzureGround]


@pytest.fixture
def enter(tmp_path: Path) -> Iterator[Enter]:
    yield from entering(tmp_path, AzureGround, two_azure_requests(), deploy=0.2)


@pytest.fixture
def ground(enter: Enter) -> AzureGround:
    return enter()


@pytest.fixture(scope="session")
def clean_azure(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """How a run for two requests ends that nothing has disturbed. Made first, because one sandbox runs at a time."""
    with Sandbox(Settings(deploy=0.2)) as sandbox:
        ground = AzureGround(sandbox, tmp_path_factory.mktemp("clean"))
        ground.requests(two_azure_requests())
        assert ground.create_all().code == 0
        return ground.everything()
