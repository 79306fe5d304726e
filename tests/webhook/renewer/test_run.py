"""The renewer at work: looks, does, looks again, and what it tells when it cannot come to its end."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from datetime import timedelta

import pytest
from cwii_webhook.kube.errors import Refused, Unreachable
from cwii_webhook.renewer.outcome import Outcome
from cwii_webhook.renewer.run import MAX_REPEATS, Renewer
from cwii_webhook.renewer.state import TLS_CRT
from cwii_webhook.telemetry.log import Log

from tests.webhook.renewer.fake_cluster import (
    BEGIN,
    CA_LIFE,
    LIFE,
    SETTLE,
    TERMS,
    World,
    established,
)

PATIENCE = 300.0


def renewed(world: World) -> Outcome:
    log = Log(os.open(os.devnull, os.O_WRONLY))
    return asyncio.run(Renewer(world, TERMS, world, world.today, log).run(SETTLE, PATIENCE))


def taking(world: World, *addresses: str) -> Callable[[], None]:
    """Whatever is waited for, these replicas take up what there is."""

    def each() -> None:
        for address in addresses or tuple(world.serves):
            world.take(address)

    return each


def due(world: World) -> None:
    world.passes((CA_LIFE.duration - CA_LIFE.renew_before).total_seconds())


def test_the_first_certificate_is_there_without_a_wait_but_for_the_replicas() -> None:
    world = World(serves={"a": b""})
    world.each = taking(world)

    outcome = renewed(world)

    assert (outcome.exit_code, outcome.result) == (0, "renewed")
    assert world.whole()
    assert world.time < SETTLE
    assert outcome.certificate_expiry
    assert abs(outcome.certificate_expiry - (BEGIN + LIFE.duration)) < timedelta(minutes=6)


def test_what_is_well_is_left_alone_and_nobody_is_told() -> None:
    outcome = renewed(established())

    assert (outcome.exit_code, outcome.result, outcome.event) == (0, "unchanged", None)


def test_an_authority_is_followed_by_the_next_and_what_was_done_is_told_in_order() -> None:
    world = established()
    due(world)
    world.each = taking(world)

    outcome = renewed(world)

    assert world.whole()
    assert outcome.completed == (
        "the next authority was made",
        "an authority was added to caBundle",
        "the next authority signs from now on",
        "a new pair was signed",
        "what signs no more was taken out of caBundle",
    )
    assert outcome.event
    assert outcome.event[:2] == ("Normal", "CertificateRenewed")
    assert json.loads(outcome.termination_message)["outcome"] == "renewed"


def test_a_replica_that_never_comes_is_told_and_the_old_authority_stays() -> None:
    world = established()
    old = world.secrets["ca"][TLS_CRT]
    due(world)
    world.each = taking(world, "a")

    outcome = renewed(world)

    assert outcome.exit_code == 1
    assert (
        outcome.problem
        == "not all serve the new certificate: b serves another; that has not changed for 300 s"
    )
    assert all(old in bundle for bundles in world.hooks.values() for bundle in bundles.values())
    assert outcome.event
    assert outcome.event[:2] == ("Warning", "CertificateNotRenewed")
    world.each = taking(world)
    assert renewed(world).exit_code == 0
    assert world.whole()


def test_a_replica_that_takes_its_time_is_waited_for_as_long_as_the_last_write_is_no_older_than_that() -> (
    None
):
    world = established()
    due(world)
    waited: list[float] = []

    def each() -> None:
        waited.append(world.time)
        if len(waited) > 580:
            taking(world)()

    world.each = each

    assert renewed(world).exit_code == 0
    assert waited[-1] - waited[0] > 280


def test_what_another_wrote_in_between_is_looked_at_anew() -> None:
    world = established()
    due(world)
    world.each = taking(world)
    others = iter(["ca", "one", "two", "serving"])

    def before() -> None:
        if name := next(others, ""):
            world.touch(name)

    world.before = before

    assert renewed(world).exit_code == 0
    assert world.whole()


def test_what_somebody_undoes_again_and_again_is_told() -> None:
    world = established()

    def undone() -> None:
        world.hooks["one"]["pods"] = b""
        world.touch("one")

    world.reading = undone

    outcome = renewed(world)

    assert (
        outcome.problem
        == f"an authority was added to caBundle, {MAX_REPEATS} times, and somebody undoes it: let nobody else write there"
    )


def test_a_configuration_that_is_not_there_hinders_no_replica_and_is_told() -> None:
    world = World(serves={"a": b""}, absent=("gone",))
    world.each = taking(world)

    outcome = renewed(world)

    assert outcome.problem.startswith("there is no MutatingWebhookConfiguration gone")
    assert world.whole()


@pytest.mark.parametrize(
    "trouble", [Unreachable("it is away"), Refused(503, "later"), Refused(429, "slow down", 2.0)]
)
def test_what_passes_by_itself_is_waited_for(trouble: Exception) -> None:
    world = established()
    due(world)
    world.each = taking(world)
    times = iter(range(4))

    def before() -> None:
        if next(times, None) is not None:
            raise trouble

    world.before = before

    assert renewed(world).exit_code == 0
    assert world.whole()


def test_but_not_for_ever() -> None:
    world = established()
    due(world)

    def before() -> None:
        raise Unreachable("it is away")

    world.before = before

    outcome = renewed(world)

    assert outcome.problem == "it is away; that has not changed for 300 s"
    assert world.time - (CA_LIFE.duration - CA_LIFE.renew_before).total_seconds() < PATIENCE + 60


def test_what_is_refused_for_good_is_told_at_once() -> None:
    world = established()
    due(world)
    begun = world.time

    def before() -> None:
        raise Refused(422, "it is invalid")

    world.before = before

    assert renewed(world).problem == "the API server answered 422: it is invalid"
    assert world.time == begun
