"""Requests to an API server: what of them is used again, and that nothing of them is left when they are over, however they end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator

import pytest
from cwii_webhook.admission.cluster_view import service_account_ref
from cwii_webhook.kube.access import Access, Server
from cwii_webhook.kube.cache.watch import SILENCE_TIMEOUT
from cwii_webhook.kube.client import Client
from cwii_webhook.kube.clock import RealClock
from cwii_webhook.kube.errors import StatusError, Unreachable
from cwii_webhook.kube.identity import Credential, Identity, StaticIdentity
from cwii_webhook.kube.permissions import find_missing_permissions
from cwii_webhook.kube.resources import SERVICE_ACCOUNTS

from tests.webhook.apiserver.running import RunningApiServer, run_apiserver
from tests.webhook.fake_clock import advance_until, wait_until
from tests.webhook.kube.running import run_synced_informer

ENOUGH = 5  # requests that ended before they were given up: there are no further moments
ALONE = 2  # tasks: a test's own, and the one that gives it its time
PLACE = "/api/v1/namespaces"


@pytest.fixture
def api_of(apiserver: RunningApiServer) -> Callable[[float], Client]:
    return lambda idle: Client(
        Access(
            Server.from_url(apiserver.url, ca=apiserver.ca),
            StaticIdentity(Credential("first")),
            RealClock(),
        ),
        idle,
    )


async def nobody_connected(apiserver: RunningApiServer) -> None:
    await wait_until(lambda: not apiserver.run_in_loop(lambda: apiserver.network.open_connections))


async def test_a_request_that_is_given_up_at_any_moment_leaves_no_connection(
    apiserver: RunningApiServer, api_of: Callable[[float], Client]
) -> None:
    ended = moment = 0
    while ended < ENOUGH:
        api = api_of(5.0)
        asking = asyncio.create_task(api.get(PLACE))
        for _ in range(moment):
            await asyncio.sleep(0.0002 if moment % 3 else 0)
        ended += asking.done()
        asking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asking
        await api.close()
        moment += 1
    await nobody_connected(apiserver)


async def test_an_answer_that_comes_after_the_end_leaves_no_connection(
    apiserver: RunningApiServer, api_of: Callable[[float], Client]
) -> None:
    apiserver.user.apply(SERVICE_ACCOUNTS, "shop", "web")
    held, api = apiserver.run_in_loop(asyncio.Event), api_of(600.0)
    apiserver.fake.behavior.release_reads = held
    asking = asyncio.create_task(api.get(f"{PLACE}/shop/serviceaccounts/web"))
    await wait_until(lambda: apiserver.fake.count_requests("get"))
    await api.close()
    apiserver.run_in_loop(held.set)
    assert b"web" in await asking
    await nobody_connected(apiserver)


async def test_a_name_that_no_host_can_have_is_a_server_that_cannot_be_reached() -> None:
    api = Client(
        Access(
            Server.from_url(f"https://{'a' * 64}.example.org"),
            StaticIdentity(Credential("first")),
            RealClock(),
        ),
        5.0,
    )

    with pytest.raises(Unreachable, match="cannot be reached"):
        await api.get(PLACE)


async def test_a_connection_is_used_again_and_let_go_when_nobody_needs_it(
    apiserver: RunningApiServer, api_of: Callable[[float], Client]
) -> None:
    api = api_of(0.5)
    await api.get(PLACE)
    await api.get(PLACE)
    assert apiserver.run_in_loop(lambda: apiserver.network.open_connections) == 1
    await nobody_connected(apiserver)
    await api.get(PLACE)
    await api.close()


async def test_of_permissions_that_could_not_be_asked_for_nobody_goes_on_asking(
    apiserver: RunningApiServer, api_of: Callable[[float], Client]
) -> None:
    apiserver.fake.behavior.retry_after["create"] = [1]
    api = api_of(5.0)
    with pytest.raises(StatusError, match="429"):
        await find_missing_permissions(api, [SERVICE_ACCOUNTS])
    assert len(asyncio.all_tasks()) == ALONE
    await api.close()


async def test_of_an_informer_that_ended_nobody_goes_on_reading(
    apiserver: RunningApiServer,
) -> None:
    async with run_synced_informer(apiserver) as r:
        apiserver.fake.behavior.release_reads = apiserver.run_in_loop(asyncio.Event)
        looking = asyncio.create_task(r.look_up_role(service_account_ref("shop", "new")))
        await wait_until(lambda: r.count_requests("get"))
    with pytest.raises(asyncio.CancelledError):
        await looking
    assert len(asyncio.all_tasks()) == ALONE
    await nobody_connected(apiserver)


@pytest.fixture
def other() -> Iterator[RunningApiServer]:
    with run_apiserver() as ground:
        ground.fake.behavior.accepted_tokens = {"second"}
        yield ground


def access_to(ground: RunningApiServer, identity: Identity) -> Access:
    return Access(Server.from_url(ground.url, ca=ground.ca), identity, RealClock())


def tokens(ground: RunningApiServer) -> set[str]:
    return ground.run_in_loop(lambda: {request.token for request in ground.fake.requests})


async def test_to_a_server_that_was_left_nobody_stays_connected_and_no_new_token_is_shown(
    apiserver: RunningApiServer, other: RunningApiServer
) -> None:
    access = access_to(apiserver, StaticIdentity(Credential("first")))
    api = Client(access, 600.0)
    await api.get("/api/v1")
    access.replace(access_to(other, StaticIdentity(Credential("second"))))
    await nobody_connected(apiserver)
    await api.get("/api/v1")
    await api.close()
    assert (tokens(apiserver), tokens(other)) == ({"first"}, {"second"})


async def test_a_connection_that_is_answered_after_its_server_was_left_is_not_used_again(
    apiserver: RunningApiServer, other: RunningApiServer
) -> None:
    apiserver.user.apply(SERVICE_ACCOUNTS, "shop", "web")
    apiserver.fake.behavior.release_reads = held = apiserver.run_in_loop(asyncio.Event)
    access = access_to(apiserver, StaticIdentity(Credential("first")))
    api = Client(access, 600.0)
    asking = asyncio.create_task(api.get(f"{PLACE}/shop/serviceaccounts/web"))
    await wait_until(lambda: apiserver.fake.count_requests("get"))
    access.replace(access_to(other, StaticIdentity(Credential("second"))))
    apiserver.run_in_loop(held.set)
    assert b"web" in await asking
    await nobody_connected(apiserver)
    await api.get("/api/v1")
    await api.close()


class Slow:
    """An identity that takes its time, as a plugin does."""

    def __init__(self) -> None:
        self.asked, self.answer = asyncio.Event(), asyncio.Event()

    async def credential(self) -> Credential:
        self.asked.set()
        await self.answer.wait()
        return Credential("first")

    def invalidate(self) -> None: ...


async def test_a_token_that_comes_late_is_shown_to_its_own_server(
    apiserver: RunningApiServer, other: RunningApiServer
) -> None:
    slow = Slow()
    access = access_to(apiserver, slow)
    api = Client(access)
    asking = asyncio.create_task(api.get("/api/v1"))
    await slow.asked.wait()
    access.replace(access_to(other, StaticIdentity(Credential("second"))))
    slow.answer.set()
    assert b"serviceaccounts" in await asking
    await api.close()
    assert (tokens(apiserver), tokens(other)) == ({"first"}, set())


async def test_watches_go_over_to_the_new_server_and_forget_what_only_the_old_one_has(
    apiserver: RunningApiServer, other: RunningApiServer
) -> None:
    for ground, name in ((apiserver, "old"), (other, "new"), (other, "newer")):
        ground.user.apply(SERVICE_ACCOUNTS, "shop", name, {"cwii.dev/role": name})
    async with run_synced_informer(apiserver) as r:
        r.access.replace(access_to(other, StaticIdentity(Credential("second"))))
        await advance_until(
            r.clock, 0.05, lambda: r.cached_role(service_account_ref("shop", "new")) == "new"
        )
        assert r.clock.now() < 1000 + SILENCE_TIMEOUT  # else they may have heard of it from nobody
        assert (r.informer.sizes(), r.cached_role(service_account_ref("shop", "old"))) == (
            {"serviceaccounts": 2},
            "unknown",
        )
        await nobody_connected(apiserver)
