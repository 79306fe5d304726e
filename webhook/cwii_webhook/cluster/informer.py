"""All of it: the watches, what they know, and whether that is enough to serve with."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping

import msgspec

from cwii_webhook.cluster.access import Access
from cwii_webhook.cluster.api import Api
from cwii_webhook.cluster.backoff import Backoff
from cwii_webhook.cluster.errors import BadAccess, Refused, Unreachable
from cwii_webhook.cluster.kinds import Kind
from cwii_webhook.cluster.lookups import Bounds, Lookups, Sight
from cwii_webhook.cluster.memory import Memory
from cwii_webhook.cluster.objects import Reads, Stripper
from cwii_webhook.cluster.permissions import missing
from cwii_webhook.cluster.watch import Tell, Watch
from cwii_webhook.picture import Ref, Seen


class Informer:
    """Nothing else here is asked by whoever serves: run it, ask why it is not ready, and take a sight for each review."""

    def __init__(self, access: Access, kinds: Collection[Kind], reads: Reads, tell: Tell, bounds: Bounds | None = None) -> None:
        clock = access.clock
        self._api, self._clock, self._tell = Api(access), clock, tell
        self._memory = Memory(kinds, clock)
        strip = Stripper(reads)
        self._lookups = Lookups(self._api, self._memory, strip, clock, bounds or Bounds())
        self._watches = [Watch(self._api, shelf, strip, clock, tell) for shelf in self._memory.shelves()]
        self._denied = ["the permissions have not been checked yet"]

    async def run(self) -> None:
        """For ever."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._check())
                for watch in self._watches:
                    tasks.create_task(watch.run())
        finally:
            await self._lookups.end()
            await self._api.close()

    def sight(self, deadline: float) -> Sight:
        return self._lookups.sight(deadline)

    def held(self, ref: Ref) -> Seen | None:
        """What is known of it, however old, without asking anybody."""
        return self._memory.known(ref)

    def lacks(self) -> list[str]:
        """Why we cannot serve yet, a sentence each. Once it is empty, it stays so: an outage is no reason to stop serving."""
        unsynced = [watch for watch in self._watches if not watch.synced]
        return [f"{w.kind.resource} are not read yet" + (f" ({w.trouble})" if w.trouble else "") for w in unsynced] + self._denied

    def troubles(self) -> list[str]:
        """What goes wrong now, whether or not we serve."""
        return [f"the watch of {w.kind.resource}: {w.trouble}" for w in self._watches if w.trouble]

    def ages(self) -> Mapping[str, float]:
        return self._memory.ages()

    def sizes(self) -> Mapping[str, int]:
        return {shelf.kind.resource: shelf.size for shelf in self._memory.shelves()}

    async def _check(self) -> None:
        """Until nothing is missing: whoever gives a permission later need not start us again."""
        backoff = Backoff(self._clock)
        while self._denied:
            after = None
            try:
                found = await missing(self._api, [shelf.kind for shelf in self._memory.shelves() if not shelf.absent])
            except (Refused, Unreachable, BadAccess, msgspec.DecodeError) as e:
                after = e.after if isinstance(e, Refused) else None
                found = [f"the permissions could not be checked: {e}"]
            for sentence in found:
                if sentence not in self._denied:
                    self._tell(sentence)
            self._denied = found
            if found:
                await self._clock.sleep(backoff.failed(after))
