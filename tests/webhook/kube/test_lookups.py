"""What the picture lacks: read at once, once, and within bounds."""

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


def freeze(r: RunningInformer) -> None:
    r.apiserver.run_in_loop(r.apiserver.network.freeze)
    r.clock.advance(IDLE_TIMEOUT)  # single reads have new connections, which are as good as ever


def put_unseen(r: RunningInformer, role: str) -> None:
    """The watch does not hear of it: its packets are dropped."""
    freeze(r)
    r.set_role(role)


async def test_what_the_watch_has_not_told_yet_is_read_directly(
    apiserver: RunningApiServer,
) -> None:
    async with run_synced_informer(apiserver) as r:
        put_unseen(r, "one")
        assert r.cached_role() == "unknown"
        assert await r.look_up_role_over_time() == "one"
        assert r.count_requests("get") == 1


async def test_what_was_read_for_a_review_is_seen_by_its_next_try_however_late(
    apiserver: RunningApiServer,
) -> None:
    async with run_synced_informer(apiserver) as r:
        put_unseen(r, "one")
        sight = r.view()
        looking = asyncio.create_task(sight.look_up(WEB))
        await advance_until(r.clock, 0.02, looking.done)
        r.clock.advance(60)
        seen = sight.get(WEB)
        assert seen is not None
        assert seen.annotations == {ROLE: "one"}


async def test_of_many_who_wait_for_one_object_one_reads_it(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver) as r:
        put_unseen(r, "one")
        held = hold(apiserver)
        waiting = [asyncio.create_task(r.look_up_role()) for _ in range(100)]
        await wait_until(lambda: r.count_requests("get"))
        apiserver.run_in_loop(held.set)
        assert set(await asyncio.gather(*waiting)) == {"one"}
        assert r.count_requests("get") == 1


async def test_what_is_not_found_is_looked_for_a_second_time_within_the_grace(
    apiserver: RunningApiServer,
) -> None:
    async with run_synced_informer(apiserver) as r:
        freeze(r)
        began = r.clock.now()
        looking = asyncio.create_task(r.look_up_role())
        await wait_until(lambda: r.count_requests("get") == 1)
        r.set_role("one")
        assert await r.advance_until_done(looking) == "one"
        assert r.count_requests("get") == 2
        assert (
            r.clock.now() - began < 1
        )  # and not 0.2: time passes here while an answer is on its way, too


async def test_without_grace_there_is_no_second_try(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver, lookup_limits=LookupLimits(grace=0)) as r:
        assert await r.look_up_role() == "none"
        assert r.count_requests("get") == 1


async def test_what_is_not_there_is_remembered_for_a_second_and_no_longer(
    apiserver: RunningApiServer,
) -> None:
    async with run_synced_informer(apiserver, lookup_limits=LookupLimits(grace=0)) as r:
        assert await r.look_up_role() == "none"
        assert r.cached_role() == "none"
        r.clock.advance(RESULT_TTL)
        assert r.cached_role() == "unknown"


async def test_what_the_watch_tells_counts_more_than_a_remembered_miss(
    apiserver: RunningApiServer,
) -> None:
    async with run_synced_informer(apiserver, lookup_limits=LookupLimits(grace=0)) as r:
        assert await r.look_up_role() == "none"
        r.set_role("one")
        await wait_until(lambda: r.cached_role() == "one")


async def test_what_was_not_heard_of_for_three_minutes_is_read_before_it_is_believed(
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


async def test_more_misses_than_the_rate_allows_are_undecided_and_not_read(
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


async def test_misses_of_strangers_take_nothing_from_refreshes(apiserver: RunningApiServer) -> None:
    apiserver.user.apply(SERVICE_ACCOUNTS, "shop", "web", {ROLE: "one"})
    async with run_synced_informer(
        apiserver, lookup_limits=LookupLimits(grace=0, misses_per_second=0, misses_burst=0)
    ) as r:
        r.clock.advance(STALE_AFTER)
        r.set_role("two")
        assert await r.look_up_role() == "two"


async def test_reads_at_once_are_bounded_in_number(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver) as r:
        held = hold(apiserver)
        waiting = [
            asyncio.create_task(r.look_up_role(service_account_ref("shop", f"random-{n}")))
            for n in range(MAX_CONCURRENT_LOOKUPS)
        ]
        await wait_until(lambda: r.count_requests("get") == MAX_CONCURRENT_LOOKUPS)
        with pytest.raises(LookupFailed):
            await r.look_up_role(service_account_ref("shop", "one-more"))
        apiserver.run_in_loop(held.set)
        await advance_until(r.clock, 0.02, lambda: all(task.done() for task in waiting))


async def test_a_read_that_takes_too_long_is_undecided(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver) as r:
        hold(apiserver)
        looking = asyncio.create_task(r.look_up_role())
        await wait_until(lambda: r.count_requests("get"))
        r.clock.advance(LOOKUP_TIMEOUT)
        with pytest.raises(LookupFailed, match="could not be looked up"):
            await looking


async def test_nobody_waits_longer_than_the_review_may_take(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver) as r:
        hold(apiserver)
        sight = r.informer.view(r.clock.now() + 0.5)
        looking = asyncio.create_task(sight.look_up(WEB))
        await wait_until(lambda: r.count_requests("get"))
        r.clock.advance(0.5)
        with pytest.raises(LookupFailed, match="in time"):
            await looking
        with pytest.raises(NotCached):
            sight.get(WEB)


async def test_an_outage_is_waited_for_once_and_not_by_every_review(
    apiserver: RunningApiServer,
) -> None:
    """Packets to the API server are dropped: each read would take all its time."""
    apiserver.user.apply(SERVICE_ACCOUNTS, "shop", "web", {ROLE: "one"})
    apiserver.user.apply(SERVICE_ACCOUNTS, "shop", "api", {ROLE: "two"})
    async with run_synced_informer(apiserver) as r:
        hold(apiserver)
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


async def test_a_busy_api_server_is_asked_again_when_it_says(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver) as r:
        put_unseen(r, "one")
        apiserver.fake.behavior.retry_after["get"] = [1]
        began = r.clock.now()
        looking = asyncio.create_task(r.look_up_role())
        await wait_until(lambda: r.count_requests("get") == 1)
        assert await r.advance_until_done(looking) == "one"
        assert r.clock.now() - began >= 1


@pytest.mark.parametrize("busy", [60, 3600])
async def test_a_review_does_not_wait_for_an_api_server_that_is_busy_for_long(
    apiserver: RunningApiServer, busy: int
) -> None:
    async with run_synced_informer(apiserver) as r:
        apiserver.fake.behavior.retry_after["get"] = [busy]
        with pytest.raises(LookupFailed, match="429"):
            await r.look_up_role()


@pytest.mark.parametrize(
    "name", ["..", "../../secrets/x", "a/b", "", "UPPER", "a" * 300, "web?watch=1", "web\r\nX: y"]
)
async def test_what_no_object_can_be_called_is_not_asked_for(
    apiserver: RunningApiServer, name: str
) -> None:
    async with run_synced_informer(apiserver) as r:
        asked = len(apiserver.fake.requests)
        assert r.cached_role(service_account_ref("shop", name)) == "none"
        assert r.cached_role(service_account_ref(name, "web")) == "none"
        assert await r.look_up_role(service_account_ref(name, name)) == "none"
        assert len(apiserver.fake.requests) == asked


async def test_of_a_kind_that_nobody_asks_for_nothing_is_known(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver) as r:
        assert r.cached_role(ObjectRef("example.org", "Workflow", "shop", "web")) == "none"


async def test_one_review_looks_up_so_many_objects_and_no_more(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver, lookup_limits=LookupLimits(grace=0)) as r:
        sight = r.informer.view(r.clock.now() + REVIEW_TIMEOUT)
        for number in range(MAX_LOOKUPS_PER_REVIEW):
            await sight.look_up(service_account_ref("shop", f"random-{number}"))
        with pytest.raises(LookupFailed, match="one object too many"):
            await sight.look_up(service_account_ref("shop", "one-more"))


def hold(ground: RunningApiServer) -> asyncio.Event:
    """Single reads wait for it."""
    held = ground.run_in_loop(asyncio.Event)
    ground.fake.behavior.release_reads = held
    return held
