"""An API server that is away, too busy, or does not let us: what is told, when it is tried again, and what is known meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest
from cwii_webhook.admission.cluster_view import LookupRefused, ObjectRef, service_account_ref
from cwii_webhook.kube.access import Access, Server
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


async def test_what_is_known_is_served_through_an_outage_and_its_age_is_told(
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


async def test_after_an_outage_everything_is_as_it_is_now(apiserver: RunningApiServer) -> None:
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


async def test_an_outage_is_told_once_and_not_at_every_try(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver) as r:
        apiserver.run_in_loop(apiserver.network.close)
        await advance_until(
            r.clock, 1, lambda: r.clock.now() > 1300 and "cannot be reached" in r.errors()
        )
        assert len(r.reports) <= 2


def test_tries_are_made_ever_more_seldom_and_never_all_at_once() -> None:
    class Chance(FakeClock):
        def jitter(self, low: float, high: float, /) -> float:
            assert low < high
            return low

    backoff = Backoff(Chance())
    waits = [backoff.next_delay() for _ in range(20)]
    assert waits == sorted(waits)
    assert waits[0] == 0.1
    assert waits[-1] == MAX_DELAY / 2
    assert backoff.next_delay(40.0) >= 40.0


async def test_a_busy_api_server_is_left_alone_for_as_long_as_it_asks(
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


async def test_a_token_is_read_anew_when_it_is_refused(
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


async def test_a_token_is_read_anew_every_minute(
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


async def test_a_token_that_stays_refused_is_told_and_not_tried_without_end(
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


async def test_a_kind_that_the_cluster_does_not_have_is_known_to_have_no_objects(
    apiserver: RunningApiServer,
) -> None:
    async with run_synced_informer(apiserver, [ROLLOUTS]) as r:
        assert r.cached_role(ROLLOUT) == "none"
        assert not r.errors()
        assert r.count_requests("watch", ROLLOUTS) == r.count_requests("list", ROLLOUTS) == 0


async def test_a_group_of_that_name_with_other_kinds_is_not_asked_for_rollouts(
    apiserver: RunningApiServer,
) -> None:
    """Argo CD has the group too. Who may not list what is not there is told 403, and would never be ready."""
    apiserver.fake.behavior.served_resources[ROLLOUTS.api_path] = ["applications"]
    apiserver.fake.behavior.denied_verbs = {("watch", "rollouts"), ("list", "rollouts")}
    async with run_informer(apiserver, [SERVICE_ACCOUNTS, ROLLOUTS]) as r:
        await advance_until(r.clock, 0.1, lambda: not r.informer.not_ready_reasons())
        assert r.cached_role(ROLLOUT) == "none"


async def test_a_kind_that_the_cluster_gets_later_is_found(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver, [ROLLOUTS]) as r:
        apiserver.fake.behavior.served_resources[ROLLOUTS.api_path] = ["rollouts"]
        apiserver.user.apply(ROLLOUTS, "shop", "web", {ROLE: "one"})
        r.clock.advance(DISCOVERY_INTERVAL[1])
        await wait_until(lambda: r.cached_role(ROLLOUT) == "one")


async def test_what_the_api_server_forbids_is_told_until_it_does_not(
    apiserver: RunningApiServer,
) -> None:
    apiserver.fake.behavior.denied_verbs = {
        ("list", "serviceaccounts"),
        ("watch", "serviceaccounts"),
    }
    async with run_informer(apiserver) as r:
        await wait_until(lambda: r.errors() and "may not" in r.informer.not_ready_reasons()[1])
        assert "403" in r.informer.not_ready_reasons()[0]
        assert (
            r.informer.not_ready_reasons()[1]
            == "the ServiceAccount may not list or watch serviceaccounts: give it that in a ClusterRole"
        )
        assert r.informer.not_ready_reasons()[1] in r.reports
        apiserver.fake.behavior.denied_verbs = set()
        await advance_until(r.clock, 1, lambda: not r.informer.not_ready_reasons())


async def test_a_direct_read_that_would_be_forbidden_is_found_before_it_is_needed(
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


async def test_the_right_to_write_is_asked_for_where_something_is_written(
    apiserver: RunningApiServer,
) -> None:
    apiserver.fake.behavior.denied_verbs = {("patch", "configmaps")}
    api = Client(
        Access(
            Server.from_url(apiserver.url, ca=apiserver.ca),
            StaticIdentity(Credential("first")),
            FakeClock(),
        )
    )
    assert await find_missing_permissions(api, [SERVICE_ACCOUNTS]) == []
    assert await find_missing_permissions(api, [SERVICE_ACCOUNTS], writes_config_maps=True) == [
        "the ServiceAccount may not patch configmaps: give it that in a ClusterRole"
    ]
    await api.close()


async def test_what_a_direct_read_is_forbidden_stays_so(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver) as r:
        apiserver.fake.behavior.denied_verbs = {("get", "serviceaccounts")}
        with pytest.raises(LookupRefused, match="403"):
            await r.look_up_role(service_account_ref("shop", "new"))


async def test_the_version_is_read_and_read_again_on_a_new_connection(
    apiserver: RunningApiServer,
) -> None:
    apiserver.fake.behavior.version = ("1", "31+")
    async with run_informer(apiserver, reads_version=True) as r:
        await advance_until(r.clock, 0.1, lambda: not r.informer.not_ready_reasons())
        assert r.informer.version == (1, 31)
        apiserver.fake.behavior.version = ("1", "32")
        apiserver.run_in_loop(apiserver.network.cut)
        await advance_until(r.clock, 0.1, lambda: r.informer.version == (1, 32))


async def test_without_the_version_it_is_not_ready(apiserver: RunningApiServer) -> None:
    apiserver.fake.behavior.version = ("", "")
    async with run_informer(apiserver, reads_version=True) as r:
        await advance_until(r.clock, 0.1, lambda: len(r.informer.not_ready_reasons()) == 1)
        assert r.informer.not_ready_reasons() == [
            "the API server's version is not read yet (it says that its version is .)"
        ]
