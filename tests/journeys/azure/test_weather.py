"""A cloud that throttles, fails and shows late what was written: the run takes longer, and ends the same."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.examples import a_dozen_azure_requests
from tests.journeys.azure.conftest import Enter
from tests.journeys.azure.ground import NOTHING, AzureGround


def bad(ground: AzureGround) -> None:
    ground.sandbox.faults.rate, ground.sandbox.faults.lag = 0.2, 2.0


def good(ground: AzureGround) -> None:
    """And all that was written shows."""
    time.sleep(ground.sandbox.faults.lag)
    ground.sandbox.faults.rate = ground.sandbox.faults.lag = 0.0


@pytest.mark.soak
def test_one_request_in_five_failing_and_two_seconds_of_lag_change_nothing(clean_azure: Any, enter: Enter) -> None:
    ground = enter(failures=0.2, lag=2.0, seed=1, deploy=0.2)

    done = ground.create_all()

    assert done.code == 0, done.out
    assert any(seen.status in {429, 500, 503} for seen in ground.sandbox.record)
    good(ground)
    assert ground.everything() == clean_azure
    bad(ground)
    assert ground.delete("--yes", "--delete-oidc-resource-group").code == 0
    good(ground)
    assert ground.clouds() == NOTHING


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1, 6))
def test_a_dozen_requests_come_through_bad_weather(enter: Enter, seed: int) -> None:
    ground = enter(failures=0.2, lag=2.0, seed=seed)
    ground.requests(a_dozen_azure_requests())

    done = ground.create_all()

    assert done.code == 0, done.out
    assert len(done.things) == 41
    good(ground)
    clouds = ground.clouds()
    assert (len(clouds["identities"]), len(clouds["roles"]), len(clouds["assignments"])) == (12, 6, 14)
    bad(ground)
    assert ground.delete("--yes").code == 0
    good(ground)
    assert ground.clouds() == {**NOTHING, "groups": clouds["groups"]}


def test_a_throttled_run_says_on_request_what_it_waits_for(enter: Enter) -> None:
    ground = enter(failures=0.2, seed=4)

    done = ground.create_all("--debug")

    assert done.code == 0
    assert "Azure asks for patience" in done.err
