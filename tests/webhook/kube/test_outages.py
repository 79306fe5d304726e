"""Tests with an API server that is down, overloaded or denies access."""

from __future__ import annotations

from pathlib import Path

import pytest
from cwii_webhook.admission.cluster_view import LookupRefused, ObjectRef, service_account_ref
from cwii_webhook.kube.access import Access, ApiServer
from cwii_webhook.kube.cache.watch import DISCOVERY_INTERVAL
from cwii_webhook.kube.client import Client
from cwii_webhook.kube.clock import MAX_DELAY, Backoff
from cwii_webhook.kube.identity import Credential, StaticIdentity, TokenFile
from cwii_webhook.kube.permissions import find_missing_permissions
from cwii_webhook.kube.resources import OWNERS, SERVICE_ACCOUNTS

from tests.webhook.apiserver.running import RunningApiServer
from tests.webhook.fake_clock import FakeClock, advance_until, wait_until
from tests.webhook.kube.running import ROLE, run_informer, run_synced_informer

ROLLOUTS = OWNERS[-1]
ROLLOUT = ObjectRef("argoproj.io", "Rollout", "shop", "web")


async def test_cache_serves_through_an_outage_and_reports_its_age(
    apiserver: RunningApiServer,
) -> None:
    apiserver.user.apply(SERVICE_ACCOUNTS, "shop", "web", {ROLE: "one"})
    async with run_synced_informer(apiserver) as r:
        apiserver.run_in_loop(apiserver.network.close)
        await advance_until(r.clock, 1, r.errors)
        r.clock.advance(3600)
        assert await r.look_up_role() == "one"
        assert not r.informer.not_ready_reasons()
        assert r.informer.ages()["serviceaccounts"] >= 3600
        assert "cannot be reached" in r.errors() or "was lost" in r.errors()


async def test_cache_is_current_after_an_outage(apiserver: RunningApiServer) -> None:
    apiserver.user.apply(SERVICE_ACCOUNTS, "shop", "web", {ROLE: "one"})
    async with run_synced_informer(apiserver) as r:
        apiserver.run_in_loop(apiserver.network.close)
        await advance_until(r.clock, 1, r.errors)
        r.clock.advance(3600)
        r.set_role("two")
        await apiserver.reopen_network()
        await advance_until(r.clock, 1, lambda: r.cached_role() == "two")
        await wait_until(lambda: not r.errors())
        assert r.reports[-1] == "the watch of serviceaccounts goes on"


async def test_outage_is_reported_once(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver) as r:
        apiserver.run_in_loop(apiserver.network.close)
        await advance_until(
            r.clock, 1, lambda: r.clock.now() > 1300 and "cannot be reached" in r.errors()
        )
        assert len(r.reports) <= 2


def test_backoff_grows_to_its_limit_with_jitter() -> None:
    class LowestJitter(FakeClock):
        def jitter(self, low: float, high: float, /) -> float:
            assert low < high
            return low

    backoff = Backoff(LowestJitter())
    waits = [backoff.next_delay() for _ in range(20)]
    assert waits == sorted(waits)
    assert waits[0] == 0.1
    assert waits[-1] == MAX_DELAY / 2
    assert backoff.next_delay(40.0) >= 40.0


async def test_watch_waits_for_the_time_in_retry_after(
    apiserver: RunningApiServer,
) -> None:
    apiserver.fake.behavior.retry_after["watch"] = [20]
    async with run_informer(apiserver) as r:
        await wait_until(r.errors)
        assert "429" in r.errors()
        r.clock.advance(19)
        await apiserver.wait_for_network()
        assert r.count_requests("watch") == 1
        await advance_until(r.clock, 0.5, lambda: not r.informer.not_ready_reasons())
        assert r.count_requests("list") == 0


async def test_token_file_is_read_again_after_a_rejection(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("first\n")
    clock = FakeClock()
    async with run_informer(
        apiserver, identity=TokenFile(tmp_path / "token", clock), clock=clock
    ) as r:
        await wait_until(lambda: not r.informer.not_ready_reasons())
        (tmp_path / "token").write_text("second\n")
        apiserver.fake.behavior.accepted_tokens = {"second"}
        apiserver.run_in_loop(apiserver.network.cut)
        r.set_role("one")
        await advance_until(r.clock, 0.01, lambda: r.cached_role() == "one")
        assert r.clock.now() < 1010


async def test_token_file_is_read_again_every_minute(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("first")
    clock = FakeClock()
    async with run_informer(
        apiserver, identity=TokenFile(tmp_path / "token", clock), clock=clock
    ) as r:
        await wait_until(lambda: not r.informer.not_ready_reasons())
        (tmp_path / "token").write_text("second")
        apiserver.fake.behavior.accepted_tokens = {"first", "second"}
        clock.advance(60)
        await r.look_up_role_over_time()
        assert apiserver.fake.requests[-1].token == "second"


async def test_rejected_token_is_reported_and_retried_with_backoff(
    apiserver: RunningApiServer,
) -> None:
    apiserver.fake.behavior.accepted_tokens = set()
    async with run_informer(apiserver) as r:
        await wait_until(r.errors)
        assert "401" in r.errors()
        assert (
            "serviceaccounts are not read yet (the API server answered 401: Unauthorized)"
            in r.informer.not_ready_reasons()
        )
        assert r.count_requests("watch") == 2


async def test_resource_that_the_cluster_does_not_serve_has_no_objects(
    apiserver: RunningApiServer,
) -> None:
    async with run_synced_informer(apiserver, [ROLLOUTS]) as r:
        assert r.cached_role(ROLLOUT) == "none"
        assert not r.errors()
        assert r.count_requests("watch", ROLLOUTS) == r.count_requests("list", ROLLOUTS) == 0


async def test_api_group_without_rollouts_is_not_watched_for_rollouts(
    apiserver: RunningApiServer,
) -> None:
    """Argo CD serves the same group.

    Without permission, a list of a missing resource fails with 403, and the informer would never
    be ready.
    """
    apiserver.fake.behavior.served_resources[ROLLOUTS.api_path] = ["applications"]
    apiserver.fake.behavior.denied_verbs = {("watch", "rollouts"), ("list", "rollouts")}
    async with run_informer(apiserver, [SERVICE_ACCOUNTS, ROLLOUTS]) as r:
        await advance_until(r.clock, 0.1, lambda: not r.informer.not_ready_reasons())
        assert r.cached_role(ROLLOUT) == "none"


async def test_resource_that_is_installed_later_is_found(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver, [ROLLOUTS]) as r:
        apiserver.fake.behavior.served_resources[ROLLOUTS.api_path] = ["rollouts"]
        apiserver.user.apply(ROLLOUTS, "shop", "web", {ROLE: "one"})
        r.clock.advance(DISCOVERY_INTERVAL[1])
        await wait_until(lambda: r.cached_role(ROLLOUT) == "one")


async def test_missing_permissions_are_reported_until_they_are_granted(
    apiserver: RunningApiServer,
) -> None:
    apiserver.fake.behavior.denied_verbs = {
        ("list", "serviceaccounts"),
        ("watch", "serviceaccounts"),
    }
    async with run_informer(apiserver) as r:
        await wait_until(lambda: r.errors() and "may not" in r.informer.not_ready_reasons()[1])
        assert "403" in r.informer.not_ready_reasons()[0]
        assert r.informer.not_ready_reasons()[1] == (
            "the ServiceAccount may not list or watch serviceaccounts:"
            " give it that in a ClusterRole"
        )
        assert r.informer.not_ready_reasons()[1] in r.reports
        apiserver.fake.behavior.denied_verbs = set()
        await advance_until(r.clock, 1, lambda: not r.informer.not_ready_reasons())


async def test_missing_get_permission_is_reported_at_startup(
    apiserver: RunningApiServer,
) -> None:
    apiserver.fake.behavior.denied_verbs = {("get", "serviceaccounts")}
    async with run_informer(apiserver) as r:
        await wait_until(
            lambda: (
                "the ServiceAccount may not get serviceaccounts: give it that in a ClusterRole"
                in r.informer.not_ready_reasons()
            )
        )


async def test_write_permissions_are_checked_only_for_writers(
    apiserver: RunningApiServer,
) -> None:
    apiserver.fake.behavior.denied_verbs = {("patch", "configmaps")}
    client = Client(
        Access(
            ApiServer.from_url(apiserver.url, ca=apiserver.ca),
            StaticIdentity(Credential("first")),
            FakeClock(),
        )
    )
    assert await find_missing_permissions(client, [SERVICE_ACCOUNTS]) == []
    assert await find_missing_permissions(client, [SERVICE_ACCOUNTS], writes_config_maps=True) == [
        "the ServiceAccount may not patch configmaps: give it that in a ClusterRole"
    ]
    await client.close()


async def test_forbidden_lookup_is_refused_permanently(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver) as r:
        apiserver.fake.behavior.denied_verbs = {("get", "serviceaccounts")}
        with pytest.raises(LookupRefused, match="403"):
            await r.look_up_role(service_account_ref("shop", "new"))


async def test_server_version_is_read_again_on_a_new_connection(
    apiserver: RunningApiServer,
) -> None:
    apiserver.fake.behavior.version = ("1", "31+")
    async with run_informer(apiserver, reads_version=True) as r:
        await advance_until(r.clock, 0.1, lambda: not r.informer.not_ready_reasons())
        assert r.informer.version == (1, 31)
        apiserver.fake.behavior.version = ("1", "32")
        apiserver.run_in_loop(apiserver.network.cut)
        await advance_until(r.clock, 0.1, lambda: r.informer.version == (1, 32))


async def test_informer_is_not_ready_without_the_server_version(
    apiserver: RunningApiServer,
) -> None:
    apiserver.fake.behavior.version = ("", "")
    async with run_informer(apiserver, reads_version=True) as r:
        await advance_until(r.clock, 0.1, lambda: len(r.informer.not_ready_reasons()) == 1)
        assert r.informer.not_ready_reasons() == [
            "the API server's version is not read yet (it says that its version is .)"
        ]
