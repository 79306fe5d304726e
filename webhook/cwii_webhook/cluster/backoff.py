"""How long to wait before the next try. Replicas that lost the same API server must not all come back at once."""

from __future__ import annotations

from dataclasses import dataclass

from cwii_webhook.cluster.clock import Clock

SHORTEST = 0.2  # seconds
LONGEST = 30.0


@dataclass
class Backoff:
    clock: Clock
    failures: int = 0

    def well(self) -> None:
        self.failures = 0

    def failed(self, after: float | None = None) -> float:
        """Seconds to wait; never less than the API server asked for."""
        top = min(SHORTEST * 2 ** min(self.failures, 16), LONGEST)
        self.failures += 1
        return (
            self.clock.jitter(top / 2, top) if after is None else after + self.clock.jitter(0, top)
        )
