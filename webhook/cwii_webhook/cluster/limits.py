"""How often something may be done: so many at once after a rest, and then so many in a second."""

from __future__ import annotations

from cwii_webhook.cluster.clock import Clock


class Rate:
    def __init__(self, clock: Clock, *, per_second: float, burst: float) -> None:
        self._clock, self._per_second, self._burst = clock, per_second, burst
        self._left, self._since = burst, clock.now()

    def take(self) -> bool:
        now = self._clock.now()
        self._left = min(self._burst, self._left + (now - self._since) * self._per_second)
        self._since = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
