"""Runs renewal steps until the cluster is in the desired state, or makes no progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Protocol

import msgspec

from cwii_webhook.certificates import pki
from cwii_webhook.kube.clock import Backoff, Clock
from cwii_webhook.kube.errors import BadAccess, StatusError, Unreachable
from cwii_webhook.renewer.outcome import Outcome
from cwii_webhook.renewer.state import ClusterState, DesiredCertificates, RenewalBlocked, Write
from cwii_webhook.renewer.steps import Action, Step, next_step, plan_writes
from cwii_webhook.telemetry.log import Log

POLL_INTERVAL = 0.5  # seconds
CONFLICT = 409
# An action that is necessary more often than this is undone by another writer.
MAX_REPEATS = 5


class Cluster(Protocol):
    """Reads the state of the cluster, and writes to it."""

    async def read_state(self) -> ClusterState: ...
    async def write(self, write: Write, /) -> None: ...


class Renewer:
    """Repeats: read the state, decide the next step, do it."""

    def __init__(
        self,
        cluster: Cluster,
        desired: DesiredCertificates,
        clock: Clock,
        utc_now: Callable[[], datetime],
        log: Log,
    ) -> None:
        self._cluster = cluster
        self._desired = desired
        self._clock = clock
        self._utc_now = utc_now
        self._log = log
        self._backoff = Backoff(clock)
        self._action_counts: Counter[Action] = Counter()
        self._resource_versions: object = None
        self._unchanged_since = clock.now()
        self._wait_reason = ""
        self.last_state: ClusterState | None = None

    async def run(self, settle: float, patience: float) -> Outcome:
        """Runs until the renewal is done, is blocked, or has seen no write for `patience` seconds.

        After `settle` seconds without a write, every API server has received the last one.
        """
        while True:
            try:
                step = await self._run_step(settle)
            except RenewalBlocked as e:
                return self._outcome(str(e))
            if step.action is Action.DONE:
                return self._outcome("")
            if step.action is not Action.WAIT:
                continue
            if self._clock.now() - self._unchanged_since >= patience:
                return self._outcome(
                    f"{self._wait_reason}; that has not changed for {patience:g} s"
                )
            await self._clock.sleep(self._clock.jitter(POLL_INTERVAL / 2, POLL_INTERVAL))

    async def _run_step(self, settle: float) -> Step:
        """Does one step. Temporary errors and write conflicts result in a WAIT step."""
        try:
            state = await self._read_state()
            is_settled = self._clock.now() - self._unchanged_since >= settle
            step = next_step(state, self._desired, self._utc_now(), is_settled=is_settled)
            if step.action is Action.WAIT:
                self._log_wait(step.reason)
            else:
                await self._execute(step, state)
        except (StatusError, Unreachable, BadAccess, msgspec.DecodeError) as e:
            if isinstance(e, StatusError) and e.status == CONFLICT:
                return Step(Action.WAIT)
            if isinstance(e, StatusError) and not e.is_transient:
                raise RenewalBlocked(str(e)) from e
            self._log_wait(str(e))
            await self._clock.sleep(
                self._backoff.next_delay(e.retry_after if isinstance(e, StatusError) else None)
            )
            return Step(Action.WAIT)
        self._backoff.reset()
        return step

    async def _read_state(self) -> ClusterState:
        state = self.last_state = await self._cluster.read_state()
        if state.resource_versions != self._resource_versions:
            self._resource_versions = state.resource_versions
            self._unchanged_since = self._clock.now()
        return state

    async def _execute(self, step: Step, state: ClusterState) -> None:
        if step.action is Action.DONE:
            if state.missing_configurations:
                raise RenewalBlocked(
                    "there is no MutatingWebhookConfiguration "
                    f"{', '.join(state.missing_configurations)}: make it, or do not name it"
                )
            return
        if self._action_counts[step.action] >= MAX_REPEATS:
            raise RenewalBlocked(
                f"{step.action.value}, {MAX_REPEATS} times, and somebody undoes it: "
                "let nobody else write there"
            )
        for write in plan_writes(step.action, state, self._desired, self._utc_now()):
            await self._cluster.write(write)
        self._action_counts[step.action] += 1
        self._log.info(step.action.value, why=step.reason)

    def _log_wait(self, reason: str) -> None:
        if reason != self._wait_reason:
            self._log.info("waiting", why=reason)
        self._wait_reason = reason

    def _outcome(self, problem: str) -> Outcome:
        state = self.last_state
        return Outcome(
            tuple(action.value for action in Action if self._action_counts[action]),
            problem,
            pki.earliest_expiry(state.serving.key_pair().certificate) if state else None,
            pki.earliest_expiry(state.signer.certificate) if state else None,
        )
