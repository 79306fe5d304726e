"""Before a new key signs, every cloud takes it, steadily, and until what they may remember of the old set is past."""

from __future__ import annotations

import pytest

from cwiictl.actions.soak import STEADY, tried
from cwiictl.engine.pace import Pace
from cwiictl.engine.resource import Event, Report, silent
from cwiictl.errors import NotYet
from tests.clock import FakeClock


class Cloud:
    """It takes a token from a certain time on, but for the tries that it fails."""

    def __init__(
        self, clock: FakeClock, since: float = 0, fails: frozenset[int] = frozenset()
    ) -> None:
        self.clock, self.since, self.fails, self.tries = clock, since, fails, 0

    def __call__(self) -> str:
        self.tries += 1
        return (
            ""
            if self.clock.now() >= self.since and self.tries not in self.fails
            else "it knows no such key"
        )


def soak(clock: FakeClock, seconds: int, report: Report = silent, **clouds: Cloud) -> None:
    tried(clouds, lambda: max(seconds - int(clock.now()), 0), Pace(clock=clock), report)


def test_a_cloud_that_takes_it_at_once_is_asked_five_times() -> None:
    clock = FakeClock()
    cloud = Cloud(clock)

    soak(clock, 0, AWS=cloud)

    assert cloud.tries == STEADY
    assert clock.now() == pytest.approx(8, abs=1)


def test_the_soak_passes_though_all_take_it() -> None:
    clock = FakeClock()

    soak(clock, 3600, AWS=Cloud(clock), Azure=Cloud(clock))

    assert 3600 <= clock.now() < 3640


def test_how_long_it_goes_on_is_told_now_and_then() -> None:
    told: list[str] = []

    def hear(event: Event) -> None:
        if event.what == "waiting" and "--soak goes on for" in event.why and event.why not in told:
            told.append(event.why)

    soak(clock := FakeClock(), 3600, hear, AWS=Cloud(clock))

    assert [each.rpartition(" for ")[2] for each in told] == [
        f"{left} min" for left in (60, 50, 40, 30, 20, *range(10, 0, -1))
    ]


def test_a_cloud_that_remembers_longer_than_the_soak_is_waited_for() -> None:
    clock = FakeClock()

    soak(clock, 60, AWS=Cloud(clock), Azure=Cloud(clock, since=300))

    assert clock.now() >= 300


def test_one_refusal_in_between_begins_the_count_anew() -> None:
    clock = FakeClock()
    cloud = Cloud(clock, fails=frozenset({STEADY}))

    soak(clock, 0, AWS=cloud)

    assert cloud.tries == 2 * STEADY


def test_a_cloud_that_never_takes_it_ends_it_with_its_own_words() -> None:
    clock, told = FakeClock(), list[Event]()

    with pytest.raises(
        NotYet, match="AWS does not take tokens of the new key yet: it knows no such key"
    ):
        tried({"AWS": Cloud(clock, since=10**9)}, lambda: 0, Pace(clock=clock), told.append)

    assert any(event.what == "waiting" for event in told)
