"""A real cluster for tests. Each process of pytest has its own: it takes seconds, and what one test stops or counts disturbs nobody."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from tests.cluster import traces
from tests.cluster.kube import recipe
from tests.cluster.kube.build import built
from tests.cluster.kube.cluster import Cluster, Settings
from tests.cluster.kube.missing import Missing

BUILDING = 1800  # seconds that a first test may take: its programs may have to be built


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = os.path.dirname(__file__)  # noqa: PTH120  # as pytest compares it
    if not built(recipe.SERVER, recipe.NODE):
        for item in items:
            if str(item.path).startswith(here) and not item.get_closest_marker("timeout"):
                item.add_marker(pytest.mark.timeout(BUILDING))


@contextmanager
def started(settings: Settings) -> Generator[Cluster]:
    """Or the test is skipped, with what is missing. In CI nothing may be."""
    try:
        cluster = Cluster(settings)
    except Missing as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(missing))
    with cluster:
        yield cluster


@pytest.fixture(scope="session")
def cluster() -> Generator[Cluster]:
    """kube-apiserver and etcd. Nobody makes ServiceAccounts or runs pods in it."""
    with started(Settings()) as cluster:
        yield cluster


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
