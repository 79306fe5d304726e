"""Tests of the watch of a resource, and of its recovery from failures."""

from __future__ import annotations

import pytest
from cwii_webhook.admission.cluster_view import ObjectRef, OwnerReference, namespace_ref
from cwii_webhook.kube.cache.watch import PAGE_SIZE, SILENCE_TIMEOUT
from cwii_webhook.kube.resources import NAMESPACES, OWNERS, SERVICE_ACCOUNTS

from tests.webhook.apiserver.running import Owner as AnOwner
from tests.webhook.apiserver.running import RunningApiServer
from tests.webhook.fake_clock import advance_until, wait_until
from tests.webhook.kube.running import ALL_RESOURCES, ROLE, WEB, run_informer, run_synced_informer

REPLICASETS = OWNERS[0]
ROLLOUTS = OWNERS[-1]


def set_role(apiserver: RunningApiServer, role: str, name: str = "web") -> None:
    apiserver.user.apply(SERVICE_ACCOUNTS, "shop", name, {ROLE: role})


def watch_queries(apiserver: RunningApiServer) -> list[dict[str, str]]:
    return [request.query for request in apiserver.fake.requests if "watch" in request.query]


async def test_existing_objects_are_cached_when_the_informer_is_ready(
    apiserver: RunningApiServer,
) -> None:
    set_role(apiserver, "one")
    async with run_synced_informer(apiserver) as r:
        assert r.cached_role() == "one"


async def test_cache_follows_creates_updates_and_deletes(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver) as r:
        r.set_role("one")
        await wait_until(lambda: r.cached_role() == "one")
        r.set_role("two")
        await wait_until(lambda: r.cached_role() == "two")
        apiserver.user.delete(SERVICE_ACCOUNTS, "shop", "web")
        await wait_until(lambda: r.cached_role() == "unknown")


async def test_cache_keeps_only_annotations_that_a_dialect_reads(
    apiserver: RunningApiServer,
) -> None:
    apiserver.user.apply(
        SERVICE_ACCOUNTS,
        "shop",
        "web",
        {ROLE: "one", "kubectl.kubernetes.io/last-applied-configuration": "x" * 1000},
    )
    async with run_synced_informer(apiserver) as r:
        metadata = r.view().get(WEB)
        assert metadata is not None
        assert metadata.annotations == {ROLE: "one"}
        assert metadata.uid


async def test_owners_and_namespaces_are_cached(apiserver: RunningApiServer) -> None:
    apiserver.user.apply(NAMESPACES, "", "shop", {ROLE: "of all"})
    apiserver.user.apply(REPLICASETS, "shop", "web-1", {}, AnOwner("apps/v1", "Deployment", "web"))
    async with run_synced_informer(apiserver, ALL_RESOURCES) as r:
        assert r.cached_role(namespace_ref("shop")) == "of all"
        metadata = r.view().get(ObjectRef("apps", "ReplicaSet", "shop", "web-1"))
        assert metadata is not None
        assert metadata.owners == (
            OwnerReference("apps/v1", "Deployment", "web", "u", controller=True),
        )


async def test_resource_that_is_not_configured_is_not_watched(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver, [NAMESPACES]) as r:
        assert r.count_requests("watch", NAMESPACES) == 1
        assert (
            r.count_requests("watch", SERVICE_ACCOUNTS)
            == r.count_requests("list", SERVICE_ACCOUNTS)
            == 0
        )


async def test_server_with_watch_list_receives_no_list_request(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver) as r:
        assert (r.count_requests("list"), r.count_requests("watch")) == (0, 1)


@pytest.mark.parametrize("watch_list", ["no", "ignored", "broken"])
async def test_server_without_watch_list_is_listed_in_pages_and_then_watched(
    apiserver: RunningApiServer, watch_list: str
) -> None:
    apiserver.fake.behavior.watch_list = watch_list
    for number in range(2 * PAGE_SIZE + 1):
        apiserver.run_in_loop(
            lambda n=number: apiserver.fake.store.put(
                SERVICE_ACCOUNTS.path, {"metadata": {"namespace": "shop", "name": f"a-{n}"}}
            )
        )
    async with run_informer(apiserver) as r:
        await advance_until(r.clock, 0.1, lambda: not r.informer.not_ready_reasons())
        assert r.informer.sizes() == {"serviceaccounts": 2 * PAGE_SIZE + 1}
        assert r.count_requests("list") == 3
        r.set_role("one")
        await advance_until(r.clock, 0.01, lambda: r.cached_role() == "one")


async def test_expired_resource_version_causes_a_new_list(
    apiserver: RunningApiServer,
) -> None:
    set_role(apiserver, "one", "gone")
    async with run_synced_informer(apiserver) as r:
        apiserver.run_in_loop(apiserver.network.close)
        apiserver.user.delete(SERVICE_ACCOUNTS, "shop", "gone")
        r.set_role("two")
        apiserver.run_in_loop(apiserver.fake.store.compact)
        await apiserver.reopen_network()
        await advance_until(r.clock, 0.1, lambda: r.cached_role() == "two")
        assert r.informer.sizes() == {"serviceaccounts": 1}


async def test_watch_resumes_after_a_closed_connection(
    apiserver: RunningApiServer,
) -> None:
    async with run_synced_informer(apiserver) as r:
        apiserver.run_in_loop(apiserver.network.cut)
        r.set_role("one")
        await advance_until(r.clock, 0.05, lambda: r.cached_role() == "one")
        assert r.count_requests("list") == 0
        assert r.count_requests("watch") == 2
        assert [query.get("resourceVersion") for query in watch_queries(apiserver)] == [None, "100"]


async def test_watch_resumes_after_a_reset_connection(
    apiserver: RunningApiServer,
) -> None:
    async with run_synced_informer(apiserver) as r:
        apiserver.run_in_loop(apiserver.network.reset)
        r.set_role("one")
        await advance_until(r.clock, 0.05, lambda: r.cached_role() == "one")


async def test_watch_without_data_for_two_bookmark_intervals_is_restarted(
    apiserver: RunningApiServer,
) -> None:
    """The packets are dropped without a reset, so that no error occurs."""
    async with run_synced_informer(apiserver) as r:
        apiserver.run_in_loop(apiserver.network.freeze)
        r.set_role("one")
        r.clock.advance(SILENCE_TIMEOUT - 1)
        assert r.cached_role() == "unknown"
        await advance_until(r.clock, 0.5, lambda: r.cached_role() == "one")
        assert r.clock.now() < 1000 + 180


async def test_bookmarks_keep_a_quiet_watch_open(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver) as r:
        for _ in range(5):
            r.clock.advance(60)
            apiserver.run_in_loop(apiserver.fake.send_bookmark)
            await wait_until(lambda: r.informer.ages()["serviceaccounts"] == 0)
        assert r.count_requests("watch") == 1


async def test_watch_that_ends_resumes_from_its_last_bookmark(
    apiserver: RunningApiServer,
) -> None:
    async with run_synced_informer(apiserver) as r:
        apiserver.user.apply(NAMESPACES, "", "other")
        apiserver.run_in_loop(apiserver.fake.send_bookmark)
        version = apiserver.fake.store.version
        r.clock.advance(30)
        await wait_until(lambda: r.informer.ages()["serviceaccounts"] == 0)
        apiserver.run_in_loop(apiserver.fake.end_watches)
        await advance_until(r.clock, 0.05, lambda: r.count_requests("watch") == 2)
        assert watch_queries(apiserver)[-1]["resourceVersion"] == str(version)
