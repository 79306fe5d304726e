"""After which of its writes a run is killed: after all of these in the soak test, after some of them whenever anything is tested."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

STEP = 5  # of so many one is quick


def after(writes: Sequence[int]) -> list[Any]:
    """The first is always among the quick ones, and the last."""
    quick = {*writes[::STEP], writes[-1]}
    return [n if n in quick else pytest.param(n, marks=pytest.mark.soak) for n in writes]
