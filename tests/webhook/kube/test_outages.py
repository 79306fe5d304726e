"""An API server that is away, too busy, or does not let us: what is told, when it is tried again, and what is known meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest
from cwii_webhook.admission.cluster_view import LookupRefused, ObjectRef, service_account_ref
from cwii_webhook.kube.access import Access, Server
from cwii_webhook.kube.cache.watch import ABSENT_AGAIN
from cwii_webhook.kube.client import Client
from cwii_webhook.kube.clock import LONGEST, Backoff
from cwii_webhook.kube.identity import Credential, Same, TokenFile
from cwii_webhook.kube.permissions import missing
from cwii_webhook.kube.resources import OWNERS, SERVICE_ACCOUNTS

from tests.webhook.apiserver.running import Ground
from tests.webhook.fake_clock import FakeClock, passing, until
from tests.webhook.kube.running import ROLE, ready, running

ROLLOUTS = OWNERS[-1]
ROLLOUT = ObjectRef("argoproj.io", "Rollout", "shop", "web")


async def test_what_is_known_is_served_through_an_outage_and_its_age_is_told(
    apiserver: Ground,
) -> None:
    apiserver.hands.put(SERVICE_ACCOUNTS, "shop", "web", {ROLE: "one"})
    async with ready(apiserver) as r:
        apiserver.do(apiserver.wire.close)
        await passing(r.clock, 1, r.trouble)
        r.clock.advance(3600)
        assert await r.looked() == "one"
        assert not r.informer.lacks()
        assert r.informer.ages()["serviceaccounts"] >= 3600
        assert "cannot be reached" in r.trouble() or "was lost" in r.trouble()


async def test_after_an_outage_everything_is_as_it_is_now(apiserver: Ground) -> None:
    apiserver.hands.put(SERVICE_ACCOUNTS, "shop", "web", {ROLE: "one"})
    async with ready(apiserver) as r:
        apiserver.do(apiserver.wire.close)
        await passing(r.clock, 1, r.trouble)
        r.clock.advance(3600)
        r.give("two")
        await apiserver.reopen()
        await passing(r.clock, 1, lambda: r.role() == "two")
        await until(lambda: not r.trouble())
        assert r.told[-1] == "the watch of serviceaccounts goes on"


async def test_an_outage_is_told_once_and_not_at_every_try(apiserver: Ground) -> None:
    async with ready(apiserver) as r:
        apiserver.do(apiserver.wire.close)
        await passing(
            r.clock, 1, lambda: r.clock.now() > 1300 and "cannot be reached" in r.trouble()
        )
        assert len(r.told) <= 2


def test_tries_are_made_ever_more_seldom_and_never_all_at_once() -> None:
    class Chance(FakeClock):
        def jitter(self, low: float, high: float, /) -> float:
            assert low < high
            return low

    backoff = Backoff(Chance())
    waits = [backoff.failed() for _ in range(20)]
    assert waits == sorted(waits)
    assert waits[0] == 0.1
    assert waits[-1] == LONGEST / 2
    assert backoff.failed(40.0) >= 40.0


async def test_a_busy_api_server_is_left_alone_for_as_long_as_it_asks(apiserver: Ground) -> None:
    apiserver.double.ways.busy["watch"] = [20]
    async with running(apiserver) as r:
        await until(r.trouble)
        assert "429" in r.trouble()
        r.clock.advance(19)
        await apiserver.breath()
        assert r.asked("watch") == 1
        await passing(r.clock, 0.5, lambda: not r.informer.lacks())
        assert r.asked("list") == 0


async def test_a_token_is_read_anew_when_it_is_refused(apiserver: Ground, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("first\n")
    clock = FakeClock()
    async with running(apiserver, identity=TokenFile(tmp_path / "token", clock), clock=clock) as r:
        await until(lambda: not r.informer.lacks())
        (tmp_path / "token").write_text("second\n")
        apiserver.double.ways.tokens = {"second"}
        apiserver.do(apiserver.wire.cut)
        r.give("one")
        await passing(r.clock, 0.01, lambda: r.role() == "one")
        assert r.clock.now() < 1010


async def test_a_token_is_read_anew_every_minute(apiserver: Ground, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("first")
    clock = FakeClock()
    async with running(apiserver, identity=TokenFile(tmp_path / "token", clock), clock=clock) as r:
        await until(lambda: not r.informer.lacks())
        (tmp_path / "token").write_text("second")
        apiserver.double.ways.tokens = {"first", "second"}
        clock.advance(60)
        await r.found()
        assert apiserver.double.requests[-1].token == "second"


async def test_a_token_that_stays_refused_is_told_and_not_tried_without_end(
    apiserver: Ground,
) -> None:
    apiserver.double.ways.tokens = set()
    async with running(apiserver) as r:
        await until(r.trouble)
        assert "401" in r.trouble()
        assert (
            "serviceaccounts are not read yet (the API server answered 401: Unauthorized)"
            in r.informer.lacks()
        )
        assert r.asked("watch") == 2


async def test_a_kind_that_the_cluster_does_not_have_is_known_to_have_no_objects(
    apiserver: Ground,
) -> None:
    async with ready(apiserver, [ROLLOUTS]) as r:
        assert r.role(ROLLOUT) == "none"
        assert not r.trouble()
        assert r.asked("watch", ROLLOUTS) == r.asked("list", ROLLOUTS) == 0


async def test_a_group_of_that_name_with_other_kinds_is_not_asked_for_rollouts(
    apiserver: Ground,
) -> None:
    """Argo CD has the group too. Who may not list what is not there is told 403, and would never be ready."""
    apiserver.double.ways.served[ROLLOUTS.api] = ["applications"]
    apiserver.double.ways.denied = {("watch", "rollouts"), ("list", "rollouts")}
    async with running(apiserver, [SERVICE_ACCOUNTS, ROLLOUTS]) as r:
        await passing(r.clock, 0.1, lambda: not r.informer.lacks())
        assert r.role(ROLLOUT) == "none"


async def test_a_kind_that_the_cluster_gets_later_is_found(apiserver: Ground) -> None:
    async with ready(apiserver, [ROLLOUTS]) as r:
        apiserver.double.ways.served[ROLLOUTS.api] = ["rollouts"]
        apiserver.hands.put(ROLLOUTS, "shop", "web", {ROLE: "one"})
        r.clock.advance(ABSENT_AGAIN[1])
        await until(lambda: r.role(ROLLOUT) == "one")


async def test_what_the_api_server_forbids_is_told_until_it_does_not(apiserver: Ground) -> None:
    apiserver.double.ways.denied = {("list", "serviceaccounts"), ("watch", "serviceaccounts")}
    async with running(apiserver) as r:
        await until(lambda: r.trouble() and "may not" in r.informer.lacks()[1])
        assert "403" in r.informer.lacks()[0]
        assert (
            r.informer.lacks()[1]
            == "the ServiceAccount may not list or watch serviceaccounts: give it that in a ClusterRole"
        )
        assert r.informer.lacks()[1] in r.told
        apiserver.double.ways.denied = set()
        await passing(r.clock, 1, lambda: not r.informer.lacks())


async def test_a_direct_read_that_would_be_forbidden_is_found_before_it_is_needed(
    apiserver: Ground,
) -> None:
    apiserver.double.ways.denied = {("get", "serviceaccounts")}
    async with running(apiserver) as r:
        await until(
            lambda: (
                "the ServiceAccount may not get serviceaccounts: give it that in a ClusterRole"
                in r.informer.lacks()
            )
        )


async def test_the_right_to_write_is_asked_for_where_something_is_written(
    apiserver: Ground,
) -> None:
    apiserver.double.ways.denied = {("patch", "configmaps")}
    api = Client(
        Access(Server.at(apiserver.url, ca=apiserver.ca), Same(Credential("first")), FakeClock())
    )
    assert await missing(api, [SERVICE_ACCOUNTS]) == []
    assert await missing(api, [SERVICE_ACCOUNTS], writes=True) == [
        "the ServiceAccount may not patch configmaps: give it that in a ClusterRole"
    ]
    await api.close()


async def test_what_a_direct_read_is_forbidden_stays_so(apiserver: Ground) -> None:
    async with ready(apiserver) as r:
        apiserver.double.ways.denied = {("get", "serviceaccounts")}
        with pytest.raises(LookupRefused, match="403"):
            await r.looked(service_account_ref("shop", "new"))


async def test_the_version_is_read_and_read_again_on_a_new_connection(apiserver: Ground) -> None:
    apiserver.double.ways.version = ("1", "31+")
    async with running(apiserver, version=True) as r:
        await passing(r.clock, 0.1, lambda: not r.informer.lacks())
        assert r.informer.version == (1, 31)
        apiserver.double.ways.version = ("1", "32")
        apiserver.do(apiserver.wire.cut)
        await passing(r.clock, 0.1, lambda: r.informer.version == (1, 32))


async def test_without_the_version_it_is_not_ready(apiserver: Ground) -> None:
    apiserver.double.ways.version = ("", "")
    async with running(apiserver, version=True) as r:
        await passing(r.clock, 0.1, lambda: len(r.informer.lacks()) == 1)
        assert r.informer.lacks() == [
            "the API server's version is not read yet (it says that its version is .)"
        ]
