"""A cloud that throttles, fails and shows late what was written: the run takes longer, and ends the same."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.examples import twenty_requests
from tests.journeys.conftest import Enter
from tests.journeys.ground import NOTHING, Ground


def bad(ground: Ground) -> None:
    ground.sandbox.faults.rate, ground.sandbox.faults.lag = 0.2, 2.0


def good(ground: Ground) -> None:
    """And all that was written shows."""
    time.sleep(ground.sandbox.faults.lag)
    ground.sandbox.faults.rate = ground.sandbox.faults.lag = 0.0


def test_one_request_in_five_failing_and_two_seconds_of_lag_change_nothing(clean: Any, enter: Enter) -> None:
    ground = enter(failures=0.2, lag=2.0, seed=1)

    done = ground.create_all()

    assert done.code == 0, done.out
    assert any(seen.status in {400, 500, 503} for seen in ground.sandbox.record)
    good(ground)
    assert ground.everything() == clean
    bad(ground)
    assert ground.delete("--yes").code == 0
    good(ground)
    assert ground.clouds() == NOTHING


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1, 6))
def test_twenty_requests_come_through_bad_weather(enter: Enter, seed: int) -> None:
    ground = enter(failures=0.2, lag=2.0, seed=seed)
    ground.requests(twenty_requests())

    done = ground.create_all()

    assert done.code == 0, done.out
    assert len(done.things) == 28
    assert ground.delete("--yes").code == 0
    good(ground)
    assert ground.clouds() == NOTHING


def test_a_throttled_run_says_on_request_what_it_waits_for(enter: Enter) -> None:
    ground = enter(failures=0.2, seed=4)

    done = ground.create_all("--debug")

    assert done.code == 0
    assert "AWS asks for patience" in done.err
