"""A cloud that throttles, fails and shows late what was written: the run takes longer, and ends the same."""

from __future__ import annotations

from typing import Any

import pytest

from tests.journeys import weather
from tests.journeys.azure.conftest import Enter
from tests.journeys.azure.ground import NOTHING
from tests.journeys.azure.release import a_dozen_azure_requests


@pytest.mark.soak
def test_one_request_in_five_failing_and_two_seconds_of_lag_change_nothing(
    clean_azure: Any, enter: Enter
) -> None:
    weather.changes_nothing(
        enter(failures=0.2, lag=2.0, seed=1), clean_azure, NOTHING, "--delete-oidc-resource-group"
    )


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1, 6))
def test_a_dozen_requests_come_through_bad_weather(enter: Enter, seed: int) -> None:
    ground = enter(failures=0.2, lag=2.0, seed=seed)
    ground.requests(a_dozen_azure_requests())

    done = ground.create_all()

    assert done.code == 0, done.out
    assert len(done.things) == 41
    weather.good(ground)
    clouds = ground.clouds()
    assert (len(clouds["identities"]), len(clouds["roles"]), len(clouds["assignments"])) == (
        12,
        6,
        14,
    )
    weather.bad(ground)
    assert ground.delete("--yes").code == 0
    weather.good(ground)
    assert ground.clouds() == {**NOTHING, "groups": clouds["groups"]}


def test_a_throttled_run_says_on_request_what_it_waits_for(enter: Enter) -> None:
    weather.told(enter(failures=0.2, seed=4), "Azure")
