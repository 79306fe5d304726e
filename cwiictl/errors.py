"""What can go wrong, in the user's words: what happened, what to do about it, and the exit code that says so.

One class per remedy or per way of going on; a sentence suffices for the rest. Nothing outside `stores/` has heard of an SDK's errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

MANY = 6  # in one line


class Problem(Exception):
    """One sentence of what happened, and one of what to do."""

    code: ClassVar[int] = 1

    def __init__(self, problem: str, *, remedy: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.remedy = remedy


class BadInput(Problem):
    """What was asked for cannot be meant: found before the first call to a cloud."""

    code = 2


class Conflict(Problem):
    """Something that is not ours is in the way."""

    code = 4


class Denied(Problem):
    """The cloud knows who asks, and will not do it for them."""


def few(names: Sequence[str], most: int) -> str:
    """So many by name, for people who read no more; the rest is counted."""
    return f"{', '.join(names[:most])}{f' and {len(names) - most} more' if names[most:] else ''}"


def listed(rights: Iterable[tuple[str, str]]) -> str:
    """What is lacking of what, a line for each, after what was said of it: nobody reads fifty of them in one."""
    groups: dict[str, dict[str, None]] = {}
    for of, right in rights:
        groups.setdefault(of, {})[right] = None
    return "".join(f"\n{of}: {', '.join(some)}" for of, some in groups.items())


class Failed(Problem):
    """The cloud, the disk or the network said no, and trying again would not help."""


class NotYet(Problem):
    """Not wrong, only early. `after` is the seconds that the cloud asked for."""

    def __init__(self, problem: str, *, remedy: str = "", after: float | None = None) -> None:
        super().__init__(problem, remedy=remedy)
        self.after = after


class Throttled(NotYet):
    """Too much at once: the engine becomes narrower and waits."""
