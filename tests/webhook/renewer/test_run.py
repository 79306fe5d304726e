"""The renewer repeats its steps until it is done, and reports why if it cannot finish."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from datetime import timedelta

import pytest
from cwii_webhook.kube.errors import StatusError, Unreachable
from cwii_webhook.renewer.outcome import Outcome
from cwii_webhook.renewer.run import MAX_REPEATS, Renewer
from cwii_webhook.renewer.state import TLS_CRT
from cwii_webhook.telemetry.log import Log

from tests.webhook.renewer.fake_cluster import (
    CA_LIFETIME,
    DESIRED,
    LIFETIME,
    SETTLE,
    START,
    FakeCluster,
    make_installed_cluster,
)

PATIENCE = 300.0


def run_renewer(cluster: FakeCluster) -> Outcome:
    log = Log(os.open(os.devnull, os.O_WRONLY))
    return asyncio.run(
        Renewer(cluster, DESIRED, cluster, cluster.utc_now, log).run(SETTLE, PATIENCE)
    )


def reload_on_sleep(cluster: FakeCluster, *addresses: str) -> Callable[[], None]:
    """Returns a callback that makes these replicas, or all, read their files."""

    def reload() -> None:
        for address in addresses or tuple(cluster.served):
            cluster.reload_replica(address)

    return reload


def make_authority_due(cluster: FakeCluster) -> None:
    cluster.advance((CA_LIFETIME.duration - CA_LIFETIME.renew_before).total_seconds())


def test_first_certificate_waits_only_for_replicas() -> None:
    cluster = FakeCluster(served={"a": b""})
    cluster.on_sleep = reload_on_sleep(cluster)

    outcome = run_renewer(cluster)

    assert (outcome.exit_code, outcome.result) == (0, "renewed")
    assert cluster.is_complete()
    assert cluster.time < SETTLE
    assert outcome.certificate_expiry
    assert abs(outcome.certificate_expiry - (START + LIFETIME.duration)) < timedelta(minutes=6)


def test_valid_certificates_stay_unchanged_without_an_event() -> None:
    outcome = run_renewer(make_installed_cluster())

    assert (outcome.exit_code, outcome.result, outcome.event) == (0, "unchanged", None)


def test_authority_is_replaced_and_the_actions_are_reported_in_order() -> None:
    cluster = make_installed_cluster()
    make_authority_due(cluster)
    cluster.on_sleep = reload_on_sleep(cluster)

    outcome = run_renewer(cluster)

    assert cluster.is_complete()
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


def test_outdated_replica_is_reported_and_the_old_authority_stays_trusted() -> None:
    cluster = make_installed_cluster()
    old = cluster.secrets["ca"][TLS_CRT]
    make_authority_due(cluster)
    cluster.on_sleep = reload_on_sleep(cluster, "a")

    outcome = run_renewer(cluster)

    assert outcome.exit_code == 1
    assert (
        outcome.problem
        == "not all serve the new certificate: b serves another; that has not changed for 300 s"
    )
    assert all(
        old in bundle for bundles in cluster.configurations.values() for bundle in bundles.values()
    )
    assert outcome.event
    assert outcome.event[:2] == ("Warning", "CertificateNotRenewed")
    cluster.on_sleep = reload_on_sleep(cluster)
    assert run_renewer(cluster).exit_code == 0
    assert cluster.is_complete()


def test_slow_replica_is_waited_for_until_the_patience_ends() -> None:
    cluster = make_installed_cluster()
    make_authority_due(cluster)
    waited: list[float] = []

    def reload_late() -> None:
        waited.append(cluster.time)
        if len(waited) > 580:
            reload_on_sleep(cluster)()

    cluster.on_sleep = reload_late

    assert run_renewer(cluster).exit_code == 0
    assert waited[-1] - waited[0] > 280


def test_write_conflict_makes_the_renewer_read_again() -> None:
    cluster = make_installed_cluster()
    make_authority_due(cluster)
    cluster.on_sleep = reload_on_sleep(cluster)
    names = iter(["ca", "one", "two", "serving"])

    def before_write() -> None:
        if name := next(names, ""):
            cluster.touch(name)

    cluster.before_write = before_write

    assert run_renewer(cluster).exit_code == 0
    assert cluster.is_complete()


def test_action_that_another_writer_undoes_is_reported() -> None:
    cluster = make_installed_cluster()

    def undo() -> None:
        cluster.configurations["one"]["pods"] = b""
        cluster.touch("one")

    cluster.before_read = undo

    outcome = run_renewer(cluster)

    assert outcome.problem == (
        f"an authority was added to caBundle, {MAX_REPEATS} times, "
        "and somebody undoes it: let nobody else write there"
    )


def test_missing_configuration_is_reported_after_all_other_steps() -> None:
    cluster = FakeCluster(served={"a": b""}, missing_configurations=("gone",))
    cluster.on_sleep = reload_on_sleep(cluster)

    outcome = run_renewer(cluster)

    assert outcome.problem.startswith("there is no MutatingWebhookConfiguration gone")
    assert cluster.is_complete()


@pytest.mark.parametrize(
    "error",
    [Unreachable("it is away"), StatusError(503, "later"), StatusError(429, "slow down", 2.0)],
)
def test_temporary_errors_are_retried(error: Exception) -> None:
    cluster = make_installed_cluster()
    make_authority_due(cluster)
    cluster.on_sleep = reload_on_sleep(cluster)
    attempts = iter(range(4))

    def before_write() -> None:
        if next(attempts, None) is not None:
            raise error

    cluster.before_write = before_write

    assert run_renewer(cluster).exit_code == 0
    assert cluster.is_complete()


def test_retries_end_with_the_patience() -> None:
    cluster = make_installed_cluster()
    make_authority_due(cluster)

    def before_write() -> None:
        raise Unreachable("it is away")

    cluster.before_write = before_write

    outcome = run_renewer(cluster)

    assert outcome.problem == "it is away; that has not changed for 300 s"
    assert (
        cluster.time - (CA_LIFETIME.duration - CA_LIFETIME.renew_before).total_seconds()
        < PATIENCE + 60
    )


def test_permanent_error_ends_the_run_at_once() -> None:
    cluster = make_installed_cluster()
    make_authority_due(cluster)
    start = cluster.time

    def before_write() -> None:
        raise StatusError(422, "it is invalid")

    cluster.before_write = before_write

    assert run_renewer(cluster).problem == "the API server answered 422: it is invalid"
    assert cluster.time == start
