"""What can be seen of a cluster from outside: its processes, and what comes in time."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def processes_in(folder: Path) -> list[str]:
    """Those that name it."""
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if str(folder) in command:
            found.append(command)
    return found


def seen_within(seconds: float, true: Callable[[], object]) -> bool:
    """Whether it came to be so."""
    until = time.monotonic() + seconds
    while not (seen := true()) and time.monotonic() < until:
        time.sleep(0.1)
    return bool(seen)
