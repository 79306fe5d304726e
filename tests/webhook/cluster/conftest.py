"""Tests that are coroutines run in a loop of their own: asyncio's, for uvloop's may not end where a connection was cut off the moment before."""

from __future__ import annotations

import asyncio
import gc
import inspect
import warnings
from collections.abc import Iterator

import pytest

from tests.webhook.apiserver.ground import Ground, an_apiserver

PATIENCE = 30.0  # seconds: whoever waits for a clock that nobody moves would wait for ever


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = inspect.signature(pyfuncitem.obj).parameters
    story = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in wanted})
    with asyncio.Runner() as runner:
        runner.run(asyncio.wait_for(story, PATIENCE))
    with warnings.catch_warnings(action="ignore"):  # a connection that was cut off while it was made is left to the collector
        gc.collect()
    return True


@pytest.fixture
def apiserver() -> Iterator[Ground]:
    with an_apiserver() as ground:
        yield ground
