"""A result as lines."""

from __future__ import annotations

from typing import get_args

from cwiictl.actions.result import Condition
from cwiictl.cli.rendering import COLOURS


def test_every_condition_has_its_colour() -> None:
    assert COLOURS.keys() == set(get_args(Condition))
