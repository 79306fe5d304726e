"""Looks, does the next step, and looks again: until all is as it should be, or nothing moves for too long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Protocol

import msgspec

from cwii_webhook.admission.cluster_view import LookupRefused
from cwii_webhook.certificates import pki
from cwii_webhook.kube.clock import Backoff, Clock
from cwii_webhook.kube.errors import BadAccess, StatusError, Unreachable
from cwii_webhook.renewer.outcome import Outcome
from cwii_webhook.renewer.state import ClusterState, Terms, Write
from cwii_webhook.renewer.steps import Action, Step, step, writes
from cwii_webhook.telemetry.log import Log

LOOK = 0.5  # seconds between two looks at what is waited for
CONFLICT = 409
MOST = 5  # times that the same may be done: what is done again and again is undone by somebody


class Cluster(Protocol):
    async def found(self) -> ClusterState: ...
    async def write(self, write: Write, /) -> None: ...


class Renewer:
    def __init__(
        self, place: Cluster, terms: Terms, clock: Clock, today: Callable[[], datetime], log: Log
    ) -> None:
        self._place, self._terms, self._clock, self._today, self._log = (
            place,
            terms,
            clock,
            today,
            log,
        )
        self._backoff = Backoff(clock)
        self._done: Counter[Action] = Counter()
        self._versions: object = None
        self._since = clock.now()  # nobody has written
        self._waits = ""  # for what, and why
        self.last: ClusterState | None = None

    async def run(self, settle: float, patience: float) -> Outcome:
        while True:
            try:
                if (todo := await self._turn(settle)).what is Action.DONE:
                    return self._outcome("")
            except LookupRefused as e:
                return self._outcome(str(e))
            if todo.what is not Action.WAIT:
                continue
            if self._clock.now() - self._since >= patience:
                return self._outcome(f"{self._waits}; that has not changed for {patience:g} s")
            await self._clock.sleep(self._clock.jitter(LOOK / 2, LOOK))

    async def _turn(self, settle: float) -> Step:
        """What goes by itself is waited for; what another did first is looked at anew."""
        try:
            found = await self._looked()
            todo = step(
                found, self._terms, self._today(), calm=self._clock.now() - self._since >= settle
            )
            if todo.what is Action.WAIT:
                self._wait(todo.why)
            else:
                await self._do(todo, found)
        except (StatusError, Unreachable, BadAccess, msgspec.DecodeError) as e:
            if isinstance(e, StatusError) and e.status == CONFLICT:
                return Step(Action.WAIT)
            if isinstance(e, StatusError) and not e.is_transient:
                raise LookupRefused(str(e)) from e
            self._wait(str(e))
            await self._clock.sleep(
                self._backoff.next_delay(e.retry_after if isinstance(e, StatusError) else None)
            )
            return Step(Action.WAIT)
        self._backoff.reset()
        return todo

    async def _looked(self) -> ClusterState:
        found = self.last = await self._place.found()
        if found.versions != self._versions:
            self._versions, self._since = found.versions, self._clock.now()
        return found

    async def _do(self, todo: Step, found: ClusterState) -> None:
        if todo.what is Action.DONE:
            if found.absent:
                raise LookupRefused(
                    f"there is no MutatingWebhookConfiguration {', '.join(found.absent)}: make it, or do not name it"
                )
            return
        if self._done[todo.what] >= MOST:
            raise LookupRefused(
                f"{todo.what.value}, {MOST} times, and somebody undoes it: let nobody else write there"
            )
        for write in writes(todo.what, found, self._terms, self._today()):
            await self._place.write(write)
        self._done[todo.what] += 1
        self._log.info(todo.what.value, why=todo.why)

    def _wait(self, why: str) -> None:
        if why != self._waits:
            self._log.info("waiting", why=why)
        self._waits = why

    def _outcome(self, hindrance: str) -> Outcome:
        serving, authority = (
            (self.last.serving.pair(), self.last.signer) if self.last else (None, None)
        )
        done = tuple(what.value for what in Action if self._done[what])
        return Outcome(
            done,
            hindrance,
            pki.ends(serving.certificate) if serving else None,
            pki.ends(authority.certificate) if authority else None,
        )
