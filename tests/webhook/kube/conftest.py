"""Tests that are coroutines run in a loop of their own, of the kind that serves; what they leave behind is found."""

from __future__ import annotations

import asyncio
import gc
import inspect
import warnings
from collections.abc import Iterator

import pytest
import uvloop

from tests.webhook.apiserver.running import RunningApiServer, run_apiserver

PATIENCE = 30.0  # seconds: whoever waits for a clock that nobody moves would wait for ever


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = inspect.signature(pyfuncitem.obj).parameters
    story = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in wanted})
    # What was left open is told at the end: a warning that is an error at once would keep uvloop from closing it, and then from ever ending.
    with warnings.catch_warnings(record=True, action="always") as left:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(asyncio.wait_for(story, PATIENCE))
        gc.collect()
    assert not [str(each.message) for each in left]
    return True


@pytest.fixture
def apiserver() -> Iterator[RunningApiServer]:
    with run_apiserver() as ground:
        yield ground
