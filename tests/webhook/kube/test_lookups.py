"""Tests of lookups of objects that the cache lacks."""

from __future__ import annotations

import asyncio

import pytest
from cwii_webhook.admission.cluster_view import (
    LookupFailed,
    NotCached,
    ObjectRef,
    service_account_ref,
)
from cwii_webhook.kube.cache.lookups import (
    LOOKUP_TIMEOUT,
    MAX_CONCURRENT_LOOKUPS,
    MAX_LOOKUPS_PER_REVIEW,
    RESULT_TTL,
    LookupLimits,
)
from cwii_webhook.kube.cache.store import STALE_AFTER
from cwii_webhook.kube.client import IDLE_TIMEOUT
from cwii_webhook.kube.resources import SERVICE_ACCOUNTS

from tests.webhook.apiserver.running import RunningApiServer
from tests.webhook.fake_clock import advance_until, wait_until
from tests.webhook.kube.running import (
    REVIEW_TIMEOUT,
    ROLE,
    WEB,
    RunningInformer,
    run_synced_informer,
)


def freeze_network(r: RunningInformer) -> None:
    r.apiserver.run_in_loop(r.apiserver.network.freeze)
    r.clock.advance(IDLE_TIMEOUT)  # lookups now open new connections, which are not frozen


def set_role_without_event(r: RunningInformer, role: str) -> None:
    """Changes the role without an event, because the watch's packets are dropped."""
    freeze_network(r)
    r.set_role(role)


async def test_object_without_watch_event_is_looked_up(
    apiserver: RunningApiServer,
) -> None:
    async with run_synced_informer(apiserver) as r:
        set_role_without_event(r, "one")
        assert r.cached_role() == "unknown"
        assert await r.look_up_role_over_time() == "one"
        assert r.count_requests("get") == 1


async def test_lookup_result_stays_valid_for_its_review(
    apiserver: RunningApiServer,
) -> None:
    async with run_synced_informer(apiserver) as r:
        set_role_without_event(r, "one")
        view = r.view()
        lookup = asyncio.create_task(view.look_up(WEB))
        await advance_until(r.clock, 0.02, lookup.done)
        r.clock.advance(60)
        metadata = view.get(WEB)
        assert metadata is not None
        assert metadata.annotations == {ROLE: "one"}


async def test_concurrent_lookups_of_one_object_make_one_request(
    apiserver: RunningApiServer,
) -> None:
    async with run_synced_informer(apiserver) as r:
        set_role_without_event(r, "one")
        release = hold_reads(apiserver)
        lookups = [asyncio.create_task(r.look_up_role()) for _ in range(100)]
        await wait_until(lambda: r.count_requests("get"))
        apiserver.run_in_loop(release.set)
        assert set(await asyncio.gather(*lookups)) == {"one"}
        assert r.count_requests("get") == 1


async def test_missing_object_is_read_again_within_the_grace(
    apiserver: RunningApiServer,
) -> None:
    async with run_synced_informer(apiserver) as r:
        freeze_network(r)
        started_at = r.clock.now()
        lookup = asyncio.create_task(r.look_up_role())
        await wait_until(lambda: r.count_requests("get") == 1)
        r.set_role("one")
        assert await r.advance_until_done(lookup) == "one"
        assert r.count_requests("get") == 2
        # Not 0.2 seconds: the test also advances the clock while a response is on its way.
        assert r.clock.now() - started_at < 1


async def test_without_grace_there_is_no_second_read(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver, lookup_limits=LookupLimits(grace=0)) as r:
        assert await r.look_up_role() == "none"
        assert r.count_requests("get") == 1


async def test_missing_object_is_remembered_for_one_second(
    apiserver: RunningApiServer,
) -> None:
    async with run_synced_informer(apiserver, lookup_limits=LookupLimits(grace=0)) as r:
        assert await r.look_up_role() == "none"
        assert r.cached_role() == "none"
        r.clock.advance(RESULT_TTL)
        assert r.cached_role() == "unknown"


async def test_watch_event_overrides_a_remembered_miss(
    apiserver: RunningApiServer,
) -> None:
    async with run_synced_informer(apiserver, lookup_limits=LookupLimits(grace=0)) as r:
        assert await r.look_up_role() == "none"
        r.set_role("one")
        await wait_until(lambda: r.cached_role() == "one")


async def test_object_is_read_directly_after_three_minutes_without_events(
    apiserver: RunningApiServer,
) -> None:
    apiserver.user.apply(SERVICE_ACCOUNTS, "shop", "web", {ROLE: "one"})
    async with run_synced_informer(apiserver) as r:
        apiserver.fake.behavior.retry_after["watch"] = [
            10_000
        ]  # the watch cannot come back, single reads are answered
        apiserver.run_in_loop(apiserver.network.cut)
        r.set_role("two")
        await advance_until(r.clock, 0.1, r.errors)
        r.clock.advance(STALE_AFTER - r.informer.ages()["serviceaccounts"] - 0.1)
        assert r.cached_role() == "one"
        r.clock.advance(0.1)
        assert r.cached_role() == "unknown"
        assert await r.look_up_role() == "two"


async def test_misses_above_the_rate_limit_fail_without_a_request(
    apiserver: RunningApiServer,
) -> None:
    async with run_synced_informer(
        apiserver, lookup_limits=LookupLimits(grace=0, misses_per_second=1, misses_burst=3)
    ) as r:
        for number in range(3):
            assert await r.look_up_role(service_account_ref("shop", f"random-{number}")) == "none"
        with pytest.raises(
            LookupFailed,
            match="too many objects are being looked up to look up ServiceAccount shop/random-4",
        ):
            await r.look_up_role(service_account_ref("shop", "random-4"))
        assert r.count_requests("get") == 3
        r.clock.advance(1)
        assert await r.look_up_role(service_account_ref("shop", "random-4")) == "none"


async def test_misses_do_not_use_up_the_limit_of_refreshes(apiserver: RunningApiServer) -> None:
    apiserver.user.apply(SERVICE_ACCOUNTS, "shop", "web", {ROLE: "one"})
    async with run_synced_informer(
        apiserver, lookup_limits=LookupLimits(grace=0, misses_per_second=0, misses_burst=0)
    ) as r:
        r.clock.advance(STALE_AFTER)
        r.set_role("two")
        assert await r.look_up_role() == "two"


async def test_number_of_concurrent_lookups_is_limited(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver) as r:
        release = hold_reads(apiserver)
        lookups = [
            asyncio.create_task(r.look_up_role(service_account_ref("shop", f"random-{n}")))
            for n in range(MAX_CONCURRENT_LOOKUPS)
        ]
        await wait_until(lambda: r.count_requests("get") == MAX_CONCURRENT_LOOKUPS)
        with pytest.raises(LookupFailed):
            await r.look_up_role(service_account_ref("shop", "one-more"))
        apiserver.run_in_loop(release.set)
        await advance_until(r.clock, 0.02, lambda: all(task.done() for task in lookups))


async def test_lookup_fails_after_its_timeout(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver) as r:
        hold_reads(apiserver)
        lookup = asyncio.create_task(r.look_up_role())
        await wait_until(lambda: r.count_requests("get"))
        r.clock.advance(LOOKUP_TIMEOUT)
        with pytest.raises(LookupFailed, match="could not be looked up"):
            await lookup


async def test_lookup_fails_at_the_deadline_of_the_review(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver) as r:
        hold_reads(apiserver)
        view = r.informer.view(r.clock.now() + 0.5)
        lookup = asyncio.create_task(view.look_up(WEB))
        await wait_until(lambda: r.count_requests("get"))
        r.clock.advance(0.5)
        with pytest.raises(LookupFailed, match="in time"):
            await lookup
        with pytest.raises(NotCached):
            view.get(WEB)


async def test_only_one_review_waits_during_an_outage(
    apiserver: RunningApiServer,
) -> None:
    """During an outage each read would run into its timeout."""
    apiserver.user.apply(SERVICE_ACCOUNTS, "shop", "web", {ROLE: "one"})
    apiserver.user.apply(SERVICE_ACCOUNTS, "shop", "api", {ROLE: "two"})
    async with run_synced_informer(apiserver) as r:
        hold_reads(apiserver)
        apiserver.fake.behavior.retry_after["watch"] = [10_000]
        apiserver.run_in_loop(apiserver.network.cut)
        await advance_until(r.clock, 0.1, r.errors)
        r.clock.advance(STALE_AFTER)
        first = asyncio.create_task(r.look_up_role())
        await wait_until(lambda: r.count_requests("get") == 1)
        r.clock.advance(LOOKUP_TIMEOUT)
        assert await first == "one"
        assert await r.look_up_role(service_account_ref("shop", "api")) == "two"
        assert r.count_requests("get") == 1


async def test_lookup_is_retried_after_the_time_in_retry_after(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver) as r:
        set_role_without_event(r, "one")
        apiserver.fake.behavior.retry_after["get"] = [1]
        started_at = r.clock.now()
        lookup = asyncio.create_task(r.look_up_role())
        await wait_until(lambda: r.count_requests("get") == 1)
        assert await r.advance_until_done(lookup) == "one"
        assert r.clock.now() - started_at >= 1


@pytest.mark.parametrize("busy", [60, 3600])
async def test_lookup_fails_at_once_if_retry_after_is_long(
    apiserver: RunningApiServer, busy: int
) -> None:
    async with run_synced_informer(apiserver) as r:
        apiserver.fake.behavior.retry_after["get"] = [busy]
        with pytest.raises(LookupFailed, match="429"):
            await r.look_up_role()


@pytest.mark.parametrize(
    "name", ["..", "../../secrets/x", "a/b", "", "UPPER", "a" * 300, "web?watch=1", "web\r\nX: y"]
)
async def test_invalid_object_names_cause_no_request(
    apiserver: RunningApiServer, name: str
) -> None:
    async with run_synced_informer(apiserver) as r:
        request_count = len(apiserver.fake.requests)
        assert r.cached_role(service_account_ref("shop", name)) == "none"
        assert r.cached_role(service_account_ref(name, "web")) == "none"
        assert await r.look_up_role(service_account_ref(name, name)) == "none"
        assert len(apiserver.fake.requests) == request_count


async def test_object_of_an_unwatched_resource_is_absent(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver) as r:
        assert r.cached_role(ObjectRef("example.org", "Workflow", "shop", "web")) == "none"


async def test_number_of_lookups_per_review_is_limited(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver, lookup_limits=LookupLimits(grace=0)) as r:
        view = r.informer.view(r.clock.now() + REVIEW_TIMEOUT)
        for number in range(MAX_LOOKUPS_PER_REVIEW):
            await view.look_up(service_account_ref("shop", f"random-{number}"))
        with pytest.raises(LookupFailed, match="one object too many"):
            await view.look_up(service_account_ref("shop", "one-more"))


def hold_reads(apiserver: RunningApiServer) -> asyncio.Event:
    """Makes reads of single objects wait for the returned event."""
    release = apiserver.run_in_loop(asyncio.Event)
    apiserver.fake.behavior.release_reads = release
    return release
