"""What the picture lacks is read directly, at once and once for all who wait, within bounds that strangers cannot move."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import msgspec

from cwii_webhook.cluster.api import METADATA, Api
from cwii_webhook.cluster.clock import Clock, TimedOut, within
from cwii_webhook.cluster.errors import BadAccess, Hopeless, Refused, Undecided, Unreachable
from cwii_webhook.cluster.limits import Rate
from cwii_webhook.cluster.memory import STALE, Memory
from cwii_webhook.cluster.objects import Stripper, item_of
from cwii_webhook.picture import Ref, Seen, Unknown

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
    seen: Seen | None
    until: float


class Lookups:
    def __init__(
        self, api: Api, memory: Memory, strip: Stripper, clock: Clock, bounds: Bounds
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
        self._answers: dict[Ref, _Answer] = {}  # in the order of their time
        self._running: dict[Ref, asyncio.Task[Seen | None]] = {}
        self._away = clock.now()  # until when the API server is taken to be away

    def sight(self, deadline: float) -> Sight:
        """The picture for one review, that must be decided before `deadline` by the clock."""
        return Sight(self, deadline)

    def seen(self, ref: Ref) -> Seen | None:
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
        raise Unknown(ref)

    async def look(self, ref: Ref, deadline: float) -> Seen | None:
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

    def _start(self, ref: Ref) -> asyncio.Task[Seen | None] | None:
        rate = self._misses if self._memory.known(ref) is None else self._refreshes
        if len(self._running) >= MOST_AT_ONCE or not rate.take():
            return None
        task = asyncio.ensure_future(self._read(ref))
        self._running[ref] = task
        task.add_done_callback(lambda done: self._ended(ref, done))
        return task

    def _ended(self, ref: Ref, task: asyncio.Task[Seen | None]) -> None:
        del self._running[ref]
        if not task.cancelled():
            task.exception()  # whoever waited has it; nobody may be left

    async def _read(self, ref: Ref) -> Seen | None:
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
                ref, f"{ref} could not be looked up: {e}", Hopeless if lasting else Undecided
            )
        self._remember(ref, seen)
        return seen

    async def _twice(self, ref: Ref) -> Seen | None:
        """The API server makes no pod whose ServiceAccount is missing: not to find it is more likely a lag than the truth."""
        if found := await self._once(ref):
            return found
        if not self._grace:
            return None
        await self._clock.sleep(self._grace / 2)
        return self._memory.known(ref) or await self._once(ref)

    async def _once(self, ref: Ref) -> Seen | None:
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
        self, ref: Ref, why: str, otherwise: type[Undecided | Hopeless] = Undecided
    ) -> Seen | None:
        """An API server that is away is no reason to forget what it said."""
        known = self._memory.known(ref)
        if known is None:
            raise otherwise(why)
        self._remember(ref, known)
        return known

    def _remember(self, ref: Ref, seen: Seen | None) -> None:
        now = self._clock.now()
        self._answers.pop(ref, None)
        self._answers[ref] = _Answer(seen, now + REMEMBERED)
        while (
            self._answers
            and (oldest := next(iter(self._answers)))
            and self._answers[oldest].until <= now
        ):
            del self._answers[oldest]


class Sight:
    """The picture that one review is decided on: what was read for it stays as it was read."""

    def __init__(self, lookups: Lookups, deadline: float) -> None:
        self._lookups, self._deadline = lookups, deadline
        self._read: dict[Ref, Seen | None] = {}

    def seen(self, ref: Ref) -> Seen | None:
        return self._read[ref] if ref in self._read else self._lookups.seen(ref)

    async def look(self, ref: Ref) -> None:
        """After it, `seen` answers; or it raises Undecided."""
        if len(self._read) >= MOST_FOR_ONE:
            raise Undecided(f"{ref} is one object too many to look up for one review")
        self._read[ref] = await self._lookups.look(ref, self._deadline)


async def _shielded(task: asyncio.Task[Seen | None]) -> Seen | None:
    """Whoever gives up waiting leaves the reading to those who still wait."""
    return await asyncio.shield(task)
