"""How long a schedule of cron's may leave between two runs: never less than it does, and reckoned as the chart does it in its own words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from cwii_webhook.settings.flags import parse_duration

MINUTE, HOUR, DAY = 60, 3600, 86400
WEEK, MONTH, YEAR = 7 * DAY, 31 * DAY, 366 * DAY
_SHORTEST, _LONGEST = 28, 31  # months, in days
_SKIPPED, _LEAP = (
    62,
    8 * YEAR,
)  # the 31st is not in every month (in days), and the 29th of February not in every fourth year
_NAMED = {
    "@hourly": HOUR,
    "@daily": DAY,
    "@midnight": DAY,
    "@weekly": WEEK,
    "@monthly": MONTH,
    "@yearly": YEAR,
    "@annually": YEAR,
}
_EVERY = "@every "
_PART = re.compile(
    r"(?P<all>[*?])?(?(all)|(?P<low>[0-9]{1,2})(-(?P<high>[0-9]{1,2}))?)(/(?P<step>0*[1-9][0-9]{0,2}))?"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_WORDS = {
    **{name: str(number) for number, name in enumerate(_MONTHS, 1)},
    **{name: str(number) for number, name in enumerate(_WEEKDAYS)},
}
_BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))


def gap(schedule: str) -> int:
    """In seconds. That a number is within its bounds the API servers see to."""
    if schedule in _NAMED:
        return _NAMED[schedule]
    if schedule.startswith(_EVERY):
        return max(1, math.ceil(parse_duration(schedule.removeprefix(_EVERY))))
    fields = _numbered(schedule).split()
    if len(fields) != len(_BOUNDS):
        raise _no_schedule()
    minutes, hours, days, months, weekdays = (
        _numbers(field, *bounds) for field, bounds in zip(fields, _BOUNDS, strict=True)
    )
    if (apart := _widest(months, 12)) > 1:
        return _LEAP if days[0] > _SHORTEST and _any(fields[4]) else min(apart * MONTH, YEAR)
    if (apart := _days(fields, days, weekdays)) > 1:
        return apart * DAY
    if (apart := _widest(hours, 24)) > 1:
        return apart * HOUR
    return _widest(minutes, 60) * MINUTE


def told(seconds: int) -> str:
    """As a duration: 6h, 5m, or 90s."""
    return next(
        f"{seconds // unit}{letter}"
        for unit, letter in ((HOUR, "h"), (MINUTE, "m"), (1, "s"))
        if seconds % unit == 0
    )


def _numbered(schedule: str) -> str:
    """With numbers for the names of months and of days."""
    text = schedule.lower()
    for name, number in _WORDS.items():
        text = text.replace(name, number)
    return text


def _numbers(field: str, least: int, most: int) -> Sequence[int]:
    """What it stands for, in order."""
    numbers = {number for part in field.split(",") for number in _range(part, least, most)}
    if not numbers:
        raise _no_schedule()
    return sorted(numbers)


def _range(part: str, least: int, most: int) -> Iterable[int]:
    """One number with steps is the first of all from there."""
    found = _PART.fullmatch(part)
    if not found:
        raise _no_schedule()
    low = int(found["low"] or least)
    high = int(found["high"] or (most if found["all"] or found["step"] else low))
    return range(low, high + 1, int(found["step"] or 1))


def _days(fields: Sequence[str], days: Sequence[int], weekdays: Sequence[int]) -> int:
    """Where they are said two ways, either will do: the one that comes sooner counts."""
    in_week, in_month = _widest(weekdays, 7), _in_month(days)
    if _any(fields[2]):
        return in_week
    return in_month if _any(fields[4]) else min(in_week, in_month)


def _in_month(days: Sequence[int]) -> int:
    if days[0] > _SHORTEST:
        return _SKIPPED
    return max(
        _widest([day for day in days if day <= length], length)
        for length in range(_SHORTEST, _LONGEST + 1)
    )


def _widest(numbers: Sequence[int], around: int) -> int:
    """From one to the next, and from the last to the first."""
    return max(
        number - before
        for before, number in zip((numbers[-1] - around, *numbers), numbers, strict=False)
    )


def _any(field: str) -> bool:
    """Whether cron takes it for not said, which a list of all is not."""
    return any(re.fullmatch(r"[*?](/0*1)?", part) for part in field.split(","))


def _no_schedule() -> ValueError:
    return ValueError("write five words as cron has them, such as 23 */6 * * *, or @daily")
