"""Starts the listeners, and drains them on shutdown so that no request loses its response."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Coroutine, Sequence

from msgspec import Struct

from cwii_webhook.server.connections import Stage
from cwii_webhook.server.health import Readiness
from cwii_webhook.server.listener import Listener
from cwii_webhook.telemetry.log import Log

# Seconds between a log line and its flush. A pipe holds the lines of so short a time.
LOG_FLUSH_DELAY = 0.002
ACTIVE_STAGES = (Stage.HEAD, Stage.BODY, Stage.RESPONDING, Stage.WRITE_BLOCKED)


class DrainTimes(Struct, frozen=True):
    """Times of the shutdown, in seconds.

    After SIGTERM, endpoints need `shutdown_delay` to update. Then the server closes after
    `quiet_period` without a request, and at the latest after `timeout`. Together with
    `Limits.close_timeout`, the times stay below the kubelet's grace period of 30 s.
    """

    shutdown_delay: float = 10.0
    quiet_period: float = 1.0
    timeout: float = 12.0


class WebhookServer:
    """Runs the TLS listener for admission requests and the plain listeners for operators."""

    def __init__(
        self,
        admission: Listener,
        plain: Sequence[Listener],
        readiness: Readiness,
        log: Log,
        drain_times: DrainTimes | None = None,
    ) -> None:
        self._admission = admission
        self._plain = plain
        self._readiness = readiness
        self._log = log
        self._drain_times = drain_times or DrainTimes()
        self._stop = asyncio.Event()
        self._skip_waiting = asyncio.Event()
        self._recorded_loads = 0

    async def run(self, parent_pipe: int | None = None) -> None:
        """Serve until SIGTERM or SIGINT, or until `parent_pipe` reaches its end.

        The pipe reaches its end when the supervisor is gone. A second signal skips the waiting
        times of the shutdown.
        """
        loop = asyncio.get_running_loop()
        self._log.schedule_flush = lambda flush: loop.call_later(LOG_FLUSH_DELAY, flush)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        if parent_pipe is not None:
            loop.add_reader(parent_pipe, self._on_parent_exit, parent_pipe)
        ticker = asyncio.ensure_future(self._run_ticks())
        for listener in (self._admission, *self._plain):
            listener.start()
        try:
            await self._stop.wait()
            await self._drain()
        finally:
            ticker.cancel()
            self._log.schedule_flush = None
            self._log.flush()

    def stop(self) -> None:
        (self._skip_waiting if self._stop.is_set() else self._stop).set()

    def _on_parent_exit(self, parent_pipe: int) -> None:
        asyncio.get_running_loop().remove_reader(parent_pipe)
        self._stop.set()
        self._skip_waiting.set()

    async def _drain(self) -> None:
        self._readiness.set_reason("draining", "this one is shutting down")
        self._log.info(
            "draining: ready no more, and serving on until others have heard of it",
            seconds=self._drain_times.shutdown_delay,
        )
        connections = self._admission.connections
        await self._wait_until(self._skip_waiting.is_set, self._drain_times.shutdown_delay)
        connections.is_draining = True
        await self._wait_until(
            lambda: (
                self._skip_waiting.is_set() or connections.is_quiet(self._drain_times.quiet_period)
            ),
            self._drain_times.timeout,
        )
        self._admission.close()
        await self._wait_until(
            lambda: connections.count(Stage.IDLE) == len(connections),
            connections.limits.close_timeout,
        )
        self._log.info("drained", cut_off=connections.count(*ACTIVE_STAGES))
        connections.close_idle()
        for listener in self._plain:
            listener.close()
            listener.connections.close_idle()
        await asyncio.sleep(0.05)  # the loop still has to send what was written last

    async def _wait_until(self, condition: Callable[[], bool], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        # A poll, because many events can make the condition true.
        while time.monotonic() < deadline and not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)

    async def _run_ticks(self) -> None:
        while True:
            self.tick()
            await asyncio.sleep(1.0)

    def tick(self) -> None:
        """Reload certificates, enforce timeouts, and update gauges."""
        certificates = self._admission.certificates
        if certificates:
            certificates.refresh()
            self._readiness.set_reason("certificate", certificates.not_ready_reason(time.time()))
            self._admission.metrics.record_certificate(
                certificates.expires_at,
                is_new=certificates.load_count != self._recorded_loads,
                has_ca_mismatch=bool(certificates.ca_mismatch),
            )
            self._recorded_loads = certificates.load_count
        for listener in (self._admission, *self._plain):
            listener.connections.enforce_timeouts()
        self._admission.metrics.set_connection_gauges(self._admission.connections)


def run(main: Callable[[], Coroutine[object, object, None]]) -> None:
    """Run a coroutine on uvloop if it is installed. uvloop does not support Windows."""
    try:
        from uvloop import new_event_loop as loop_factory  # noqa: PLC0415
    except ImportError:
        loop_factory = None
    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(main())
