"""A hosted control plane for each test, of each flavour or of one; and the processes that stand for its sidecar."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cwii_webhook.certificates.pem import KeyPair

from tests.cluster.hosted import DIALECTS, Hosted, hosting
from tests.cluster.kube.cluster import Cluster
from tests.cluster.kube.processes import Processes


@pytest.fixture(scope="module")
def ground() -> Iterator[tuple[Cluster, KeyPair]]:
    with hosting() as ground:
        yield ground


@pytest.fixture(params=DIALECTS)
def flavour(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def hosted(ground: tuple[Cluster, KeyPair], tmp_path: Path, flavour: str) -> Iterator[Hosted]:
    one = Hosted(*ground, tmp_path, flavour)
    yield one
    one.uninstall()


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    with Processes(tmp_path) as processes:
        yield processes


@pytest.fixture
def default(hosted: Hosted) -> None:
    """Whose pods it is tried with. Nobody here makes ServiceAccounts."""
    path = "/api/v1/namespaces/default/serviceaccounts"
    if not hosted.admin.exists(f"{path}/default"):
        hosted.admin.create(path, {"metadata": {"name": "default"}})
