"""All of it: the watches, what they know, and whether that is enough to serve with."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping

import msgspec
from msgspec import Struct

from cwii_webhook.admission.cluster_view import ObjectMetadata, ObjectRef
from cwii_webhook.kube.access import Access, Server
from cwii_webhook.kube.cache.lookups import Bounds, CachedView, Lookups
from cwii_webhook.kube.cache.store import Cache
from cwii_webhook.kube.cache.watch import Tell, Watch
from cwii_webhook.kube.client import Client
from cwii_webhook.kube.clock import Backoff
from cwii_webhook.kube.errors import BadAccess, Refused, Unreachable
from cwii_webhook.kube.objects import MetadataReader, Reads
from cwii_webhook.kube.permissions import missing
from cwii_webhook.kube.resources import Kind
from cwii_webhook.kube.server_version import Version


class CacheSettings(Struct, frozen=True):
    """What somebody who serves wants to know, and may have to write."""

    kinds: Collection[Kind]
    reads: Reads
    bounds: Bounds = Bounds()
    writes: bool = False  # ConfigMaps
    version: bool = False  # the API server's


class Informer:
    """Nothing else here is asked by whoever serves: run it, ask why it is not ready, and take a sight for each review."""

    def __init__(self, access: Access, wants: CacheSettings, tell: Tell) -> None:
        clock, kinds = access.clock, wants.kinds
        self._api, self._clock, self._tell = Client(access), clock, tell
        self._memory = Cache(kinds, clock)
        strip = MetadataReader(wants.reads)
        self._lookups = Lookups(self._api, self._memory, strip, clock, wants.bounds)
        self._watches = [
            Watch(self._api, shelf, strip, clock, tell) for shelf in self._memory.shelves()
        ]
        self._version = Version(self._api, clock) if wants.version else None
        self._writes = wants.writes
        self._denied = ["the permissions have not been checked yet"]

    async def run(self) -> None:
        """For ever."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._check())
                for watch in self._watches:
                    tasks.create_task(watch.run())
                if self._version:
                    tasks.create_task(self._version.run())
        finally:
            await self._lookups.end()
            await self._api.close()

    def view(self, deadline: float) -> CachedView:
        return self._lookups.view(deadline)

    def held(self, ref: ObjectRef) -> ObjectMetadata | None:
        """What is known of it, however old, without asking anybody."""
        return self._memory.known(ref)

    def whose(self, ref: ObjectRef) -> Server | None:
        """The server that said so, or that there is no such object."""
        return self._memory.whose(ref)

    def lacks(self) -> list[str]:
        """Why we cannot serve yet, a sentence each. Once it is empty, it stays so: an outage is no reason to stop serving."""
        lacking = [
            (f"{w.kind.resource} are not read yet", w.trouble)
            for w in self._watches
            if not w.synced
        ]
        if self._version and not self._version.known:
            lacking.append(("the API server's version is not read yet", self._version.trouble))
        return [
            what + (f" ({trouble})" if trouble else "") for what, trouble in lacking
        ] + self._denied

    @property
    def version(self) -> tuple[int, int] | None:
        return self._version.known if self._version else None

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
                found = await missing(
                    self._api,
                    [shelf.kind for shelf in self._memory.shelves() if not shelf.absent],
                    writes=self._writes,
                )
            except (Refused, Unreachable, BadAccess, msgspec.DecodeError) as e:
                after = e.after if isinstance(e, Refused) else None
                found = [f"the permissions could not be checked: {e}"]
            for sentence in found:
                if sentence not in self._denied:
                    self._tell(sentence)
            self._denied = found
            if found:
                await self._clock.sleep(backoff.failed(after))
