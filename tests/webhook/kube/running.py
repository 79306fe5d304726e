"""An informer at work before an API server, by a clock that a test moves."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from cwii_webhook.admission.cluster_view import NotCached, ObjectRef, service_account_ref
from cwii_webhook.kube.access import Access, Server
from cwii_webhook.kube.cache.informer import CacheSettings, Informer
from cwii_webhook.kube.cache.lookups import Bounds, CachedView
from cwii_webhook.kube.identity import Credential, Identity, Same
from cwii_webhook.kube.resources import NAMESPACES, OWNERS, SERVICE_ACCOUNTS, Kind

from tests.webhook.apiserver.running import Ground
from tests.webhook.fake_clock import FakeClock, passing, until

ROLE = "cwii.dev/role"
ALL = (SERVICE_ACCOUNTS, NAMESPACES, *OWNERS)
WEB = service_account_ref("shop", "web")
DEADLINE = 8.0  # seconds that a review has


@dataclass
class Running:
    informer: Informer
    clock: FakeClock
    ground: Ground
    access: Access
    told: list[str] = field(default_factory=list[str])

    def sight(self) -> CachedView:
        return self.informer.view(self.clock.now() + DEADLINE)

    def role(self, ref: ObjectRef = WEB) -> str:
        """What is known without asking anybody."""
        try:
            seen = self.sight().get(ref)
        except NotCached:
            return "unknown"
        return seen.annotations.get(ROLE, "") if seen else "none"

    async def looked(self, ref: ObjectRef = WEB) -> str:
        """What is known after a look, as a review would have it."""
        sight = self.sight()
        await sight.look_up(ref)
        seen = sight.get(ref)
        return seen.annotations.get(ROLE, "") if seen else "none"

    async def ended(self, looking: asyncio.Task[str]) -> str:
        """Lets time pass until it has."""
        await passing(self.clock, 0.02, looking.done)
        return looking.result()

    async def found(self, ref: ObjectRef = WEB) -> str:
        return await self.ended(asyncio.create_task(self.looked(ref)))

    def give(self, role: str, name: str = "web") -> None:
        self.ground.hands.put(SERVICE_ACCOUNTS, "shop", name, {ROLE: role})

    def asked(self, verb: str, kind: Kind = SERVICE_ACCOUNTS) -> int:
        return self.ground.do(lambda: self.ground.double.count(verb))[kind.plural]

    def trouble(self) -> str:
        return " ".join(self.informer.troubles())


@asynccontextmanager
async def running(  # noqa: PLR0913 - all by name
    ground: Ground,
    kinds: Collection[Kind] = (SERVICE_ACCOUNTS,),
    *,
    identity: Identity | None = None,
    clock: FakeClock | None = None,
    bounds: Bounds | None = None,
    version: bool = False,
) -> AsyncGenerator[Running]:
    """It has begun; see `ready` for when it has read all."""
    clock = clock or FakeClock()
    access = Access(
        Server.at(ground.url, ca=ground.ca), identity or Same(Credential("first")), clock
    )
    told: list[str] = []
    informer = Informer(
        access,
        CacheSettings(
            kinds, lambda key: key.startswith("cwii.dev/"), bounds or Bounds(), version=version
        ),
        told.append,
    )
    task = asyncio.create_task(informer.run())
    try:
        yield Running(informer, clock, ground, access, told)
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def ready(
    ground: Ground, kinds: Collection[Kind] = (SERVICE_ACCOUNTS,), *, bounds: Bounds | None = None
) -> AsyncGenerator[Running]:
    async with running(ground, kinds, bounds=bounds) as r:
        await until(lambda: not r.informer.lacks())
        yield r
