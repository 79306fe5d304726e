"""Ends the process when the event loop or the start of the program stalls."""

# A liveness probe is not enough: another process may hold the port that the probe calls.

from __future__ import annotations

import asyncio
import faulthandler
import os
import sys
import threading
import traceback
from collections.abc import Generator
from contextlib import contextmanager, suppress

from cwii_webhook.telemetry.log import Log

TICK = 1.0  # seconds
MAX_MISSED_TICKS = 60  # ticks without a heartbeat
# Seconds until faulthandler ends a process in which no other thread can run, because one holds
# the GIL. The time is long because it includes the time for which the process is stopped.
GIL_TIMEOUT = 600.0
STDERR = 2  # the log goes to stderr, too


class Watchdog:
    """Counts ticks since the last heartbeat.

    A tick counts once however long it lasts. A process that was stopped by a signal and continues
    is therefore not considered stalled.
    """

    def __init__(self) -> None:
        self._ticks = self._last_heartbeat = 0

    async def send_heartbeats(self) -> None:
        while True:
            self._last_heartbeat = self._ticks
            await asyncio.sleep(TICK)

    def monitor(self, stop: threading.Event, output: int) -> None:
        while self._ticks - self._last_heartbeat < MAX_MISSED_TICKS:
            if self._ticks % MAX_MISSED_TICKS == 0:
                with suppress(RuntimeError):  # the system cannot start another thread
                    faulthandler.dump_traceback_later(GIL_TIMEOUT, exit=True, file=output)
            if stop.wait(TICK):
                faulthandler.cancel_dump_traceback_later()
                return
            self._ticks += 1
        _exit_stalled()


@contextmanager
def run_watchdog() -> Generator[Watchdog]:
    """Watch the body of the `with` statement.

    If the body stalls, the process logs the stack and ends with code 1. The thread ends with the
    body, so that no later fork copies it.
    """
    watchdog, stop, output = Watchdog(), threading.Event(), _open_nonblocking_log()
    thread = threading.Thread(target=watchdog.monitor, args=(stop, output), daemon=True)
    try:
        thread.start()
    except RuntimeError:
        Log(STDERR).warning("nobody would see it if this hung: no thread can be started")
    try:
        yield watchdog
    finally:
        stop.set()
        if thread.is_alive():
            thread.join()
        os.close(output)


def _open_nonblocking_log() -> int:
    """Open stderr a second time, so that a write cannot block. Fall back to /dev/null."""
    with suppress(OSError):
        return os.open("/proc/self/fd/2", os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY)
    return os.open(os.devnull, os.O_WRONLY)


def _exit_stalled() -> None:
    """Log the stack of the main thread and exit.

    Uses a separate Log, because the program's Log may wait for the stalled event loop to flush.
    """
    try:
        stack = traceback.walk_stack(sys._current_frames()[threading.main_thread().ident or 0])  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - documented for debugging
        frames = [
            f"{frame.f_code.co_filename}:{line} {frame.f_code.co_name}" for frame, line in stack
        ]
        Log(STDERR).error("this hangs, and ends so that it is started again", at=tuple(frames))
    finally:
        os._exit(1)
