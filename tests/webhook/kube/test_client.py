"""Tests of the client: connection reuse, and cleanup after requests that end in any way."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator

import pytest
from cwii_webhook.admission.cluster_view import service_account_ref
from cwii_webhook.kube.access import Access, ApiServer
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

MIN_COMPLETED_REQUESTS = 5  # requests that finish before the cancellation; all steps are covered
TEST_TASKS = 2  # the test's own task, and the one of its timeout
NAMESPACES_PATH = "/api/v1/namespaces"


@pytest.fixture
def make_client(apiserver: RunningApiServer) -> Callable[[float], Client]:
    return lambda idle: Client(
        Access(
            ApiServer.from_url(apiserver.url, ca=apiserver.ca),
            StaticIdentity(Credential("first")),
            RealClock(),
        ),
        idle,
    )


async def wait_until_disconnected(apiserver: RunningApiServer) -> None:
    await wait_until(lambda: not apiserver.run_in_loop(lambda: apiserver.network.open_connections))


async def test_request_cancelled_at_any_step_leaves_no_connection(
    apiserver: RunningApiServer, make_client: Callable[[float], Client]
) -> None:
    completed = steps = 0
    while completed < MIN_COMPLETED_REQUESTS:
        client = make_client(5.0)
        request = asyncio.create_task(client.get(NAMESPACES_PATH))
        for _ in range(steps):
            await asyncio.sleep(0.0002 if steps % 3 else 0)
        completed += request.done()
        request.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await request
        await client.close()
        steps += 1
    await wait_until_disconnected(apiserver)


async def test_response_after_close_leaves_no_connection(
    apiserver: RunningApiServer, make_client: Callable[[float], Client]
) -> None:
    apiserver.user.apply(SERVICE_ACCOUNTS, "shop", "web")
    release, client = apiserver.run_in_loop(asyncio.Event), make_client(600.0)
    apiserver.fake.behavior.release_reads = release
    request = asyncio.create_task(client.get(f"{NAMESPACES_PATH}/shop/serviceaccounts/web"))
    await wait_until(lambda: apiserver.fake.count_requests("get"))
    await client.close()
    apiserver.run_in_loop(release.set)
    assert b"web" in await request
    await wait_until_disconnected(apiserver)


async def test_invalid_host_name_raises_unreachable() -> None:
    client = Client(
        Access(
            ApiServer.from_url(f"https://{'a' * 64}.example.org"),
            StaticIdentity(Credential("first")),
            RealClock(),
        ),
        5.0,
    )

    with pytest.raises(Unreachable, match="cannot be reached"):
        await client.get(NAMESPACES_PATH)


async def test_connection_is_reused_and_closed_when_idle(
    apiserver: RunningApiServer, make_client: Callable[[float], Client]
) -> None:
    client = make_client(0.5)
    await client.get(NAMESPACES_PATH)
    await client.get(NAMESPACES_PATH)
    assert apiserver.run_in_loop(lambda: apiserver.network.open_connections) == 1
    await wait_until_disconnected(apiserver)
    await client.get(NAMESPACES_PATH)
    await client.close()


async def test_failed_access_review_cancels_the_others(
    apiserver: RunningApiServer, make_client: Callable[[float], Client]
) -> None:
    apiserver.fake.behavior.retry_after["create"] = [1]
    client = make_client(5.0)
    with pytest.raises(StatusError, match="429"):
        await find_missing_permissions(client, [SERVICE_ACCOUNTS])
    assert len(asyncio.all_tasks()) == TEST_TASKS
    await client.close()


async def test_informer_that_ends_cancels_its_lookups(
    apiserver: RunningApiServer,
) -> None:
    async with run_synced_informer(apiserver) as r:
        apiserver.fake.behavior.release_reads = apiserver.run_in_loop(asyncio.Event)
        lookup = asyncio.create_task(r.look_up_role(service_account_ref("shop", "new")))
        await wait_until(lambda: r.count_requests("get"))
    with pytest.raises(asyncio.CancelledError):
        await lookup
    assert len(asyncio.all_tasks()) == TEST_TASKS
    await wait_until_disconnected(apiserver)


@pytest.fixture
def other_apiserver() -> Iterator[RunningApiServer]:
    with run_apiserver() as running:
        running.fake.behavior.accepted_tokens = {"second"}
        yield running


def make_access(apiserver: RunningApiServer, identity: Identity) -> Access:
    return Access(ApiServer.from_url(apiserver.url, ca=apiserver.ca), identity, RealClock())


def received_tokens(apiserver: RunningApiServer) -> set[str]:
    return apiserver.run_in_loop(lambda: {request.token for request in apiserver.fake.requests})


async def test_replaced_server_keeps_no_connection_and_receives_no_new_token(
    apiserver: RunningApiServer, other_apiserver: RunningApiServer
) -> None:
    access = make_access(apiserver, StaticIdentity(Credential("first")))
    client = Client(access, 600.0)
    await client.get("/api/v1")
    access.replace(make_access(other_apiserver, StaticIdentity(Credential("second"))))
    await wait_until_disconnected(apiserver)
    await client.get("/api/v1")
    await client.close()
    assert (received_tokens(apiserver), received_tokens(other_apiserver)) == ({"first"}, {"second"})


async def test_connection_to_a_replaced_server_is_not_reused(
    apiserver: RunningApiServer, other_apiserver: RunningApiServer
) -> None:
    apiserver.user.apply(SERVICE_ACCOUNTS, "shop", "web")
    apiserver.fake.behavior.release_reads = release = apiserver.run_in_loop(asyncio.Event)
    access = make_access(apiserver, StaticIdentity(Credential("first")))
    client = Client(access, 600.0)
    request = asyncio.create_task(client.get(f"{NAMESPACES_PATH}/shop/serviceaccounts/web"))
    await wait_until(lambda: apiserver.fake.count_requests("get"))
    access.replace(make_access(other_apiserver, StaticIdentity(Credential("second"))))
    apiserver.run_in_loop(release.set)
    assert b"web" in await request
    await wait_until_disconnected(apiserver)
    await client.get("/api/v1")
    await client.close()


class SlowIdentity:
    """An identity that is as slow as an exec plugin."""

    def __init__(self) -> None:
        self.is_requested, self.may_answer = asyncio.Event(), asyncio.Event()

    async def credential(self) -> Credential:
        self.is_requested.set()
        await self.may_answer.wait()
        return Credential("first")

    def invalidate(self) -> None: ...


async def test_slow_token_is_sent_to_the_server_that_it_belongs_to(
    apiserver: RunningApiServer, other_apiserver: RunningApiServer
) -> None:
    identity = SlowIdentity()
    access = make_access(apiserver, identity)
    client = Client(access)
    request = asyncio.create_task(client.get("/api/v1"))
    await identity.is_requested.wait()
    access.replace(make_access(other_apiserver, StaticIdentity(Credential("second"))))
    identity.may_answer.set()
    assert b"serviceaccounts" in await request
    await client.close()
    assert (received_tokens(apiserver), received_tokens(other_apiserver)) == ({"first"}, set())


async def test_watches_move_to_the_new_server_and_drop_objects_of_the_old_one(
    apiserver: RunningApiServer, other_apiserver: RunningApiServer
) -> None:
    for server, name in ((apiserver, "old"), (other_apiserver, "new"), (other_apiserver, "newer")):
        server.user.apply(SERVICE_ACCOUNTS, "shop", name, {"cwii.dev/role": name})
    async with run_synced_informer(apiserver) as r:
        r.access.replace(make_access(other_apiserver, StaticIdentity(Credential("second"))))
        await advance_until(
            r.clock, 0.05, lambda: r.cached_role(service_account_ref("shop", "new")) == "new"
        )
        assert (
            r.clock.now() < 1000 + SILENCE_TIMEOUT
        )  # the switch caused the read, not the silence timeout
        assert (r.informer.sizes(), r.cached_role(service_account_ref("shop", "old"))) == (
            {"serviceaccounts": 2},
            "unknown",
        )
        await wait_until_disconnected(apiserver)
