"""Reads objects that the cache lacks directly from the API server, with rate limits."""

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
from cwii_webhook.kube.cache.store import STALE_AFTER, Cache
from cwii_webhook.kube.client import METADATA, Client
from cwii_webhook.kube.clock import Clock, TimedOut, with_timeout
from cwii_webhook.kube.errors import BadAccess, StatusError, Unreachable
from cwii_webhook.kube.objects import MetadataReader, decode_item


class RateLimiter:
    """A token bucket."""

    def __init__(self, clock: Clock, *, per_second: float, burst: float) -> None:
        self._clock, self._per_second, self._burst = clock, per_second, burst
        self._tokens, self._refilled_at = burst, clock.now()

    def try_accept(self) -> bool:
        now = self._clock.now()
        self._tokens = min(self._burst, self._tokens + (now - self._refilled_at) * self._per_second)
        self._refilled_at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


RESULT_TTL = 1.0  # seconds that the result of a lookup is used
LOOKUP_TIMEOUT = 3.0  # seconds
# Seconds after a failed connection in which lookups use cached objects without a new request.
OUTAGE_DURATION = 5.0
MAX_CONCURRENT_LOOKUPS = 32
MAX_LOOKUPS_PER_REVIEW = 16  # a pod's owners have owners, in a chain of any length


@dataclass(frozen=True)
class LookupLimits:
    """Rate limits of lookups, and the delay of a second try.

    Any user can cause misses, with forged reviews. Refreshes of known objects have a limit of
    their own, so that misses cannot use it up.
    """

    grace: float = 0.2  # seconds; an object that was not found is read once more after half of it
    misses_per_second: float = 50.0
    misses_burst: float = 100.0
    refreshes_per_second: float = 50.0
    refreshes_burst: float = 100.0


@dataclass(frozen=True)
class _Result:
    metadata: ObjectMetadata | None
    expires_at: float


class Lookups:
    """Direct reads of objects. Concurrent lookups of one object share one request."""

    def __init__(
        self,
        client: Client,
        cache: Cache,
        reader: MetadataReader,
        clock: Clock,
        limits: LookupLimits,
    ) -> None:
        self._client, self._cache, self._reader, self._clock = client, cache, reader, clock
        self._grace = limits.grace
        self._miss_limiter = RateLimiter(
            clock, per_second=limits.misses_per_second, burst=limits.misses_burst
        )
        self._refresh_limiter = RateLimiter(
            clock, per_second=limits.refreshes_per_second, burst=limits.refreshes_burst
        )
        self._results: dict[ObjectRef, _Result] = {}  # ordered by expiry
        self._running: dict[ObjectRef, asyncio.Task[ObjectMetadata | None]] = {}
        self._unreachable_until = clock.now()  # end of the assumed outage of the API server

    def view(self, deadline: float) -> ReviewView:
        """Returns the view for one review. `deadline` is a time of the clock."""
        return ReviewView(self, deadline)

    def get_known(self, ref: ObjectRef) -> ObjectMetadata | None:
        """Returns the object from a current cache, or from a recent lookup.

        Returns None if there is no such object. Raises NotCached if a lookup must decide that.
        """
        resource_cache = self._cache.get_resource_cache(ref)
        if resource_cache is None:
            return None
        cached = resource_cache.get(ref)
        if cached is not None and resource_cache.age < STALE_AFTER:
            return cached
        if not resource_cache.can_hold(ref):
            return None
        result = self._results.get(ref)
        if result and self._clock.now() < result.expires_at:
            return result.metadata
        raise NotCached(ref)

    async def look_up(self, ref: ObjectRef, deadline: float) -> ObjectMetadata | None:
        """Reads the object, or waits for a lookup of it that is in progress."""
        resource_cache = self._cache.get_resource_cache(ref)
        if resource_cache is None or not resource_cache.can_hold(ref):
            return None
        task = self._running.get(ref) or self._start(ref)
        if task is None:
            return self._use_cached(ref, f"too many objects are being looked up to look up {ref}")
        seconds = deadline - self._clock.now()
        try:
            return await with_timeout(self._clock, seconds, _shield(task))
        except TimedOut:
            return self._use_cached(ref, f"{ref} could not be looked up in time")

    async def close(self) -> None:
        """Cancels all lookups in progress."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _start(self, ref: ObjectRef) -> asyncio.Task[ObjectMetadata | None] | None:
        limiter = self._miss_limiter if self._cache.get(ref) is None else self._refresh_limiter
        if len(self._running) >= MAX_CONCURRENT_LOOKUPS or not limiter.try_accept():
            return None
        task = asyncio.ensure_future(self._run(ref))
        self._running[ref] = task
        task.add_done_callback(lambda done: self._finish(ref, done))
        return task

    def _finish(self, ref: ObjectRef, task: asyncio.Task[ObjectMetadata | None]) -> None:
        del self._running[ref]
        if not task.cancelled():
            task.exception()  # marks it as retrieved: all callers may have timed out before

    async def _run(self, ref: ObjectRef) -> ObjectMetadata | None:
        if self._cache.get(ref) and self._clock.now() < self._unreachable_until:
            return self._use_cached(ref, "")
        try:
            metadata = await with_timeout(self._clock, LOOKUP_TIMEOUT, self._fetch_with_retry(ref))
        except (TimedOut, Unreachable) as e:
            self._unreachable_until = self._clock.now() + OUTAGE_DURATION
            return self._use_cached(
                ref, f"{ref} could not be looked up: {e or 'the API server has not answered'}"
            )
        except (StatusError, BadAccess, msgspec.DecodeError) as e:
            is_permanent = isinstance(e, StatusError) and not e.is_transient
            return self._use_cached(
                ref,
                f"{ref} could not be looked up: {e}",
                LookupRefused if is_permanent else LookupFailed,
            )
        self._store_result(ref, metadata)
        return metadata

    async def _fetch_with_retry(self, ref: ObjectRef) -> ObjectMetadata | None:
        """Reads the object, and once more if it is not found.

        The API server rejects a pod whose ServiceAccount is missing. A 404 is therefore more
        likely a replication lag than the truth.
        """
        if metadata := await self._fetch(ref):
            return metadata
        if not self._grace:
            return None
        await self._clock.sleep(self._grace / 2)
        return self._cache.get(ref) or await self._fetch(ref)

    async def _fetch(self, ref: ObjectRef) -> ObjectMetadata | None:
        resource_cache = self._cache.get_resource_cache(ref)
        path = resource_cache.resource.object_path(ref) if resource_cache else None
        if path is None:
            return None
        while True:
            try:
                return self._reader.read(
                    decode_item(await self._client.get(path, METADATA)).metadata
                )
            except StatusError as e:
                if e.status == 404:
                    return None
                if e.status != 429 or e.retry_after is None or e.retry_after >= LOOKUP_TIMEOUT:
                    raise
                await self._clock.sleep(e.retry_after)

    def _use_cached(
        self,
        ref: ObjectRef,
        problem: str,
        error_type: type[LookupFailed | LookupRefused] = LookupFailed,
    ) -> ObjectMetadata | None:
        """Returns the cached object even if it is stale. Raises `error_type` if there is none."""
        cached = self._cache.get(ref)
        if cached is None:
            raise error_type(problem)
        self._store_result(ref, cached)
        return cached

    def _store_result(self, ref: ObjectRef, metadata: ObjectMetadata | None) -> None:
        now = self._clock.now()
        self._results.pop(ref, None)
        self._results[ref] = _Result(metadata, now + RESULT_TTL)
        while (
            self._results
            and (oldest := next(iter(self._results)))
            and self._results[oldest].expires_at <= now
        ):
            del self._results[oldest]


class ReviewView:
    """The view of one review: the cache, plus the results of the review's lookups.

    A lookup's result stays the same for the whole review.
    """

    def __init__(self, lookups: Lookups, deadline: float) -> None:
        self._lookups, self._deadline = lookups, deadline
        self._results: dict[ObjectRef, ObjectMetadata | None] = {}

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        return self._results[ref] if ref in self._results else self._lookups.get_known(ref)

    async def look_up(self, ref: ObjectRef) -> None:
        """Reads the object, so that `get` returns it. Raises LookupFailed or LookupRefused."""
        if len(self._results) >= MAX_LOOKUPS_PER_REVIEW:
            raise LookupFailed(f"{ref} is one object too many to look up for one review")
        self._results[ref] = await self._lookups.look_up(ref, self._deadline)


async def _shield(task: asyncio.Task[ObjectMetadata | None]) -> ObjectMetadata | None:
    """Waits for a task. A cancelled caller does not cancel the task for the others."""
    return await asyncio.shield(task)
