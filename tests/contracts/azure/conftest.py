"""Azure's stores, on a sandbox."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cwiictl.clouds.azure.resources.resource_group import ResourceGroupState
from cwiictl.clouds.azure.resources.storage_account import ContainerState
from cwiictl.clouds.azure.stores import Stores
from cwiictl.engine.resource import Mark
from cwiictl.sandbox import Sandbox
from cwiictl.sandbox.azure.world import SECOND
from tests.contracts.azure.ground import (
    ACCOUNT,
    CLUSTER,
    CONTAINER,
    GROUP,
    an_account,
    connected,
)
from tests.contracts.store import Specimen


@pytest.fixture
def stores(sandbox: Sandbox) -> Iterator[Stores]:  # noqa: ARG001 - it must run first
    yield from connected()


@pytest.fixture
def rival(sandbox: Sandbox) -> Iterator[Stores]:  # noqa: ARG001 - it must run first
    """Another process."""
    yield from connected()


@pytest.fixture
def beside(sandbox: Sandbox) -> Iterator[Stores]:  # noqa: ARG001 - it must run first
    """In the other subscription."""
    yield from connected(SECOND)


@pytest.fixture
def group(stores: Stores) -> None:
    for name in (GROUP, CLUSTER):
        stores.groups.put(name, ResourceGroupState(region="eastus", owner=Mark(CLUSTER)), None)


@pytest.fixture
def account(stores: Stores, group: None) -> None:  # noqa: ARG001 - it must be there first
    Specimen(stores.accounts, f"{GROUP}/{ACCOUNT}", an_account(), an_account()).put(
        an_account(), Mark(CLUSTER)
    )


@pytest.fixture
def container(stores: Stores, account: None) -> None:  # noqa: ARG001 - it must be there first
    stores.containers.put(CONTAINER, ContainerState(owner=Mark(CLUSTER)), None)
