"""Each state of the cluster has one next step.

Renewers reach the desired state although they are interrupted, run concurrently, and although
replicas and API servers receive changes late.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from cwii_webhook.certificates.checks import serving_problem
from cwii_webhook.certificates.pki import create_authority, parse_certificates, sign
from cwii_webhook.kube.errors import StatusError
from cwii_webhook.renewer.state import CA_CRT, NEXT_CRT, TLS_CRT, TLS_KEY
from cwii_webhook.renewer.steps import Action, next_step
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.webhook.renewer.fake_cluster import (
    CA_LIFETIME,
    DESIRED,
    LIFETIME,
    SETTLE,
    FakeCluster,
    StepRenewer,
    make_installed_cluster,
    run_to_completion,
)

INDEX = st.integers(0, 1)
SERVING_AGE, AUTHORITY_AGE = (
    LIFETIME.duration - LIFETIME.renew_before,
    CA_LIFETIME.duration - CA_LIFETIME.renew_before,
)


def empty_the_cluster(cluster: FakeCluster) -> None:
    cluster.secrets = {"serving": {}, "ca": {}}
    cluster.configurations = {
        name: dict.fromkeys(bundles, b"") for name, bundles in cluster.configurations.items()
    }
    cluster.served.clear()


def make_serving_pair_due(cluster: FakeCluster) -> None:
    cluster.advance(SERVING_AGE.total_seconds())


def make_authority_due(cluster: FakeCluster) -> None:
    """Makes only the authority due. The serving pair is new."""
    cluster.advance(AUTHORITY_AGE.total_seconds() - 10 * 86400)
    run_to_completion(cluster)
    cluster.advance(10 * 86400)
    cluster.written_objects.clear()


def lose_authority(cluster: FakeCluster) -> None:
    cluster.secrets["ca"] = {}
    cluster.touch("ca")


def lose_bundle(cluster: FakeCluster) -> None:
    cluster.configurations["one"]["pods"] = b""
    cluster.touch("one")


SCENARIOS: dict[Callable[[FakeCluster], None], list[str]] = {
    empty_the_cluster: ["ca", "one", "two", "serving"],
    make_serving_pair_due: ["serving"],
    make_authority_due: ["ca", "one", "two", "ca", "serving", "one", "two"],
    lose_authority: ["ca", "one", "two", "serving", "one", "two"],
    lose_bundle: ["one"],
}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_renewal_makes_the_fewest_writes_and_a_second_run_makes_none(
    scenario: Callable[[FakeCluster], None],
) -> None:
    cluster = make_installed_cluster()
    scenario(cluster)

    run_to_completion(cluster)
    assert cluster.written_objects == SCENARIOS[scenario]
    assert cluster.is_complete()

    run_to_completion(cluster)
    assert cluster.written_objects == SCENARIOS[scenario]


@pytest.mark.parametrize(
    ("scenario", "cut"),
    [(scenario, cut) for scenario, order in SCENARIOS.items() for cut in range(len(order))],
)
def test_interrupted_renewal_is_completed_by_another_and_no_replica_is_rejected_meanwhile(
    scenario: Callable[[FakeCluster], None], cut: int
) -> None:
    cluster = make_installed_cluster()
    scenario(cluster)
    errors_at_start = set(cluster.trust_errors())

    renewer, remaining = StepRenewer(cluster), cut + 1
    while remaining:
        renewer.decide()
        for _ in renewer.write():
            assert set(cluster.trust_errors()) <= errors_at_start
            remaining -= 1
            if not remaining:
                break
        if renewer.action is Action.WAIT:
            cluster.advance(SETTLE)
            for address in cluster.served:
                cluster.reload_replica(address)
    assert len(cluster.written_objects) == cut + 1

    run_to_completion(cluster)
    assert cluster.is_complete()
    assert not cluster.trust_errors()


def test_next_authority_signs_only_after_all_api_servers_trust_it() -> None:
    cluster = make_installed_cluster()
    make_authority_due(cluster)
    old = cluster.secrets["serving"][TLS_CRT]
    renewer = StepRenewer(cluster)
    for _ in range(3):
        renewer.decide()
        list(renewer.write())

    assert renewer.action is Action.WAIT
    cluster.advance(SETTLE - 1)
    assert renewer.decide() is Action.WAIT
    assert cluster.secrets["serving"][TLS_CRT] == old
    cluster.advance(1)
    assert renewer.decide() is Action.PROMOTE_NEXT_AUTHORITY


def test_outdated_replicas_are_named_and_their_authority_stays_trusted() -> None:
    cluster = make_installed_cluster()
    make_authority_due(cluster)
    old = cluster.secrets["ca"][TLS_CRT]
    renewer = StepRenewer(cluster)
    for _ in range(12):
        renewer.decide()
        list(renewer.write())
        cluster.advance(SETTLE)
        cluster.reload_replica("a")
    cluster.unreachable.add("a")

    step = next_step(cluster.snapshot(), DESIRED, cluster.utc_now(), is_settled=True)

    assert step.action is Action.WAIT
    assert step.reason == "not all serve the new certificate: a does not answer; b serves another"
    assert all(
        old in bundle for bundles in cluster.configurations.values() for bundle in bundles.values()
    )


def test_old_authority_stays_for_a_starting_replica_without_endpoint() -> None:
    cluster = make_installed_cluster()
    make_authority_due(cluster)
    renewer = StepRenewer(cluster)
    while renewer.decide() is not Action.SIGN_PAIR:
        list(renewer.write())
        if renewer.action is Action.WAIT:
            cluster.advance(SETTLE)
    cluster.start_replica("new")
    list(renewer.write())
    for address in cluster.served:
        cluster.reload_replica(address)

    assert renewer.decide() is Action.WAIT
    cluster.advance(SETTLE)
    assert renewer.decide() is Action.WAIT
    assert not cluster.trust_errors()
    cluster.reload_replica("new")
    assert renewer.decide() is Action.PRUNE_BUNDLES


def test_expired_pair_is_replaced_without_a_wait() -> None:
    cluster = make_installed_cluster()
    cluster.advance(LIFETIME.duration.total_seconds())

    assert (
        next_step(cluster.snapshot(), DESIRED, cluster.utc_now(), is_settled=False).action
        is Action.SIGN_PAIR
    )


@pytest.mark.parametrize(
    ("name", "key", "value", "action"),
    [
        ("ca", TLS_KEY, b"", Action.CREATE_AUTHORITY),
        ("ca", TLS_CRT, b"nonsense", Action.CREATE_AUTHORITY),
        ("ca", NEXT_CRT, b"nonsense", Action.CREATE_NEXT_AUTHORITY),
        ("serving", TLS_KEY, b"", Action.SIGN_PAIR),
        ("serving", CA_CRT, b"", Action.SIGN_PAIR),
    ],
)
def test_invalid_data_is_replaced(name: str, key: str, value: bytes, action: Action) -> None:
    cluster = make_installed_cluster()
    cluster.secrets[name][key] = value
    cluster.touch(name)

    assert (
        next_step(cluster.snapshot(), DESIRED, cluster.utc_now(), is_settled=True).action is action
    )
    run_to_completion(cluster)
    assert cluster.is_complete()


def test_next_authority_replaces_an_expired_one() -> None:
    cluster = make_installed_cluster()
    cluster.advance(CA_LIFETIME.duration.total_seconds())
    next_authority = create_authority("hook", CA_LIFETIME, cluster.utc_now())
    cluster.secrets["ca"] |= {NEXT_CRT: next_authority.certificate, "next.key": next_authority.key}

    assert (
        next_step(cluster.snapshot(), DESIRED, cluster.utc_now(), is_settled=False).action
        is Action.PROMOTE_NEXT_AUTHORITY
    )


def test_foreign_authority_is_removed_after_all_replicas_serve_the_new_pair() -> None:
    cluster = make_installed_cluster()
    foreign = create_authority("foreign", CA_LIFETIME, cluster.utc_now())
    for address in cluster.served:
        cluster.served[address] = sign(DESIRED.serving, foreign, cluster.utc_now()).certificate
    cluster.configurations["two"]["pods"] = foreign.certificate + b"nonsense"
    cluster.touch("two")
    renewer = StepRenewer(cluster)

    renewer.decide()
    list(renewer.write())
    assert len(parse_certificates(cluster.configurations["two"]["pods"])) == 2
    run_to_completion(cluster)
    assert cluster.is_complete()


def test_changed_validity_renews_the_pair() -> None:
    cluster = make_installed_cluster()
    desired = replace(
        DESIRED,
        serving=replace(
            DESIRED.serving,
            lifetime=replace(
                LIFETIME, duration=timedelta(days=30), renew_before=timedelta(days=10)
            ),
        ),
    )

    step = next_step(cluster.snapshot(), desired, cluster.utc_now(), is_settled=True)

    assert (step.action, step.reason) == (
        Action.SIGN_PAIR,
        "it was made for another time than 720h",
    )


class RenewerMachine(RuleBasedStateMachine):
    """Two concurrent renewers with interruptions at any write.

    Meanwhile replicas start, stop and reload late, and certificates become due.
    """

    @initialize()
    def begin(self) -> None:
        self.cluster = make_installed_cluster()
        self.renewers = [StepRenewer(self.cluster), StepRenewer(self.cluster)]
        self.count = 0

    def _write(self, number: int, *, complete: bool) -> None:
        renewer = self.renewers[number]
        try:
            for _ in renewer.write():
                assert not self.cluster.trust_errors()
                if not complete:
                    break
        except StatusError:
            pass
        renewer.state = None

    @rule(number=INDEX)
    def renewer_decides(self, number: int) -> None:
        self.renewers[number].decide()

    @rule(number=INDEX)
    def renewer_writes(self, number: int) -> None:
        self._write(number, complete=True)

    @rule(number=INDEX)
    def renewer_is_interrupted_and_restarts(self, number: int) -> None:
        self._write(number, complete=False)
        self.renewers[number] = StepRenewer(self.cluster)

    @rule(number=INDEX, times=st.integers(1, 8))
    def renewer_runs_several_steps(self, number: int, times: int) -> None:
        for _ in range(times):
            if self.renewers[number].decide() is Action.WAIT:
                self.cluster.advance(SETTLE)
            self._write(number, complete=True)

    @rule()
    def time_passes(self) -> None:
        self.cluster.advance(SETTLE)

    @rule(index=INDEX)
    def replica_reloads(self, index: int) -> None:
        self.cluster.reload_replica(list(self.cluster.served)[index])

    @rule()
    def replica_is_replaced(self) -> None:
        self.count += 1
        if len(self.cluster.served) > 2:
            self.cluster.served.pop(next(iter(self.cluster.served)))
        self.cluster.start_replica(f"new-{self.count}")

    @precondition(
        lambda self: (
            self.cluster.is_complete()
            and not serving_problem(
                self.cluster.snapshot().serving.key_pair(), self.cluster.utc_now()
            )
        )
    )
    @rule()
    def the_authority_is_lost(self) -> None:
        """Requires a valid pair. With an expired one, API servers reject all replicas anyway."""
        lose_authority(self.cluster)

    @precondition(lambda self: self.cluster.is_complete())
    @rule()
    def the_pair_is_due(self) -> None:
        self.cluster.advance(SERVING_AGE.total_seconds())

    @precondition(lambda self: self.cluster.is_complete())
    @rule()
    def the_authority_is_due(self) -> None:
        expiry = parse_certificates(self.cluster.secrets["ca"][TLS_CRT])[0].not_valid_after_utc
        self.cluster.advance(
            max(0.0, (expiry - CA_LIFETIME.renew_before - self.cluster.utc_now()).total_seconds())
        )

    @invariant()
    def api_servers_trust_every_replica(self) -> None:
        assert not self.cluster.trust_errors()

    def teardown(self) -> None:
        if hasattr(self, "cluster"):
            run_to_completion(self.cluster)
            assert self.cluster.is_complete()
            assert not self.cluster.trust_errors()


RenewerMachine.TestCase.settings = hypothesis_settings(
    max_examples=40, stateful_step_count=40, deadline=None
)
TestRenewerMachine = RenewerMachine.TestCase
