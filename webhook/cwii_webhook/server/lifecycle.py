"""The door with TLS, where pods are decided, and plain ones; and how they are closed without anybody losing an answer."""

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

MOMENT = 0.002  # seconds in which lines of the log are gathered: a pipe holds all that is said in so short a time
OCCUPIED = (Stage.HEAD, Stage.BODY, Stage.BUSY, Stage.STUCK)


class Drain(Struct, frozen=True):
    """Seconds. After SIGTERM others need `delay` to hear that we are going; then all is over once it was `quiet`, at the latest after `limit`.

    With what leaving takes, that is less than the 30 which a kubelet grants.
    """

    delay: float = 10.0
    quiet: float = 1.0
    limit: float = 12.0


class Server:
    def __init__(
        self,
        admission: Listener,
        plain: Sequence[Listener],
        readiness: Readiness,
        log: Log,
        drain: Drain | None = None,
    ) -> None:
        self._admission = admission
        self._plain = plain
        self._readiness = readiness
        self._log = log
        self._drain = drain or Drain()
        self._stop = asyncio.Event()
        self._hurry = asyncio.Event()
        self._loads = 0

    async def run(self, leash: int | None = None) -> None:
        """Serve until SIGTERM or SIGINT, or until whoever holds the other end of `leash` is gone; a second signal ends what the first began."""
        loop = asyncio.get_running_loop()
        self._log.later = lambda flush: loop.call_later(MOMENT, flush)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        if leash is not None:
            loop.add_reader(leash, self._hang_up, leash)
        ticking = asyncio.ensure_future(self._ticks())
        for door in (self._admission, *self._plain):
            door.open()
        try:
            await self._stop.wait()
            await self._end()
        finally:
            ticking.cancel()
            self._log.later = None
            self._log.flush()

    def stop(self) -> None:
        (self._hurry if self._stop.is_set() else self._stop).set()

    def _hang_up(self, leash: int) -> None:
        asyncio.get_running_loop().remove_reader(leash)
        self._stop.set()
        self._hurry.set()

    async def _end(self) -> None:
        self._readiness.say("draining", "this one is shutting down")
        self._log.info(
            "draining: ready no more, and serving on until others have heard of it",
            seconds=self._drain.delay,
        )
        room = self._admission.room
        await self._until(self._hurry.is_set, self._drain.delay)
        room.draining = True
        await self._until(
            lambda: self._hurry.is_set() or room.quiet(self._drain.quiet), self._drain.limit
        )
        self._admission.hush()
        await asyncio.sleep(0.05)  # who was already let in by the kernel is accepted
        self._admission.close()
        await self._until(lambda: room.count(Stage.IDLE) == len(room), room.limits.leave_time)
        self._log.info("drained", cut_off=room.count(*OCCUPIED))
        room.close_idle()
        for door in self._plain:
            door.close()
            door.room.close_idle()
        await asyncio.sleep(0.05)  # what was written last has to leave

    async def _until(self, condition: Callable[[], bool], seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until and not condition():  # noqa: ASYNC110  (many things can make it true)
            await asyncio.sleep(0.02)

    async def _ticks(self) -> None:
        while True:
            self.tick()
            await asyncio.sleep(1.0)

    def tick(self) -> None:
        certificates = self._admission.certificates
        if certificates:
            certificates.refresh()
            self._readiness.say("certificate", certificates.state(time.time()))
            self._admission.tally.certificate(
                certificates.ends,
                new=certificates.loads != self._loads,
                stray=bool(certificates.stray),
            )
            self._loads = certificates.loads
        for door in (self._admission, *self._plain):
            door.room.sweep()
        self._admission.tally.look(self._admission.room)


def run(main: Callable[[], Coroutine[object, object, None]]) -> None:
    """On uvloop where there is one, which is everywhere but on Windows."""
    try:
        from uvloop import new_event_loop as factory  # noqa: PLC0415
    except ImportError:
        factory = None
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(main())
