"""Clouds that trust a cluster which is not there yet."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cwiictl.sandbox import Settings
from tests.federation.peopled import trusting
from tests.federation.world import World


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with trusting(Settings(deploy=0.2), tmp_path_factory.mktemp("world")) as world:
        yield world
