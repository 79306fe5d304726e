"""Time that passes only when all wait for it: no test sleeps."""

from __future__ import annotations

from cwiictl.engine.pace import Pace
from cwiictl.engine.workers import News


class FakeClock:
    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def listen(self, news: News, seconds: float | None, *, running: bool) -> None:
        """While calls are under way no time passes; when all wait, it passes at once."""
        if running or seconds is None:
            news.put(news.get(timeout=10))
        elif news.empty():
            self.time += seconds


def a_pace(width: int = 4, clock: FakeClock | None = None) -> Pace:
    return Pace(width, clock=clock or FakeClock(), jitter=lambda _low, high: high)
