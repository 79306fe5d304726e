"""Ground in Google Cloud: each test its own sandbox and folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from cwiictl.sandbox import Sandbox, Settings
from tests.examples import two_gcp_requests
from tests.journeys.gcp.ground import GcpGround

Enter = Callable[..., GcpGround]


@pytest.fixture
def enter(tmp_path: Path) -> Iterator[Enter]:
    """Ground over a sandbox with these settings, with two requests on it."""
    with ExitStack() as stack:

        def start(**settings: object) -> GcpGround:
            sandbox = stack.enter_context(Sandbox(Settings(**{"deploy": 0.2, **settings})))  # pyright: ignore[reportArgumentType]  # each test gives what Settings takes
            work = tmp_path / "work"
            work.mkdir()
            ground = GcpGround(sandbox, work)
            ground.requests(two_gcp_requests())
            return ground

        yield start


@pytest.fixture
def ground(enter: Enter) -> GcpGround:
    return enter()


@pytest.fixture(scope="session")
def clean_gcp(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """How a run for two requests ends that nothing has disturbed. Made first, because one sandbox runs at a time."""
    with Sandbox(Settings(deploy=0.2)) as sandbox:
        ground = GcpGround(sandbox, tmp_path_factory.mktemp("clean"))
        ground.requests(two_gcp_requests())
        assert ground.create_all().code == 0
        return ground.everything()
