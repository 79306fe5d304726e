"""Several processes on one port. The first does not serve: it starts the others, and starts those again that end."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from types import FrameType

from cwii_webhook.telemetry.log import Log
from cwii_webhook.telemetry.metrics import Metrics

SIGNALS = (signal.SIGTERM, signal.SIGINT)
SOON = 5.0  # who ends within these seconds would end again: the next one waits a second

# Of a worker, its number, and what it reads the end of when whoever started it is gone.
Work = Callable[[int, int | None], int]


def run(count: int, work: Work, metrics: Metrics, log: Log) -> int:
    """Start `work` in `count` processes, until they are told to end. One alone needs nobody who starts it."""
    return work(0, None) if count == 1 else _Keeper(count, work, metrics, log).run()


def heed() -> None:
    """Until there is a server that ends in its own time, who is told to end does so, and well. The first process of a container would not even hear it."""
    for number in SIGNALS:
        signal.signal(number, lambda _number, _frame: os._exit(0))


class _Keeper:
    def __init__(self, count: int, work: Work, metrics: Metrics, log: Log) -> None:
        self._count = count
        self._work = work
        self._metrics = metrics
        self._log = log
        self._stopping = False
        self._pids: dict[int, int] = {}
        self._started: dict[int, float] = {}
        self._leash, self._hold = os.pipe()

    def run(self) -> int:
        self._metrics.share(self._count)
        before = {number: signal.signal(number, self._told) for number in SIGNALS}
        try:
            for number in range(self._count):
                self._start(number)
            return self._keep()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(self._leash)
            os.close(self._hold)

    def _told(self, number: int, _frame: FrameType | None) -> None:
        self._stopping = True
        for pid in self._pids:
            os.kill(pid, number)

    def _keep(self) -> int:
        worst = 0
        while self._pids:
            pid, status = os.wait()
            number = self._pids.pop(pid, None)
            if (
                number is None
            ):  # as the first process of a container, we are also told of others' children
                continue
            self._metrics.forget(number)
            code = os.waitstatus_to_exitcode(status)
            if self._stopping:
                worst = max(worst, abs(code))
                continue
            self._log.error("a worker ended, and is started again", worker=number, code=code)
            if time.monotonic() - self._started[number] < SOON:
                time.sleep(1.0)
            self._start(number)
        return worst

    def _start(self, number: int) -> None:
        """A signal that comes meanwhile waits, or it could find the new one not yet known."""
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            if self._stopping:
                return
            pid = os.fork()
            if pid == 0:
                self._be(number)
            self._pids[pid] = number
            self._started[number] = time.monotonic()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    def _be(self, number: int) -> None:
        code = 1
        try:
            os.close(self._hold)
            heed()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
            self._metrics.become(number)
            code = self._work(number, self._leash)
        except BaseException:  # noqa: BLE001  (nothing of the first process's may go on in this one)
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
