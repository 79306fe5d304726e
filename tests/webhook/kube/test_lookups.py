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
from cwii_webhook.kube.cache.lookups import MOST_AT_ONCE, MOST_FOR_ONE, PATIENCE, REMEMBERED, Bounds
from cwii_webhook.kube.cache.store import STALE
from cwii_webhook.kube.client import IDLE
from cwii_webhook.kube.resources import SERVICE_ACCOUNTS

from tests.webhook.apiserver.running import Ground
from tests.webhook.fake_clock import passing, until
from tests.webhook.kube.running import DEADLINE, ROLE, WEB, Running, ready


def freeze(r: Running) -> None:
    r.ground.do(r.ground.wire.freeze)
    r.clock.advance(IDLE)  # single reads have new connections, which are as good as ever


def put_unseen(r: Running, role: str) -> None:
    """The watch does not hear of it: its packets are dropped."""
    freeze(r)
    r.give(role)


async def test_what_the_watch_has_not_told_yet_is_read_directly(apiserver: Ground) -> None:
    async with ready(apiserver) as r:
        put_unseen(r, "one")
        assert r.role() == "unknown"
        assert await r.found() == "one"
        assert r.asked("get") == 1


async def test_what_was_read_for_a_review_is_seen_by_its_next_try_however_late(
    apiserver: Ground,
) -> None:
    async with ready(apiserver) as r:
        put_unseen(r, "one")
        sight = r.sight()
        looking = asyncio.create_task(sight.look_up(WEB))
        await passing(r.clock, 0.02, looking.done)
        r.clock.advance(60)
        seen = sight.get(WEB)
        assert seen is not None
        assert seen.annotations == {ROLE: "one"}


async def test_of_many_who_wait_for_one_object_one_reads_it(apiserver: Ground) -> None:
    async with ready(apiserver) as r:
        put_unseen(r, "one")
        held = hold(apiserver)
        waiting = [asyncio.create_task(r.looked()) for _ in range(100)]
        await until(lambda: r.asked("get"))
        apiserver.do(held.set)
        assert set(await asyncio.gather(*waiting)) == {"one"}
        assert r.asked("get") == 1


async def test_what_is_not_found_is_looked_for_a_second_time_within_the_grace(
    apiserver: Ground,
) -> None:
    async with ready(apiserver) as r:
        freeze(r)
        began = r.clock.now()
        looking = asyncio.create_task(r.looked())
        await until(lambda: r.asked("get") == 1)
        r.give("one")
        assert await r.ended(looking) == "one"
        assert r.asked("get") == 2
        assert (
            r.clock.now() - began < 1
        )  # and not 0.2: time passes here while an answer is on its way, too


async def test_without_grace_there_is_no_second_try(apiserver: Ground) -> None:
    async with ready(apiserver, bounds=Bounds(grace=0)) as r:
        assert await r.looked() == "none"
        assert r.asked("get") == 1


async def test_what_is_not_there_is_remembered_for_a_second_and_no_longer(
    apiserver: Ground,
) -> None:
    async with ready(apiserver, bounds=Bounds(grace=0)) as r:
        assert await r.looked() == "none"
        assert r.role() == "none"
        r.clock.advance(REMEMBERED)
        assert r.role() == "unknown"


async def test_what_the_watch_tells_counts_more_than_a_remembered_miss(apiserver: Ground) -> None:
    async with ready(apiserver, bounds=Bounds(grace=0)) as r:
        assert await r.looked() == "none"
        r.give("one")
        await until(lambda: r.role() == "one")


async def test_what_was_not_heard_of_for_three_minutes_is_read_before_it_is_believed(
    apiserver: Ground,
) -> None:
    apiserver.hands.put(SERVICE_ACCOUNTS, "shop", "web", {ROLE: "one"})
    async with ready(apiserver) as r:
        apiserver.double.ways.busy["watch"] = [
            10_000
        ]  # the watch cannot come back, single reads are answered
        apiserver.do(apiserver.wire.cut)
        r.give("two")
        await passing(r.clock, 0.1, r.trouble)
        r.clock.advance(STALE - r.informer.ages()["serviceaccounts"] - 0.1)
        assert r.role() == "one"
        r.clock.advance(0.1)
        assert r.role() == "unknown"
        assert await r.looked() == "two"


async def test_more_misses_than_the_rate_allows_are_undecided_and_not_read(
    apiserver: Ground,
) -> None:
    async with ready(apiserver, bounds=Bounds(grace=0, misses_per_second=1, misses_at_once=3)) as r:
        for number in range(3):
            assert await r.looked(service_account_ref("shop", f"random-{number}")) == "none"
        with pytest.raises(
            LookupFailed,
            match="too many objects are being looked up to look up ServiceAccount shop/random-4",
        ):
            await r.looked(service_account_ref("shop", "random-4"))
        assert r.asked("get") == 3
        r.clock.advance(1)
        assert await r.looked(service_account_ref("shop", "random-4")) == "none"


async def test_misses_of_strangers_take_nothing_from_refreshes(apiserver: Ground) -> None:
    apiserver.hands.put(SERVICE_ACCOUNTS, "shop", "web", {ROLE: "one"})
    async with ready(apiserver, bounds=Bounds(grace=0, misses_per_second=0, misses_at_once=0)) as r:
        r.clock.advance(STALE)
        r.give("two")
        assert await r.looked() == "two"


async def test_reads_at_once_are_bounded_in_number(apiserver: Ground) -> None:
    async with ready(apiserver) as r:
        held = hold(apiserver)
        waiting = [
            asyncio.create_task(r.looked(service_account_ref("shop", f"random-{n}")))
            for n in range(MOST_AT_ONCE)
        ]
        await until(lambda: r.asked("get") == MOST_AT_ONCE)
        with pytest.raises(LookupFailed):
            await r.looked(service_account_ref("shop", "one-more"))
        apiserver.do(held.set)
        await passing(r.clock, 0.02, lambda: all(task.done() for task in waiting))


async def test_a_read_that_takes_too_long_is_undecided(apiserver: Ground) -> None:
    async with ready(apiserver) as r:
        hold(apiserver)
        looking = asyncio.create_task(r.looked())
        await until(lambda: r.asked("get"))
        r.clock.advance(PATIENCE)
        with pytest.raises(LookupFailed, match="could not be looked up"):
            await looking


async def test_nobody_waits_longer_than_the_review_may_take(apiserver: Ground) -> None:
    async with ready(apiserver) as r:
        hold(apiserver)
        sight = r.informer.view(r.clock.now() + 0.5)
        looking = asyncio.create_task(sight.look_up(WEB))
        await until(lambda: r.asked("get"))
        r.clock.advance(0.5)
        with pytest.raises(LookupFailed, match="in time"):
            await looking
        with pytest.raises(NotCached):
            sight.get(WEB)


async def test_an_outage_is_waited_for_once_and_not_by_every_review(apiserver: Ground) -> None:
    """Packets to the API server are dropped: each read would take all its time."""
    apiserver.hands.put(SERVICE_ACCOUNTS, "shop", "web", {ROLE: "one"})
    apiserver.hands.put(SERVICE_ACCOUNTS, "shop", "api", {ROLE: "two"})
    async with ready(apiserver) as r:
        hold(apiserver)
        apiserver.double.ways.busy["watch"] = [10_000]
        apiserver.do(apiserver.wire.cut)
        await passing(r.clock, 0.1, r.trouble)
        r.clock.advance(STALE)
        first = asyncio.create_task(r.looked())
        await until(lambda: r.asked("get") == 1)
        r.clock.advance(PATIENCE)
        assert await first == "one"
        assert await r.looked(service_account_ref("shop", "api")) == "two"
        assert r.asked("get") == 1


async def test_a_busy_api_server_is_asked_again_when_it_says(apiserver: Ground) -> None:
    async with ready(apiserver) as r:
        put_unseen(r, "one")
        apiserver.double.ways.busy["get"] = [1]
        began = r.clock.now()
        looking = asyncio.create_task(r.looked())
        await until(lambda: r.asked("get") == 1)
        assert await r.ended(looking) == "one"
        assert r.clock.now() - began >= 1


@pytest.mark.parametrize("busy", [60, 3600])
async def test_a_review_does_not_wait_for_an_api_server_that_is_busy_for_long(
    apiserver: Ground, busy: int
) -> None:
    async with ready(apiserver) as r:
        apiserver.double.ways.busy["get"] = [busy]
        with pytest.raises(LookupFailed, match="429"):
            await r.looked()


@pytest.mark.parametrize(
    "name", ["..", "../../secrets/x", "a/b", "", "UPPER", "a" * 300, "web?watch=1", "web\r\nX: y"]
)
async def test_what_no_object_can_be_called_is_not_asked_for(apiserver: Ground, name: str) -> None:
    async with ready(apiserver) as r:
        asked = len(apiserver.double.requests)
        assert r.role(service_account_ref("shop", name)) == "none"
        assert r.role(service_account_ref(name, "web")) == "none"
        assert await r.looked(service_account_ref(name, name)) == "none"
        assert len(apiserver.double.requests) == asked


async def test_of_a_kind_that_nobody_asks_for_nothing_is_known(apiserver: Ground) -> None:
    async with ready(apiserver) as r:
        assert r.role(ObjectRef("example.org", "Workflow", "shop", "web")) == "none"


async def test_one_review_looks_up_so_many_objects_and_no_more(apiserver: Ground) -> None:
    async with ready(apiserver, bounds=Bounds(grace=0)) as r:
        sight = r.informer.view(r.clock.now() + DEADLINE)
        for number in range(MOST_FOR_ONE):
            await sight.look_up(service_account_ref("shop", f"random-{number}"))
        with pytest.raises(LookupFailed, match="one object too many"):
            await sight.look_up(service_account_ref("shop", "one-more"))


def hold(ground: Ground) -> asyncio.Event:
    """Single reads wait for it."""
    held = ground.do(asyncio.Event)
    ground.double.ways.held = held
    return held
