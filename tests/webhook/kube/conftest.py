"""Runs coroutine tests in a uvloop event loop, and fails them for resources left open."""

from __future__ import annotations

import asyncio
import gc
import inspect
import warnings
from collections.abc import Iterator

import pytest
import uvloop

from tests.webhook.apiserver.running import RunningApiServer, run_apiserver

TEST_TIMEOUT = 30.0  # seconds; a test that waits for a stopped FakeClock would never end


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    parameters = inspect.signature(pyfuncitem.obj).parameters
    coroutine = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in parameters})
    # ResourceWarnings are checked at the end. As immediate errors they would keep uvloop from
    # closing the resource, and then the loop would never end.
    with warnings.catch_warnings(record=True, action="always") as caught:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(asyncio.wait_for(coroutine, TEST_TIMEOUT))
        gc.collect()
    assert not [str(warning.message) for warning in caught]
    return True


@pytest.fixture
def apiserver() -> Iterator[RunningApiServer]:
    with run_apiserver() as running:
        yield running
