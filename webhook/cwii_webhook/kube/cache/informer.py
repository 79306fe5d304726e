"""Runs all watches and lookups of one API server, and reports readiness."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping

import msgspec
from msgspec import Struct

from cwii_webhook.admission.cluster_view import ObjectMetadata, ObjectRef
from cwii_webhook.kube.access import Access, ApiServer
from cwii_webhook.kube.cache.lookups import LookupLimits, Lookups, ReviewView
from cwii_webhook.kube.cache.store import Cache
from cwii_webhook.kube.cache.watch import Report, Watch
from cwii_webhook.kube.client import Client
from cwii_webhook.kube.clock import Backoff
from cwii_webhook.kube.errors import BadAccess, StatusError, Unreachable
from cwii_webhook.kube.objects import AnnotationFilter, MetadataReader
from cwii_webhook.kube.permissions import find_missing_permissions
from cwii_webhook.kube.resources import ApiResource
from cwii_webhook.kube.server_version import ServerVersion


class CacheSettings(Struct, frozen=True):
    """What the cache must hold, and the permissions that the webhook needs."""

    resources: Collection[ApiResource]
    annotation_filter: AnnotationFilter
    lookup_limits: LookupLimits = LookupLimits()
    writes_config_maps: bool = False
    reads_version: bool = False  # track the API server's version


class Informer:
    """The entry point of this package: it runs the watches and returns a view for each review."""

    def __init__(self, access: Access, settings: CacheSettings, report: Report) -> None:
        clock, resources = access.clock, settings.resources
        self._client, self._clock, self._report = Client(access), clock, report
        self._cache = Cache(resources, clock)
        reader = MetadataReader(settings.annotation_filter)
        self._lookups = Lookups(self._client, self._cache, reader, clock, settings.lookup_limits)
        self._watches = [
            Watch(self._client, resource_cache, reader, clock, report)
            for resource_cache in self._cache.resource_caches()
        ]
        self._version = ServerVersion(self._client, clock) if settings.reads_version else None
        self._writes_config_maps = settings.writes_config_maps
        self._permission_problems = ["the permissions have not been checked yet"]

    async def run(self) -> None:
        """Runs until it is cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._check_permissions())
                for watch in self._watches:
                    tasks.create_task(watch.run())
                if self._version:
                    tasks.create_task(self._version.run())
        finally:
            await self._lookups.close()
            await self._client.close()

    def view(self, deadline: float) -> ReviewView:
        return self._lookups.view(deadline)

    def get_cached(self, ref: ObjectRef) -> ObjectMetadata | None:
        """Returns the object from the cache, regardless of its age."""
        return self._cache.get(ref)

    def get_server(self, ref: ObjectRef) -> ApiServer | None:
        """Returns the server that the cached state of the object was read from."""
        return self._cache.get_server(ref)

    def not_ready_reasons(self) -> list[str]:
        """Returns a sentence for each reason why the webhook cannot serve yet.

        Once the list is empty, it stays empty: the webhook serves through an outage.
        """
        reasons = [
            (f"{w.resource.group_resource} are not read yet", w.error)
            for w in self._watches
            if not w.is_synced
        ]
        if self._version and not self._version.current:
            reasons.append(("the API server's version is not read yet", self._version.error))
        return [
            reason + (f" ({error})" if error else "") for reason, error in reasons
        ] + self._permission_problems

    @property
    def version(self) -> tuple[int, int] | None:
        return self._version.current if self._version else None

    def errors(self) -> list[str]:
        """Returns the current errors of the watches. They do not affect readiness."""
        return [
            f"the watch of {w.resource.group_resource}: {w.error}" for w in self._watches if w.error
        ]

    def ages(self) -> Mapping[str, float]:
        return self._cache.ages()

    def sizes(self) -> Mapping[str, int]:
        return {
            cache.resource.group_resource: cache.size for cache in self._cache.resource_caches()
        }

    async def _check_permissions(self) -> None:
        """Repeats the check until no permission is missing, so that a grant needs no restart."""
        backoff = Backoff(self._clock)
        while self._permission_problems:
            retry_after = None
            try:
                problems = await find_missing_permissions(
                    self._client,
                    [
                        cache.resource
                        for cache in self._cache.resource_caches()
                        if not cache.is_absent
                    ],
                    writes_config_maps=self._writes_config_maps,
                )
            except (StatusError, Unreachable, BadAccess, msgspec.DecodeError) as e:
                retry_after = e.retry_after if isinstance(e, StatusError) else None
                problems = [f"the permissions could not be checked: {e}"]
            for problem in problems:
                if problem not in self._permission_problems:
                    self._report(problem)
            self._permission_problems = problems
            if problems:
                await self._clock.sleep(backoff.next_delay(retry_after))
