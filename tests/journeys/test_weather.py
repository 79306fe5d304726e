"""A cloud that throttles, fails and shows late what was written: the run takes longer, and ends the same."""

from __future__ import annotations

from typing import Any

import pytest

from tests.journeys import weather
from tests.journeys.conftest import Enter
from tests.journeys.ground import NOTHING
from tests.journeys.release import twenty_requests


def test_one_request_in_five_failing_and_two_seconds_of_lag_change_nothing(
    clean: Any, enter: Enter
) -> None:
    weather.changes_nothing(enter(failures=0.2, lag=2.0, seed=1), clean, NOTHING)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1, 6))
def test_twenty_requests_come_through_bad_weather(enter: Enter, seed: int) -> None:
    ground = enter(failures=0.2, lag=2.0, seed=seed)
    ground.requests(twenty_requests())

    done = ground.create_all()

    assert done.code == 0, done.out
    assert len(done.things) == 28
    assert ground.delete("--yes").code == 0
    weather.good(ground)
    assert ground.clouds() == NOTHING


def test_a_throttled_run_says_on_request_what_it_waits_for(enter: Enter) -> None:
    weather.told(enter(failures=0.2, seed=4), "AWS")
