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
from cwii_webhook.kube.cache.lookups import CachedView, LookupLimits
from cwii_webhook.kube.identity import Credential, Identity, StaticIdentity
from cwii_webhook.kube.resources import NAMESPACES, OWNERS, SERVICE_ACCOUNTS, ApiResource

from tests.webhook.apiserver.running import RunningApiServer
from tests.webhook.fake_clock import FakeClock, advance_until, wait_until

ROLE = "cwii.dev/role"
ALL_RESOURCES = (SERVICE_ACCOUNTS, NAMESPACES, *OWNERS)
WEB = service_account_ref("shop", "web")
REVIEW_TIMEOUT = 8.0  # seconds that a review has


@dataclass
class RunningInformer:
    informer: Informer
    clock: FakeClock
    apiserver: RunningApiServer
    access: Access
    reports: list[str] = field(default_factory=list[str])

    def view(self) -> CachedView:
        return self.informer.view(self.clock.now() + REVIEW_TIMEOUT)

    def cached_role(self, ref: ObjectRef = WEB) -> str:
        """What is known without asking anybody."""
        try:
            seen = self.view().get(ref)
        except NotCached:
            return "unknown"
        return seen.annotations.get(ROLE, "") if seen else "none"

    async def look_up_role(self, ref: ObjectRef = WEB) -> str:
        """What is known after a look, as a review would have it."""
        view = self.view()
        await view.look_up(ref)
        seen = view.get(ref)
        return seen.annotations.get(ROLE, "") if seen else "none"

    async def advance_until_done(self, lookup: asyncio.Task[str]) -> str:
        """Lets time pass until it has."""
        await advance_until(self.clock, 0.02, lookup.done)
        return lookup.result()

    async def look_up_role_over_time(self, ref: ObjectRef = WEB) -> str:
        return await self.advance_until_done(asyncio.create_task(self.look_up_role(ref)))

    def set_role(self, role: str, name: str = "web") -> None:
        self.apiserver.user.apply(SERVICE_ACCOUNTS, "shop", name, {ROLE: role})

    def count_requests(self, verb: str, resource: ApiResource = SERVICE_ACCOUNTS) -> int:
        return self.apiserver.run_in_loop(lambda: self.apiserver.fake.count_requests(verb))[
            resource.plural
        ]

    def errors(self) -> str:
        return " ".join(self.informer.errors())


@asynccontextmanager
async def run_informer(  # noqa: PLR0913 - all by name
    apiserver: RunningApiServer,
    resources: Collection[ApiResource] = (SERVICE_ACCOUNTS,),
    *,
    identity: Identity | None = None,
    clock: FakeClock | None = None,
    lookup_limits: LookupLimits | None = None,
    reads_version: bool = False,
) -> AsyncGenerator[RunningInformer]:
    """It has begun; see `ready` for when it has read all."""
    clock = clock or FakeClock()
    access = Access(
        Server.from_url(apiserver.url, ca=apiserver.ca),
        identity or StaticIdentity(Credential("first")),
        clock,
    )
    reports: list[str] = []
    informer = Informer(
        access,
        CacheSettings(
            resources,
            lambda key: key.startswith("cwii.dev/"),
            lookup_limits or LookupLimits(),
            reads_version=reads_version,
        ),
        reports.append,
    )
    task = asyncio.create_task(informer.run())
    try:
        yield RunningInformer(informer, clock, apiserver, access, reports)
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def run_synced_informer(
    apiserver: RunningApiServer,
    resources: Collection[ApiResource] = (SERVICE_ACCOUNTS,),
    *,
    lookup_limits: LookupLimits | None = None,
) -> AsyncGenerator[RunningInformer]:
    async with run_informer(apiserver, resources, lookup_limits=lookup_limits) as r:
        await wait_until(lambda: not r.informer.not_ready_reasons())
        yield r
