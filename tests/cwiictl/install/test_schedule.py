"""How long a schedule leaves between two runs: what it really does is never longer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from cwiictl.install.schedule import gap, told

MINUTE, HOUR, DAY = 60, 3600, 86400


SCHEDULES: Mapping[str, int] = {
    "* * * * *": MINUTE,
    "*/1 * * * *": MINUTE,
    "*/5 * * * *": 5 * MINUTE,
    "*/90 * * * *": HOUR,
    "7 * * * *": HOUR,
    "0,30 * * * *": 30 * MINUTE,
    "50,08 * * * *": 42 * MINUTE,
    "10/20 0-23 * * *": 20 * MINUTE,
    "23 */6 * * *": 6 * HOUR,
    "23 */36 * * *": DAY,
    "0 3,15 * * *": 12 * HOUR,
    "0 9-17 * * *": 16 * HOUR,
    "0 3 * * ?": DAY,
    "0 4 * 1-12 *": DAY,
    "0 4 1-31 * *": DAY,
    "0 4 1-31 * MON": DAY,
    "0 3 * * 1-5": 3 * DAY,
    "0 3 * * mon,Thu": 4 * DAY,
    "0 3 * * 0": 7 * DAY,
    "0 3 */2 * *": 2 * DAY,
    "0 3 */3 * *": 3 * DAY,
    "0 3 1,15 * *": 17 * DAY,
    "0 0 1 * *": 31 * DAY,
    "0 3 28 * *": 31 * DAY,
    "0 3 1,31 * *": 30 * DAY,
    "0 3 31 * *": 62 * DAY,
    "0 3 1 * MON": 7 * DAY,
    "0 3 */2 * MON": 2 * DAY,
    "0 3 1 */3 *": 93 * DAY,
    "0 3 * JAN-JUN MON": 7 * 31 * DAY,
    "0 3 1 1 *": 366 * DAY,
    "0 3 29 FEB *": 8 * 366 * DAY,
    "@hourly": HOUR,
    "@weekly": 7 * DAY,
    "@monthly": 31 * DAY,
    "@every 6h": 6 * HOUR,
    "@every 1m30.5s": 91,
    "@every 10ms": 1,
}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_schedule_leaves_so_much_at_most(schedule: str) -> None:
    assert gap(schedule) == SCHEDULES[schedule]


def drawn(least: int, most: int) -> SearchStrategy[frozenset[int]]:
    """No numbers are for what is not said."""
    return st.frozensets(st.integers(least, most), max_size=4)


@given(drawn(1, 31), drawn(1, 12), drawn(0, 6))
@example(frozenset({29}), frozenset({2}), frozenset())
@example(frozenset({31}), frozenset(), frozenset())
@example(frozenset({30, 31}), frozenset({2, 3}), frozenset({0}))
@settings(max_examples=100, deadline=None)
def test_no_two_days_of_a_schedule_are_further_apart(
    days: frozenset[int], months: frozenset[int], weekdays: frozenset[int]
) -> None:
    """The end of a century is no leap year."""
    every = [date(2092, 1, 1) + timedelta(day) for day in range(20 * 366)]
    runs = [day for day in every if (not months or day.month in months) and on(day, days, weekdays)]

    apart = max(((after - before).days for before, after in pairwise(runs)), default=0)

    assert apart * DAY <= gap(
        " ".join(["0 0", *(",".join(map(str, said)) or "*" for said in (days, months, weekdays))])
    )


def on(day: date, days: frozenset[int], weekdays: frozenset[int]) -> bool:
    """As cron has it: where both are said, either will do."""
    in_month, in_week = day.day in days, day.isoweekday() % 7 in weekdays
    return in_month or in_week or not (days or weekdays)


NONE = [
    "",
    "* * * *",
    "* * * * * *",
    "@often",
    "@every now",
    "TZ=Asia/Tokyo * * * * *",
    "0 3 * * $",
    "0 3 * * 1-",
    "5-1 * * * *",
    "*/0 * * * *",
    "0 3 * * X",
]


@pytest.mark.parametrize("schedule", NONE)
def test_what_is_no_schedule_is_told(schedule: str) -> None:
    with pytest.raises(ValueError, match=r"write five words as cron has them|say it as 30s"):
        gap(schedule)


@pytest.mark.parametrize(
    ("seconds", "text"), [(60, "1m"), (5400, "90m"), (21600, "6h"), (91, "91s")]
)
def test_it_is_told_as_a_duration(seconds: int, text: str) -> None:
    assert told(seconds) == text
