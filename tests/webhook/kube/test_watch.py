"""The watch of one kind: what it knows, and how it goes on when the API server or the network does not."""

from __future__ import annotations

import pytest
from cwii_webhook.admission.cluster_view import ObjectRef, OwnerReference, namespace_ref
from cwii_webhook.kube.cache.watch import PAGE, SILENT
from cwii_webhook.kube.resources import NAMESPACES, OWNERS, SERVICE_ACCOUNTS

from tests.webhook.apiserver.running import Ground
from tests.webhook.apiserver.running import Owner as AnOwner
from tests.webhook.fake_clock import passing, until
from tests.webhook.kube.running import ALL, ROLE, WEB, ready, running

REPLICASETS = OWNERS[0]
ROLLOUTS = OWNERS[-1]


def give(ground: Ground, role: str, name: str = "web") -> None:
    ground.hands.put(SERVICE_ACCOUNTS, "shop", name, {ROLE: role})


def watches(ground: Ground) -> list[dict[str, str]]:
    return [request.query for request in ground.double.requests if "watch" in request.query]


async def test_what_is_there_is_known_once_it_is_ready(apiserver: Ground) -> None:
    give(apiserver, "one")
    async with ready(apiserver) as r:
        assert r.role() == "one"


async def test_what_comes_changes_and_goes_is_known_soon(apiserver: Ground) -> None:
    async with ready(apiserver) as r:
        r.give("one")
        await until(lambda: r.role() == "one")
        r.give("two")
        await until(lambda: r.role() == "two")
        apiserver.hands.drop(SERVICE_ACCOUNTS, "shop", "web")
        await until(lambda: r.role() == "unknown")


async def test_only_what_a_dialect_reads_is_kept(apiserver: Ground) -> None:
    apiserver.hands.put(
        SERVICE_ACCOUNTS,
        "shop",
        "web",
        {ROLE: "one", "kubectl.kubernetes.io/last-applied-configuration": "x" * 1000},
    )
    async with ready(apiserver) as r:
        seen = r.sight().get(WEB)
        assert seen is not None
        assert seen.annotations == {ROLE: "one"}
        assert seen.uid


async def test_owners_and_namespaces_are_known_too(apiserver: Ground) -> None:
    apiserver.hands.put(NAMESPACES, "", "shop", {ROLE: "of all"})
    apiserver.hands.put(REPLICASETS, "shop", "web-1", {}, AnOwner("apps/v1", "Deployment", "web"))
    async with ready(apiserver, ALL) as r:
        assert r.role(namespace_ref("shop")) == "of all"
        seen = r.sight().get(ObjectRef("apps", "ReplicaSet", "shop", "web-1"))
        assert seen is not None
        assert seen.owners == (
            OwnerReference("apps/v1", "Deployment", "web", "u", controller=True),
        )


async def test_a_kind_that_nobody_asks_for_is_not_watched(apiserver: Ground) -> None:
    async with ready(apiserver, [NAMESPACES]) as r:
        assert r.asked("watch", NAMESPACES) == 1
        assert r.asked("watch", SERVICE_ACCOUNTS) == r.asked("list", SERVICE_ACCOUNTS) == 0


async def test_a_server_with_watch_list_is_asked_for_no_list(apiserver: Ground) -> None:
    async with ready(apiserver) as r:
        assert (r.asked("list"), r.asked("watch")) == (0, 1)


@pytest.mark.parametrize("watch_list", ["no", "ignored", "broken"])
async def test_a_server_without_watch_list_is_read_in_pages_and_then_watched(
    apiserver: Ground, watch_list: str
) -> None:
    apiserver.double.ways.watch_list = watch_list
    for number in range(2 * PAGE + 1):
        apiserver.do(
            lambda n=number: apiserver.double.store.put(
                SERVICE_ACCOUNTS.path, {"metadata": {"namespace": "shop", "name": f"a-{n}"}}
            )
        )
    async with running(apiserver) as r:
        await passing(r.clock, 0.1, lambda: not r.informer.lacks())
        assert r.informer.sizes() == {"serviceaccounts": 2 * PAGE + 1}
        assert r.asked("list") == 3
        r.give("one")
        await passing(r.clock, 0.01, lambda: r.role() == "one")


async def test_an_expired_version_is_read_anew_and_what_went_meanwhile_is_gone(
    apiserver: Ground,
) -> None:
    give(apiserver, "one", "gone")
    async with ready(apiserver) as r:
        apiserver.do(apiserver.wire.close)
        apiserver.hands.drop(SERVICE_ACCOUNTS, "shop", "gone")
        r.give("two")
        apiserver.do(apiserver.double.store.compact)
        await apiserver.reopen()
        await passing(r.clock, 0.1, lambda: r.role() == "two")
        assert r.informer.sizes() == {"serviceaccounts": 1}


async def test_a_connection_that_is_cut_is_taken_up_where_it_was(apiserver: Ground) -> None:
    async with ready(apiserver) as r:
        apiserver.do(apiserver.wire.cut)
        r.give("one")
        await passing(r.clock, 0.05, lambda: r.role() == "one")
        assert r.asked("list") == 0
        assert r.asked("watch") == 2
        assert [query.get("resourceVersion") for query in watches(apiserver)] == [None, "100"]


async def test_a_connection_that_is_reset_is_taken_up_where_it_was(apiserver: Ground) -> None:
    async with ready(apiserver) as r:
        apiserver.do(apiserver.wire.reset)
        r.give("one")
        await passing(r.clock, 0.05, lambda: r.role() == "one")


async def test_a_watch_that_is_silent_for_two_bookmarks_is_opened_anew(apiserver: Ground) -> None:
    """Its packets are dropped without a reset: no error will ever tell."""
    async with ready(apiserver) as r:
        apiserver.do(apiserver.wire.freeze)
        r.give("one")
        r.clock.advance(SILENT - 1)
        assert r.role() == "unknown"
        await passing(r.clock, 0.5, lambda: r.role() == "one")
        assert r.clock.now() < 1000 + 180


async def test_bookmarks_keep_a_quiet_watch_open(apiserver: Ground) -> None:
    async with ready(apiserver) as r:
        for _ in range(5):
            r.clock.advance(60)
            apiserver.do(apiserver.double.bookmark)
            await until(lambda: r.informer.ages()["serviceaccounts"] == 0)
        assert r.asked("watch") == 1


async def test_a_watch_whose_time_is_over_goes_on_from_its_last_bookmark(apiserver: Ground) -> None:
    async with ready(apiserver) as r:
        apiserver.hands.put(NAMESPACES, "", "other")
        apiserver.do(apiserver.double.bookmark)
        version = apiserver.double.store.version
        r.clock.advance(30)
        await until(lambda: r.informer.ages()["serviceaccounts"] == 0)
        apiserver.do(apiserver.double.end_watches)
        await passing(r.clock, 0.05, lambda: r.asked("watch") == 2)
        assert watches(apiserver)[-1]["resourceVersion"] == str(version)
