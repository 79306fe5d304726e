"""How long a schedule of cron's may leave between two runs: never less than it does, and no more than the chart can tell in its own words."""

from __future__ import annotations

import re

MINUTE, HOUR, DAY = 60, 3600, 86400
WEEK, MONTH, YEAR = 7 * DAY, 31 * DAY, 366 * DAY
DAY_OF_MONTH, DAY_OF_YEAR = 62 * DAY, 8 * YEAR  # the 31st is not in every month, and the 29th of February not in every fourth year
_NAMED = {"@hourly": HOUR, "@daily": DAY, "@midnight": DAY, "@weekly": WEEK, "@monthly": MONTH, "@yearly": YEAR, "@annually": YEAR}
_FIELD = re.compile(r"[0-9A-Za-z*?/,-]+")
_EVERY, _STEPS = re.compile(r"[*?](/1)?"), re.compile(r"\*/(?P<steps>[1-9][0-9]?)")


def gap(schedule: str) -> int:
    """In seconds. Of fields in which days are said two ways, the one that comes sooner counts, as cron has it."""
    if schedule in _NAMED:
        return _NAMED[schedule]
    fields = schedule.split()
    if len(fields) != 5 or not all(_FIELD.fullmatch(field) for field in fields):
        raise ValueError("write five words as cron has them, such as 23 */6 * * *, or @daily")
    minute, hour, day, month, weekday = fields
    if not _EVERY.fullmatch(month):
        return DAY_OF_YEAR
    if not _EVERY.fullmatch(weekday):
        return WEEK
    if not _EVERY.fullmatch(day):
        return DAY_OF_MONTH
    if not _EVERY.fullmatch(hour):
        return _steps(hour, HOUR, DAY)
    return MINUTE if _EVERY.fullmatch(minute) else _steps(minute, MINUTE, HOUR)


def told(seconds: int) -> str:
    """As a duration: 6h, or 5m."""
    return f"{seconds // HOUR}h" if seconds % HOUR == 0 else f"{seconds // MINUTE}m"


def _steps(field: str, one: int, all_of_them: int) -> int:
    found = _STEPS.fullmatch(field)
    return min(int(found["steps"]) * one, all_of_them) if found else all_of_them
