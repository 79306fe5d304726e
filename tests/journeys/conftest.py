"""Ground to walk on: each test its own sandbox and folder."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from cwiictl.sandbox import Sandbox, Settings
from tests.examples import two_requests
from tests.journeys.ground import Ground

Enter = Callable[..., Ground]
G = TypeVar("G", bound=Ground)


def entering(
    folder: Path, kind: Callable[[Sandbox, Path], G], requests: Mapping[str, str], **always: object
) -> Generator[Callable[..., G]]:
    """Ground of a kind over a sandbox with these settings, with these requests on it."""
    with ExitStack() as stack:

        def start(**settings: object) -> G:
            sandbox = stack.enter_context(Sandbox(Settings(**{**always, **settings})))  # pyright: ignore[reportArgumentType] - each test gives what Settings takes
            work = folder / "work"
            work.mkdir()
            ground = kind(sandbox, work)
            ground.requests(requests)
            return ground

        yield start


def undisturbed(
    folder: Path,
    kind: Callable[[Sandbox, Path], Ground],
    requests: Mapping[str, str],
    **settings: object,
) -> Any:
    """How a run for these requests ends that nothing has disturbed."""
    with contextmanager(entering)(folder, kind, requests, **settings) as enter:
        ground = enter()
        assert ground.create_all().code == 0
        return ground.everything()


@pytest.fixture
def enter(tmp_path: Path) -> Iterator[Enter]:
    yield from entering(tmp_path, Ground, two_requests())


@pytest.fixture
def ground(enter: Enter) -> Ground:
    return enter()


@pytest.fixture(scope="session")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Made first, because one sandbox runs at a time."""
    return undisturbed(tmp_path_factory.mktemp("clean"), Ground, two_requests())


@pytest.fixture(autouse=True)
def nobodys_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """boto3 in this process must not look at who runs the tests."""
    for name in ("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
