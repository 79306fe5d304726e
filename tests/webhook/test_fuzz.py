"""Whatever bytes come, they are answered: with 400, or as an API server can read it; soon, and without eating memory."""

from __future__ import annotations

import time
from collections import Counter
from itertools import islice

import pytest

from tests.webhook.fuzz import MEMORY, bodies, counters, judged, memory


def answered(seed: int, *, least: int, seconds: float) -> Counter[int]:
    """Statuses, and how often each came."""
    every, found, until, before = counters(), Counter[int](), time.monotonic() + seconds, memory()
    for number, body in enumerate(bodies(seed)):
        if number >= least and time.monotonic() > until:
            break
        found[judged(every[number % len(every)], body)] += 1
    assert memory() - before < MEMORY
    return found


def test_one_seed_makes_the_same_bodies_again() -> None:
    assert list(islice(bodies(3), 50)) == list(islice(bodies(3), 50))


def test_a_few_hundred_bodies_that_are_nearly_reviews_are_all_answered() -> None:
    assert answered(seed=1, least=400, seconds=0).keys() == {200, 400}


@pytest.mark.soak
def test_half_a_minute_of_them_is() -> None:
    assert answered(seed=2, least=1000, seconds=30).keys() == {200, 400}
