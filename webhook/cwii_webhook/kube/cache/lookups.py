"""What the picture lacks is read directly, at once and once for all who wait, within bounds that strangers cannot move."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import msgspec

from cwii_webhook.admission.cluster_view import (
    LookupFailed,
    LookupRefused,
    NotCached,
    ObjectMetadata,
    ObjectRef,
)
from cwii_webhook.kube.cache.store import STALE, Cache
from cwii_webhook.kube.client import METADATA, Client
from cwii_webhook.kube.clock import Clock, TimedOut, within
from cwii_webhook.kube.errors import BadAccess, Refused, Unreachable
from cwii_webhook.kube.objects import MetadataReader, item_of


class Rate:
    def __init__(self, clock: Clock, *, per_second: float, burst: float) -> None:
        self._clock, self._per_second, self._burst = clock, per_second, burst
        self._left, self._since = burst, clock.now()

    def take(self) -> bool:
        now = self._clock.now()
        self._left = min(self._burst, self._left + (now - self._since) * self._per_second)
        self._since = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


REMEMBERED = 1.0  # seconds that the answer of a direct read is believed
PATIENCE = 3.0  # seconds that one may take
AWAY = (
    5.0  # seconds after an API server did not answer in which what is known is not asked for again
)
MOST_AT_ONCE = 32
MOST_FOR_ONE = 16  # objects that one review may ask for: a pod's owners have owners


@dataclass(frozen=True)
class Bounds:
    """Misses are what strangers can cause, refreshes are not: neither takes from the other."""

    grace: float = 0.2  # seconds within which what was not found is looked for a second time
    misses_per_second: float = 50.0
    misses_at_once: float = 100.0
    refreshes_per_second: float = 50.0
    refreshes_at_once: float = 100.0


@dataclass(frozen=True)
class _Answer:
    seen: ObjectMetadata | None
    until: float


class Lookups:
    def __init__(
        self, api: Client, memory: Cache, strip: MetadataReader, clock: Clock, bounds: Bounds
    ) -> None:
        self._api, self._memory, self._strip, self._clock, self._grace = (
            api,
            memory,
            strip,
            clock,
            bounds.grace,
        )
        self._misses = Rate(clock, per_second=bounds.misses_per_second, burst=bounds.misses_at_once)
        self._refreshes = Rate(
            clock, per_second=bounds.refreshes_per_second, burst=bounds.refreshes_at_once
        )
        self._answers: dict[ObjectRef, _Answer] = {}  # in the order of their time
        self._running: dict[ObjectRef, asyncio.Task[ObjectMetadata | None]] = {}
        self._away = clock.now()  # until when the API server is taken to be away

    def view(self, deadline: float) -> CachedView:
        """The picture for one review, that must be decided before `deadline` by the clock."""
        return CachedView(self, deadline)

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        """What memory holds and was heard of lately, else what was read a moment ago."""
        shelf = self._memory.shelf(ref)
        if shelf is None:
            return None
        known = shelf.get(ref)
        if known is not None and shelf.age < STALE:
            return known
        if not shelf.can_hold(ref):
            return None
        answer = self._answers.get(ref)
        if answer and self._clock.now() < answer.until:
            return answer.seen
        raise NotCached(ref)

    async def look(self, ref: ObjectRef, deadline: float) -> ObjectMetadata | None:
        """Reads it, or waits for whoever reads it already."""
        shelf = self._memory.shelf(ref)
        if shelf is None or not shelf.can_hold(ref):
            return None
        task = self._running.get(ref) or self._start(ref)
        if task is None:
            return self._believed(ref, f"too many objects are being looked up to look up {ref}")
        left = deadline - self._clock.now()
        try:
            return await within(self._clock, left, _shielded(task))
        except TimedOut:
            return self._believed(ref, f"{ref} could not be looked up in time")

    async def end(self) -> None:
        """Whoever still waits is not answered any more."""
        reading = list(self._running.values())
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)

    def _start(self, ref: ObjectRef) -> asyncio.Task[ObjectMetadata | None] | None:
        rate = self._misses if self._memory.known(ref) is None else self._refreshes
        if len(self._running) >= MOST_AT_ONCE or not rate.take():
            return None
        task = asyncio.ensure_future(self._read(ref))
        self._running[ref] = task
        task.add_done_callback(lambda done: self._ended(ref, done))
        return task

    def _ended(self, ref: ObjectRef, task: asyncio.Task[ObjectMetadata | None]) -> None:
        del self._running[ref]
        if not task.cancelled():
            task.exception()  # whoever waited has it; nobody may be left

    async def _read(self, ref: ObjectRef) -> ObjectMetadata | None:
        if self._memory.known(ref) and self._clock.now() < self._away:
            return self._believed(ref, "")
        try:
            seen = await within(self._clock, PATIENCE, self._twice(ref))
        except (TimedOut, Unreachable) as e:
            self._away = self._clock.now() + AWAY
            return self._believed(
                ref, f"{ref} could not be looked up: {e or 'the API server has not answered'}"
            )
        except (Refused, BadAccess, msgspec.DecodeError) as e:
            lasting = isinstance(e, Refused) and not e.passes
            return self._believed(
                ref,
                f"{ref} could not be looked up: {e}",
                LookupRefused if lasting else LookupFailed,
            )
        self._remember(ref, seen)
        return seen

    async def _twice(self, ref: ObjectRef) -> ObjectMetadata | None:
        """The API server makes no pod whose ServiceAccount is missing: not to find it is more likely a lag than the truth."""
        if found := await self._once(ref):
            return found
        if not self._grace:
            return None
        await self._clock.sleep(self._grace / 2)
        return self._memory.known(ref) or await self._once(ref)

    async def _once(self, ref: ObjectRef) -> ObjectMetadata | None:
        shelf = self._memory.shelf(ref)
        target = shelf.kind.one(ref) if shelf else None
        if target is None:
            return None
        while True:
            try:
                return self._strip.seen(item_of(await self._api.get(target, METADATA)).metadata)
            except Refused as e:
                if e.status == 404:
                    return None
                if e.status != 429 or e.after is None or e.after >= PATIENCE:
                    raise
                await self._clock.sleep(e.after)

    def _believed(
        self, ref: ObjectRef, why: str, otherwise: type[LookupFailed | LookupRefused] = LookupFailed
    ) -> ObjectMetadata | None:
        """An API server that is away is no reason to forget what it said."""
        known = self._memory.known(ref)
        if known is None:
            raise otherwise(why)
        self._remember(ref, known)
        return known

    def _remember(self, ref: ObjectRef, seen: ObjectMetadata | None) -> None:
        now = self._clock.now()
        self._answers.pop(ref, None)
        self._answers[ref] = _Answer(seen, now + REMEMBERED)
        while (
            self._answers
            and (oldest := next(iter(self._answers)))
            and self._answers[oldest].until <= now
        ):
            del self._answers[oldest]


class CachedView:
    """The picture that one review is decided on: what was read for it stays as it was read."""

    def __init__(self, lookups: Lookups, deadline: float) -> None:
        self._lookups, self._deadline = lookups, deadline
        self._read: dict[ObjectRef, ObjectMetadata | None] = {}

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        return self._read[ref] if ref in self._read else self._lookups.get(ref)

    async def look_up(self, ref: ObjectRef) -> None:
        """After it, `seen` answers; or it raises Undecided."""
        if len(self._read) >= MOST_FOR_ONE:
            raise LookupFailed(f"{ref} is one object too many to look up for one review")
        self._read[ref] = await self._lookups.look(ref, self._deadline)


async def _shielded(task: asyncio.Task[ObjectMetadata | None]) -> ObjectMetadata | None:
    """Whoever gives up waiting leaves the reading to those who still wait."""
    return await asyncio.shield(task)
