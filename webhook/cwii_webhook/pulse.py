"""Who hangs ends, and is started again. Nobody has to ask for that at a port, which another process may hold."""

from __future__ import annotations

import asyncio
import faulthandler

HANGS = 60.0  # seconds without a beat
BEAT = 1.0
STDERR = 2  # where the log is, too


async def beat() -> None:
    """For ever. Where it stops without having been told to, the process ends with 1, and where it hung stands behind the log."""
    try:
        while True:
            faulthandler.dump_traceback_later(HANGS, exit=True, file=STDERR)
            await asyncio.sleep(BEAT)
    finally:
        faulthandler.cancel_dump_traceback_later()
