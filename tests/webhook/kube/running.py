"""Runs an informer against the fake API server, with a fake clock."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from cwii_webhook.admission.cluster_view import NotCached, ObjectRef, service_account_ref
from cwii_webhook.kube.access import Access, ApiServer
from cwii_webhook.kube.cache.informer import CacheSettings, Informer
from cwii_webhook.kube.cache.lookups import LookupLimits, ReviewView
from cwii_webhook.kube.identity import Credential, Identity, StaticIdentity
from cwii_webhook.kube.resources import NAMESPACES, OWNERS, SERVICE_ACCOUNTS, ApiResource

from tests.webhook.apiserver.running import RunningApiServer
from tests.webhook.fake_clock import FakeClock, advance_until, wait_until

ROLE = "cwii.dev/role"
ALL_RESOURCES = (SERVICE_ACCOUNTS, NAMESPACES, *OWNERS)
WEB = service_account_ref("shop", "web")
REVIEW_TIMEOUT = 8.0  # seconds


@dataclass
class RunningInformer:
    """A running informer, and the objects that control it."""

    informer: Informer
    clock: FakeClock
    apiserver: RunningApiServer
    access: Access
    reports: list[str] = field(default_factory=list[str])

    def view(self) -> ReviewView:
        return self.informer.view(self.clock.now() + REVIEW_TIMEOUT)

    def cached_role(self, ref: ObjectRef = WEB) -> str:
        """Returns the role from the cache, "none" for no role, "unknown" if it is not cached."""
        try:
            metadata = self.view().get(ref)
        except NotCached:
            return "unknown"
        return metadata.annotations.get(ROLE, "") if metadata else "none"

    async def look_up_role(self, ref: ObjectRef = WEB) -> str:
        """Returns the role after a lookup, as a review sees it."""
        view = self.view()
        await view.look_up(ref)
        metadata = view.get(ref)
        return metadata.annotations.get(ROLE, "") if metadata else "none"

    async def advance_until_done(self, lookup: asyncio.Task[str]) -> str:
        """Advances the clock until the lookup has finished."""
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
async def run_informer(  # noqa: PLR0913 - keyword arguments
    apiserver: RunningApiServer,
    resources: Collection[ApiResource] = (SERVICE_ACCOUNTS,),
    *,
    identity: Identity | None = None,
    clock: FakeClock | None = None,
    lookup_limits: LookupLimits | None = None,
    reads_version: bool = False,
) -> AsyncGenerator[RunningInformer]:
    """Starts an informer. See `run_synced_informer` for one that is ready."""
    clock = clock or FakeClock()
    access = Access(
        ApiServer.from_url(apiserver.url, ca=apiserver.ca),
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
