"""How long a schedule leaves between two runs: what it really does is never longer."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from cwiictl.install.schedule import gap, told

MINUTE, HOUR, DAY = 60, 3600, 86400


SCHEDULES: Mapping[str, int] = {
    "* * * * *": MINUTE,
    "*/1 * * * *": MINUTE,
    "*/5 * * * *": 5 * MINUTE,
    "*/90 * * * *": HOUR,
    "7 * * * *": HOUR,
    "0,30 * * * *": HOUR,
    "23 */6 * * *": 6 * HOUR,
    "23 */36 * * *": DAY,
    "0 3,15 * * *": DAY,
    "0 3 * * ?": DAY,
    "0 3 * * 1-5": 7 * DAY,
    "0 3 31 * *": 62 * DAY,
    "0 3 1 * MON": 7 * DAY,
    "0 3 29 FEB *": 8 * 366 * DAY,
    "@hourly": HOUR,
    "@weekly": 7 * DAY,
    "@monthly": 31 * DAY,
}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_schedule_leaves_so_much_at_most(schedule: str) -> None:
    assert gap(schedule) == SCHEDULES[schedule]


@pytest.mark.parametrize("schedule", ["", "* * * *", "* * * * * *", "@often", "@every 1h", "TZ=Asia/Tokyo * * * * *", "0 3 * * $"])
def test_what_is_no_schedule_is_told(schedule: str) -> None:
    with pytest.raises(ValueError, match="write five words as cron has them"):
        gap(schedule)


@pytest.mark.parametrize(("seconds", "text"), [(60, "1m"), (5400, "90m"), (21600, "6h")])
def test_it_is_told_as_a_duration(seconds: int, text: str) -> None:
    assert told(seconds) == text
