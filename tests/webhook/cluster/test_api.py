"""Requests to an API server: what of them is used again, and that nothing of them is left when they are over, however they end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import pytest
from cwii_webhook.cluster.access import Access, Server
from cwii_webhook.cluster.api import Api
from cwii_webhook.cluster.clock import RealClock
from cwii_webhook.cluster.errors import Refused
from cwii_webhook.cluster.identity import Same, Shown
from cwii_webhook.cluster.kinds import SERVICE_ACCOUNTS
from cwii_webhook.cluster.permissions import missing
from cwii_webhook.picture import account

from tests.webhook.apiserver.ground import Ground
from tests.webhook.clock import until
from tests.webhook.cluster.running import ready

ENOUGH = 5  # requests that ended before they were given up: there are no further moments
ALONE = 2  # tasks: a test's own, and the one that gives it its time
PLACE = "/api/v1/namespaces"


@pytest.fixture
def api_of(apiserver: Ground) -> Callable[[float], Api]:
    return lambda idle: Api(Access(Server.at(apiserver.url, ca=apiserver.ca), Same(Shown("first")), RealClock()), idle)


async def nobody_connected(apiserver: Ground) -> None:
    await until(lambda: not apiserver.do(lambda: apiserver.wire.open_lines))


async def test_a_request_that_is_given_up_at_any_moment_leaves_no_connection(apiserver: Ground, api_of: Callable[[float], Api]) -> None:
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


async def test_an_answer_that_comes_after_the_end_leaves_no_connection(apiserver: Ground, api_of: Callable[[float], Api]) -> None:
    apiserver.hands.put(SERVICE_ACCOUNTS, "shop", "web")
    held, api = apiserver.do(asyncio.Event), api_of(600.0)
    apiserver.double.ways.held = held
    asking = asyncio.create_task(api.get(f"{PLACE}/shop/serviceaccounts/web"))
    await until(lambda: apiserver.double.count("get"))
    await api.close()
    apiserver.do(held.set)
    assert b"web" in await asking
    await nobody_connected(apiserver)


async def test_a_connection_is_used_again_and_let_go_when_nobody_needs_it(apiserver: Ground, api_of: Callable[[float], Api]) -> None:
    api = api_of(0.5)
    await api.get(PLACE)
    await api.get(PLACE)
    assert apiserver.do(lambda: apiserver.wire.open_lines) == 1
    await nobody_connected(apiserver)
    await api.get(PLACE)
    await api.close()


async def test_of_permissions_that_could_not_be_asked_for_nobody_goes_on_asking(apiserver: Ground, api_of: Callable[[float], Api]) -> None:
    apiserver.double.ways.busy["create"] = [1]
    api = api_of(5.0)
    with pytest.raises(Refused, match="429"):
        await missing(api, [SERVICE_ACCOUNTS])
    assert len(asyncio.all_tasks()) == ALONE
    await api.close()


async def test_of_an_informer_that_ended_nobody_goes_on_reading(apiserver: Ground) -> None:
    async with ready(apiserver) as r:
        apiserver.double.ways.held = apiserver.do(asyncio.Event)
        looking = asyncio.create_task(r.looked(account("shop", "new")))
        await until(lambda: r.asked("get"))
    with pytest.raises(asyncio.CancelledError):
        await looking
    assert len(asyncio.all_tasks()) == ALONE
    await nobody_connected(apiserver)
