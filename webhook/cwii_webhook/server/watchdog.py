"""Who hangs ends, and is started again. Nobody has to ask for that at a port, which another process may hold."""

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

SLICE = 1.0  # seconds
HANGS = 60  # slices without a beat
HELD = 600.0  # seconds until even who lets no other thread run ends: long, for those count too in which the whole process was stopped
STDERR = 2  # where the log is, too


class Watchdog:
    """Slices are counted, each as one however long it took: who was stopped as a whole, and goes on, has not hung."""

    def __init__(self) -> None:
        self._slices = self._heard = 0

    async def beat(self) -> None:
        while True:
            self._heard = self._slices
            await asyncio.sleep(SLICE)

    def watch(self, over: threading.Event, file: int) -> None:
        while self._slices - self._heard < HANGS:
            if self._slices % HANGS == 0:
                with suppress(RuntimeError):  # no thread can be started now
                    faulthandler.dump_traceback_later(HELD, exit=True, file=file)
            if over.wait(SLICE):
                faulthandler.cancel_dump_traceback_later()
                return
            self._slices += 1
        _end()


@contextmanager
def watched() -> Generator[Watchdog]:
    """Whatever is done meanwhile: if it hangs, the process ends with 1, and where it hung stands in the log. The watch is over before anybody forks."""
    pulse, over, file = Watchdog(), threading.Event(), _aside()
    watcher = threading.Thread(target=pulse.watch, args=(over, file), daemon=True)
    try:
        watcher.start()
    except RuntimeError:
        Log(STDERR).warning("nobody would see it if this hung: no thread can be started")
    try:
        yield pulse
    finally:
        over.set()
        if watcher.is_alive():
            watcher.join()
        os.close(file)


def _aside() -> int:
    """The log's file, opened once more so that nobody waits for its reader; where that cannot be, nothing is told there."""
    with suppress(OSError):
        return os.open("/proc/self/fd/2", os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY)
    return os.open(os.devnull, os.O_WRONLY)


def _end() -> None:
    """With a log of its own: another would first have to ask the loop."""
    try:
        stack = traceback.walk_stack(sys._current_frames()[threading.main_thread().ident or 0])  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - documented, for this
        places = [
            f"{frame.f_code.co_filename}:{line} {frame.f_code.co_name}" for frame, line in stack
        ]
        Log(STDERR).error("this hangs, and ends so that it is started again", at=tuple(places))
    finally:
        os._exit(1)
