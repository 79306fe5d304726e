"""Two things timed in turns within one run: the machine's own pace is in both, so their ratio says something."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

Named = tuple[str, Callable[[], object]]


@dataclass(frozen=True)
class Ratio:
    what: str
    against: str
    seconds: float
    against_seconds: float
    goal: str = ""
    scale: float = (
        1e3  # what a figure is shown in: seconds as milliseconds, and what is no time as it is
    )

    @property
    def times(self) -> float:
        return self.seconds / self.against_seconds


def measure(this: Named, against: Named, *, goal: str = "", rounds: int = 15) -> Ratio:
    """Medians of `rounds` each, after one of each that does not count."""
    (what, run), (other, run_other) = this, against
    run()
    run_other()
    pairs = [(_timed(run), _timed(run_other)) for _ in range(rounds)]
    mine, theirs = zip(*pairs, strict=True)
    return Ratio(what, other, statistics.median(mine), statistics.median(theirs), goal)


def _timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
