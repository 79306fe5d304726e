"""A real cluster for tests. One is shared by all processes of pytest; whoever stops it, or looks at all that is in it, has one of his own."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.cluster import traces
from tests.cluster.kube import recipe
from tests.cluster.kube.build import built
from tests.cluster.kube.cluster import Cluster, Settings
from tests.cluster.kube.missing import Missing
from tests.cluster.kube.reach import Reach
from tests.cluster.kube.shared import shared
from tests.cluster.kubeconfigs import Config
from tests.cluster.shop import Shop, opened

BUILDING = 1800  # seconds that a first test may take: its programs may have to be built


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = os.path.dirname(__file__)  # noqa: PTH120  # as pytest compares it
    if not built(recipe.SERVER, recipe.NODE):
        for item in items:
            if str(item.path).startswith(here):
                item.add_marker(pytest.mark.timeout(BUILDING), append=False)


@contextmanager
def skipped_where_missing() -> Generator[None]:
    """With what is missing. In CI nothing may be."""
    try:
        yield
    except Missing as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(missing))


@contextmanager
def started(settings: Settings) -> Generator[Cluster]:
    with skipped_where_missing():
        cluster = Cluster(settings)
    with cluster:
        yield cluster


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The same for all processes of this run."""
    above = tmp_path_factory.getbasetemp()
    return (above if worker_id == "master" else above.parent) / "cluster"


@pytest.fixture(scope="session")
def reach(place: Path) -> Generator[Reach]:
    """Two API servers on one etcd. Nobody makes ServiceAccounts or runs pods there, and nobody but you is in a namespace that you have made."""
    with ExitStack() as stack:
        with skipped_where_missing():
            reach = stack.enter_context(shared(place))
        yield reach


@pytest.fixture(scope="session")
def machine() -> dict[str, object]:
    """As it is before there was a node."""
    return traces.machine()


@pytest.fixture(scope="session")
def node(machine: dict[str, object]) -> Generator[Cluster]:
    """With a kubelet and all controllers: pods run. For tests that are marked soak."""
    del machine  # is looked at before
    with started(Settings(node=True)) as cluster:
        yield cluster


@pytest.fixture
def shop(reach: Reach, tmp_path: Path) -> Generator[Shop]:
    with opened(reach, tmp_path) as shop:
        yield shop


@pytest.fixture
def config(reach: Reach, tmp_path: Path) -> Config:
    return Config(reach, tmp_path)
