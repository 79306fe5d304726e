"""Bad weather: a cloud that throttles, fails and shows late what was written. Walked in every cloud."""

from __future__ import annotations

import time
from typing import Any

from tests.journeys.ground import Ground


def bad(ground: Ground) -> None:
    ground.sandbox.faults.rate, ground.sandbox.faults.lag = 0.2, 2.0


def good(ground: Ground) -> None:
    """And all that was written shows."""
    time.sleep(ground.sandbox.faults.lag)
    ground.sandbox.faults.rate = ground.sandbox.faults.lag = 0.0


def changes_nothing(ground: Ground, clean: Any, nothing: Any, *how: str) -> None:
    """Made and taken down in it, all is as it would be without."""
    done = ground.create_all()

    assert done.code == 0, done.out
    assert any(seen.status in {400, 429, 500, 503} for seen in ground.sandbox.record)
    good(ground)
    assert ground.everything() == clean
    bad(ground)
    assert ground.delete("--yes", *how).code == 0
    good(ground)
    assert ground.clouds() == nothing


def told(ground: Ground, title: str) -> None:
    """Whoever asks is told what is waited for."""
    done = ground.create_all("--debug")

    assert done.code == 0
    assert f"{title} asks for patience" in done.err
