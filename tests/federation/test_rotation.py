"""A key that changes while nobody notices: under a stream of exchanges by SDKs in pods, with clouds that keep a key set for a minute whatever they see."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from cwiictl.sandbox import Settings
from tests.cluster.traces import seen_within
from tests.federation.peopled import peopled, trusting
from tests.federation.rotating import INCOMPLETE, Rotating
from tests.federation.stream import Stream
from tests.federation.world import WORKLOADS, World

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1200)]
CACHE = 60  # seconds; no cloud looks again before, and so it is soaked for as long
SOAK = ("--soak", f"{CACHE}s")
DAY = 86400  # what tokens of EKS's pods live: the commands are told that it has passed
HEEDED = 65  # seconds after which the webhook has read its own token again, too
ASKING = {
    who: WORKLOADS[who]
    for who in (("cwii", "all"), ("eks", "aws"), ("azwi", "azure"), ("gcpwif", "gcp"))
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with trusting(
        Settings(deploy=0.2, jwks_cache=CACHE, jwks_refetch=False), tmp_path_factory.mktemp("world")
    ) as world:
        yield world


@pytest.fixture(scope="module")
def running(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rotating]:
    with peopled(world, tmp_path_factory.mktemp("images"), ASKING, servers=2) as pods:
        for (namespace, account), clouds in ASKING.items():
            said = pods.said(namespace, account, len(clouds))
            assert {line.get("answer") for line in said.values()} == {200}, said
        yield Rotating(world, pods, ASKING)


@pytest.fixture
def stream(running: Rotating) -> Iterator[Stream]:
    with Stream(running.pods.cluster.reach, "cwii", "all") as stream:
        yield stream


def test_a_key_follows_another_and_nobody_is_refused(running: Rotating, stream: Stream) -> None:
    """Not a pod by a cloud, and no token by an API server, from the first stage to the last."""
    began, old = time.time(), signing(running)

    running.rotate("add")
    accepted(running)
    signed(running)
    new = signing(running)
    a_day_later(running)
    running.rotate("unpublish", *SOAK, later=DAY + 2 * CACHE)
    seen(running, CACHE)
    stream.expired()
    forgotten(running)

    assert old != new
    assert running.refused() == []
    assert stream.refused == []
    assert unauthorized(running, began) == []
    assert stream.shown > 500
    assert running.kids() == {
        who: {(cloud, kid) for cloud in clouds for kid in (old, new)}
        for who, clouds in ASKING.items()
    }


def test_who_signs_with_a_new_key_at_once_is_refused_by_a_cloud_and_by_the_other_api_server(
    running: Rotating, stream: Stream
) -> None:
    """The same with neither what accept proves nor what sign tries and waits for: it is told here, so it would have been told above."""
    began, old = time.time(), signing(running)
    given = running.last()
    running.bring(running.made(old))
    running.restart(0)
    running.renewed()
    running.read_anew()

    running.rotate("add", *given)

    published = time.time()
    assert seen_within(CACHE, lambda: running.refused(published)), (
        "although the new key is published, a cloud has the old key set in mind"
    )
    assert seen_within(
        CACHE, lambda: (0, 1) in {(each.made, each.refused) for each in stream.refused}
    ), "of the first server's tokens, by the second"
    assert unauthorized(running, began) != []


def accepted(running: Rotating) -> None:
    running.rotate("accept", code=INCOMPLETE)
    running.bring(running.handed("accept"))
    for number in (0, 1):
        running.restart(number)
        running.renewed()
    running.rotate("accept")


def signed(running: Rotating) -> None:
    """While one signs with the new key and the other with the old one, pods have tokens of both."""
    running.rotate("sign", *SOAK, code=INCOMPLETE)
    running.bring(running.handed("sign"))
    for number in (0, 1):
        running.restart(number)
        running.renewed()
    running.pods.cluster.node.restart("kube-controller-manager")
    running.rotate("sign", *SOAK)


def a_day_later(running: Rotating) -> None:
    """All that a day would have brought: whoever has a token has had it renewed."""
    running.renewed()
    seen(running, HEEDED)


def forgotten(running: Rotating) -> None:
    late = DAY + 2 * CACHE
    running.rotate("forget", later=late, code=INCOMPLETE)
    running.bring(running.handed("forget"))
    for number in (0, 1):
        running.restart(number)
        running.renewed()
    running.rotate("forget", later=late)


def seen(running: Rotating, seconds: float) -> None:
    """The stream goes on meanwhile."""
    time.sleep(seconds)
    assert running.refused(time.time() - seconds) == []


def signing(running: Rotating) -> str:
    """The key that tokens of pods are signed with now."""
    return running.lines(("cwii", "all"))[-1]["kid"]


def unauthorized(running: Rotating, since: float) -> list[str]:
    """In the API servers' own audit logs."""
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(since))
    events = (
        one
        for one in running.pods.cluster.reach.requests()
        if one["requestReceivedTimestamp"] >= moment
    )
    return [json.dumps(one) for one in events if one.get("responseStatus", {}).get("code") == 401]
