"""One process's look at the cluster: nothing yet, until it is known how to reach it; then its picture, its version, and what is written there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from cwii_webhook.admission.cluster_view import ClusterView, LookupFailed, ObjectMetadata, ObjectRef
from cwii_webhook.admission.injection import ConfigMap
from cwii_webhook.kube.access import Access, Server
from cwii_webhook.kube.cache.config_maps import ConfigMapWriter
from cwii_webhook.kube.cache.informer import CacheSettings, Informer
from cwii_webhook.kube.cache.lookups import CachedView
from cwii_webhook.kube.cache.watch import Tell
from cwii_webhook.kube.client import Client
from cwii_webhook.kube.clock import Backoff, Clock
from cwii_webhook.kube.errors import BadAccess

AGAIN = 5.0  # seconds between two looks at whether a kubeconfig is another


class Way(Struct, frozen=True):
    """How an API server is reached: what reads it, and the file that it is read of, if it is one."""

    read: Callable[[], Access]
    file: Path | None = None


class ConnectedCluster:
    """`access`: as it was read before, or None where it could not be."""

    def __init__(
        self, way: Way, access: Access | None, wants: CacheSettings, tell: Tell, clock: Clock
    ) -> None:
        self._way, self._access, self._wants, self._tell, self._clock = (
            way,
            access,
            wants,
            tell,
            clock,
        )
        self._informer: Informer | None = None
        self._maps: ConfigMapWriter | None = None
        self._problem = "it has not begun to look at the cluster"

    async def run(self) -> None:
        """For ever."""
        stamp = self._stamp()
        access = self._access or await self._reached()
        writing = Client(access)
        self._informer, self._maps = (
            Informer(access, self._wants, self._tell),
            ConfigMapWriter(writing, self._clock, access.namespace),
        )
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._informer.run())
                tasks.create_task(self._follow(access, stamp))
        finally:
            await writing.close()

    def lacks(self) -> list[str]:
        return self._informer.lacks() if self._informer else [self._problem]

    @property
    def version(self) -> tuple[int, int] | None:
        return self._informer.version if self._informer else None

    def ages(self) -> Mapping[str, float]:
        return self._informer.ages() if self._informer else {}

    def sizes(self) -> Mapping[str, int]:
        return self._informer.sizes() if self._informer else {}

    def troubles(self) -> list[str]:
        return self._informer.troubles() if self._informer else [self._problem]

    def view(self, seconds: float) -> CachedView:
        if self._informer is None:
            raise LookupFailed(self._problem)
        return self._informer.view(self._clock.now() + seconds)

    def held(self, ref: ObjectRef) -> ObjectMetadata | None:
        """What is known of it, however old, without asking anybody."""
        return self._informer.held(ref) if self._informer else None

    def whose(self, ref: ObjectRef) -> Server | None:
        return self._informer.whose(ref) if self._informer else None

    async def write(self, thing: ConfigMap, picture: ClusterView) -> None:
        if self._maps is None:
            raise LookupFailed(self._problem)
        await self._maps.write(thing, picture)

    async def _reached(self) -> Access:
        backoff = Backoff(self._clock)
        while True:
            try:
                return self._way.read()
            except BadAccess as e:
                if str(e) != self._problem:
                    self._tell(str(e))
                self._problem = str(e)
            await self._clock.sleep(backoff.failed())

    async def _follow(self, access: Access, stamp: object) -> None:
        """Who replaces a kubeconfig need not start us again: the next connection is made as it says."""
        while True:
            await self._clock.sleep(AGAIN)
            if stamp == (stamp := self._stamp()):
                continue
            try:
                access.become(self._way.read())
            except BadAccess as e:
                self._tell(f"{e}; what it said before still holds")
            else:
                self._tell(f"{self._way.file} is another, and is heeded")

    def _stamp(self) -> object:
        try:
            found = self._way.file.stat() if self._way.file else None
        except OSError:
            return None
        return found and (found.st_ino, found.st_size, found.st_mtime_ns)
