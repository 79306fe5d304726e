"""Where we do not do what the webhook that we replace does, and why its users would want it so: a module for each dialect, with its table ALL."""

from __future__ import annotations

from msgspec import Struct


class Difference(Struct, frozen=True, gc=False):
    """`name` is what a test says of a recorded answer that is not ours."""

    name: str
    theirs: str
    ours: str
    reason: str
