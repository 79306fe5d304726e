"""Runs several worker processes on one port, with a supervisor that restarts them."""

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

TERMINATION_SIGNALS = (signal.SIGTERM, signal.SIGINT)
# A worker that ends within this many seconds probably fails again, so the restart waits a second.
MIN_UPTIME = 5.0

# Main function of a worker. Its arguments are the number of the worker and the read end of a pipe
# that the supervisor holds open: the pipe reaches its end when the supervisor is gone.
WorkerMain = Callable[[int, int | None], int]


def run(count: int, worker_main: WorkerMain, metrics: Metrics, log: Log) -> int:
    """Run `worker_main` in `count` processes until a termination signal arrives.

    A single worker runs in this process, without a supervisor.
    """
    if count == 1:
        return worker_main(0, None)
    return _Supervisor(count, worker_main, metrics, log).run()


def install_signal_handlers() -> None:
    """Exit with 0 on termination signals until the server installs its own handlers.

    Process 1 of a container ignores these signals unless it has a handler.
    """
    for number in TERMINATION_SIGNALS:
        signal.signal(number, lambda _number, _frame: os._exit(0))


class _Supervisor:
    """Starts the workers, restarts those that end, and forwards termination signals."""

    def __init__(self, count: int, worker_main: WorkerMain, metrics: Metrics, log: Log) -> None:
        self._count = count
        self._worker_main = worker_main
        self._metrics = metrics
        self._log = log
        self._is_stopping = False
        self._numbers: dict[int, int] = {}  # number of the worker by process ID
        self._started_at: dict[int, float] = {}
        self._parent_pipe, self._parent_pipe_write_end = os.pipe()

    def run(self) -> int:
        self._metrics.share(self._count)
        previous_handlers = {
            number: signal.signal(number, self._forward_signal) for number in TERMINATION_SIGNALS
        }
        try:
            for number in range(self._count):
                self._start(number)
            return self._supervise()
        finally:
            for number, handler in previous_handlers.items():
                signal.signal(number, handler)
            os.close(self._parent_pipe)
            os.close(self._parent_pipe_write_end)

    def _forward_signal(self, number: int, _frame: FrameType | None) -> None:
        self._is_stopping = True
        for pid in self._numbers:
            os.kill(pid, number)

    def _supervise(self) -> int:
        exit_code = 0
        while self._numbers:
            pid, status = os.wait()
            number = self._numbers.pop(pid, None)
            if number is None:  # process 1 of a container also reaps orphans of other processes
                continue
            self._metrics.clear_gauges(number)
            code = os.waitstatus_to_exitcode(status)
            if self._is_stopping:
                exit_code = max(exit_code, abs(code))
                continue
            self._log.error("a worker ended, and is started again", worker=number, code=code)
            if time.monotonic() - self._started_at[number] < MIN_UPTIME:
                time.sleep(1.0)
            self._start(number)
        return exit_code

    def _start(self, number: int) -> None:
        """Fork a worker.

        Termination signals are blocked meanwhile: the handler would miss a worker whose process
        ID is not stored yet.
        """
        signal.pthread_sigmask(signal.SIG_BLOCK, TERMINATION_SIGNALS)
        try:
            if self._is_stopping:
                return
            pid = os.fork()
            if pid == 0:
                self._run_worker(number)
            self._numbers[pid] = number
            self._started_at[number] = time.monotonic()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, TERMINATION_SIGNALS)

    def _run_worker(self, number: int) -> None:
        code = 1
        try:
            os.close(self._parent_pipe_write_end)
            install_signal_handlers()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, TERMINATION_SIGNALS)
            self._metrics.use_row(number)
            code = self._worker_main(number, self._parent_pipe)
        except BaseException:  # noqa: BLE001  (the worker must never return into the supervisor's code)
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
