"""Times as ARM writes them: seven digits after the second."""

from __future__ import annotations

import datetime as dt


def stamp(seconds: float) -> str:
    return f"{dt.datetime.fromtimestamp(seconds, dt.UTC):%Y-%m-%dT%H:%M:%S.%f}0Z"
