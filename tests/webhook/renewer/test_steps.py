"""What is there → what is next: wherever a renewer is cut, whoever else does the same, and however late replicas and API servers hear of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from cwii_webhook.certificates.checks import serving_problem
from cwii_webhook.certificates.pki import create_authority, parse_certificates, sign
from cwii_webhook.kube.errors import Refused
from cwii_webhook.renewer.state import CA_CRT, NEXT_CRT, TLS_CRT, TLS_KEY
from cwii_webhook.renewer.steps import Action, next_step
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.webhook.renewer.fake_cluster import (
    CA_LIFE,
    LIFE,
    SETTLE,
    TERMS,
    Mind,
    World,
    established,
    settled,
)

ONE = st.integers(0, 1)
LEAF, AUTHORITY = LIFE.duration - LIFE.renew_before, CA_LIFE.duration - CA_LIFE.renew_before


def nothing_is_there(world: World) -> None:
    world.secrets = {"serving": {}, "ca": {}}
    world.hooks = {name: dict.fromkeys(bundles, b"") for name, bundles in world.hooks.items()}
    world.serves.clear()


def the_pair_is_due(world: World) -> None:
    world.passes(LEAF.total_seconds())


def the_authority_is_due(world: World) -> None:
    """The pair that is served was made lately."""
    world.passes(AUTHORITY.total_seconds() - 10 * 86400)
    settled(world)
    world.passes(10 * 86400)
    world.written.clear()


def the_authority_is_lost(world: World) -> None:
    world.secrets["ca"] = {}
    world.touch("ca")


def a_bundle_is_lost(world: World) -> None:
    world.hooks["one"]["pods"] = b""
    world.touch("one")


SCENES: dict[Callable[[World], None], list[str]] = {
    nothing_is_there: ["ca", "one", "two", "serving"],
    the_pair_is_due: ["serving"],
    the_authority_is_due: ["ca", "one", "two", "ca", "serving", "one", "two"],
    the_authority_is_lost: ["ca", "one", "two", "serving", "one", "two"],
    a_bundle_is_lost: ["one"],
}


@pytest.mark.parametrize("scene", SCENES)
def test_it_comes_to_its_end_in_as_few_writes_as_there_can_be_and_then_writes_nothing(
    scene: Callable[[World], None],
) -> None:
    world = established()
    scene(world)

    settled(world)
    assert world.written == SCENES[scene]
    assert world.whole()

    settled(world)
    assert world.written == SCENES[scene]


@pytest.mark.parametrize(
    ("scene", "cut"), [(scene, cut) for scene, order in SCENES.items() for cut in range(len(order))]
)
def test_wherever_it_is_cut_another_comes_to_the_same_end_and_nobody_is_refused_meanwhile(
    scene: Callable[[World], None], cut: int
) -> None:
    world = established()
    scene(world)
    broken = set(world.torn())

    one, left = Mind(world), cut + 1
    while left:
        one.look()
        for _ in one.act():
            assert set(world.torn()) <= broken
            left -= 1
            if not left:
                break
        if one.next is Action.WAIT:
            world.passes(SETTLE)
            for address in world.serves:
                world.take(address)
    assert len(world.written) == cut + 1

    settled(world)
    assert world.whole()
    assert not world.torn()


def test_an_authority_signs_only_when_every_api_server_has_heard_of_it() -> None:
    world = established()
    the_authority_is_due(world)
    old = world.secrets["serving"][TLS_CRT]
    mind = Mind(world)
    for _ in range(3):
        mind.look()
        list(mind.act())

    assert mind.next is Action.WAIT
    world.passes(SETTLE - 1)
    assert mind.look() is Action.WAIT
    assert world.secrets["serving"][TLS_CRT] == old
    world.passes(1)
    assert mind.look() is Action.PROMOTE_NEXT_AUTHORITY


def test_whoever_still_serves_the_old_certificate_is_named_and_its_authority_stays() -> None:
    world = established()
    the_authority_is_due(world)
    old = world.secrets["ca"][TLS_CRT]
    mind = Mind(world)
    for _ in range(12):
        mind.look()
        list(mind.act())
        world.passes(SETTLE)
        world.take("a")
    world.mute.add("a")

    told = next_step(world.read(), TERMS, world.today(), is_settled=True)

    assert told.action is Action.WAIT
    assert told.reason == "not all serve the new certificate: a does not answer; b serves another"
    assert all(old in bundle for bundles in world.hooks.values() for bundle in bundles.values())


def test_a_replica_that_comes_with_the_old_certificate_and_that_nobody_knows_of_yet_is_waited_for() -> (
    None
):
    world = established()
    the_authority_is_due(world)
    mind = Mind(world)
    while mind.look() is not Action.SIGN_PAIR:
        list(mind.act())
        if mind.next is Action.WAIT:
            world.passes(SETTLE)
    world.start("new")
    list(mind.act())
    for address in world.serves:
        world.take(address)

    assert mind.look() is Action.WAIT
    world.passes(SETTLE)
    assert mind.look() is Action.WAIT
    assert not world.torn()
    world.take("new")
    assert mind.look() is Action.PRUNE_BUNDLES


def test_what_serves_nobody_is_replaced_without_a_wait() -> None:
    world = established()
    world.passes(LIFE.duration.total_seconds())

    assert (
        next_step(world.read(), TERMS, world.today(), is_settled=False).action is Action.SIGN_PAIR
    )


@pytest.mark.parametrize(
    ("name", "key", "value", "then"),
    [
        ("ca", TLS_KEY, b"", Action.CREATE_AUTHORITY),
        ("ca", TLS_CRT, b"nonsense", Action.CREATE_AUTHORITY),
        ("ca", NEXT_CRT, b"nonsense", Action.CREATE_NEXT_AUTHORITY),
        ("serving", TLS_KEY, b"", Action.SIGN_PAIR),
        ("serving", CA_CRT, b"", Action.SIGN_PAIR),
    ],
)
def test_what_somebody_has_spoilt_is_made_anew(
    name: str, key: str, value: bytes, then: Action
) -> None:
    world = established()
    world.secrets[name][key] = value
    world.touch(name)

    assert next_step(world.read(), TERMS, world.today(), is_settled=True).action is then
    settled(world)
    assert world.whole()


def test_a_successor_takes_the_place_of_an_authority_that_has_ended() -> None:
    world = established()
    world.passes(CA_LIFE.duration.total_seconds())
    following = create_authority("hook", CA_LIFE, world.today())
    world.secrets["ca"] |= {NEXT_CRT: following.certificate, "next.key": following.key}

    assert (
        next_step(world.read(), TERMS, world.today(), is_settled=False).action
        is Action.PROMOTE_NEXT_AUTHORITY
    )


def test_other_authorities_in_a_bundle_stay_until_all_serve_what_ours_has_signed_and_nonsense_does_not() -> (
    None
):
    world = established()
    foreign = create_authority("foreign", CA_LIFE, world.today())
    for address in world.serves:
        world.serves[address] = sign(TERMS.serving, foreign, world.today()).certificate
    world.hooks["two"]["pods"] = foreign.certificate + b"nonsense"
    world.touch("two")
    mind = Mind(world)

    mind.look()
    list(mind.act())
    assert len(parse_certificates(world.hooks["two"]["pods"])) == 2
    settled(world)
    assert world.whole()


def test_another_validity_is_heeded_at_once() -> None:
    world = established()
    terms = replace(
        TERMS,
        serving=replace(
            TERMS.serving,
            lifetime=replace(LIFE, duration=timedelta(days=30), renew_before=timedelta(days=10)),
        ),
    )

    told = next_step(world.read(), terms, world.today(), is_settled=True)

    assert (told.action, told.reason) == (
        Action.SIGN_PAIR,
        "it was made for another time than 720h",
    )


class Anything(RuleBasedStateMachine):
    """Two renewers that look and act at any moment, one write at a time; replicas that come, go and hear late; and certificates that are due."""

    @initialize()
    def begin(self) -> None:
        self.world = established()
        self.minds = [Mind(self.world), Mind(self.world)]
        self.count = 0

    def _act(self, number: int, *, whole: bool) -> None:
        mind = self.minds[number]
        try:
            for _ in mind.act():
                assert not self.world.torn()
                if not whole:
                    break
        except Refused:
            pass
        mind.seen = None

    @rule(number=ONE)
    def one_looks(self, number: int) -> None:
        self.minds[number].look()

    @rule(number=ONE)
    def one_acts(self, number: int) -> None:
        self._act(number, whole=True)

    @rule(number=ONE)
    def one_is_cut_and_begins_again(self, number: int) -> None:
        self._act(number, whole=False)
        self.minds[number] = Mind(self.world)

    @rule(number=ONE, times=st.integers(1, 8))
    def one_goes_on_for_a_while(self, number: int, times: int) -> None:
        for _ in range(times):
            if self.minds[number].look() is Action.WAIT:
                self.world.passes(SETTLE)
            self._act(number, whole=True)

    @rule()
    def time_passes(self) -> None:
        self.world.passes(SETTLE)

    @rule(which=ONE)
    def a_replica_hears(self, which: int) -> None:
        self.world.take(list(self.world.serves)[which])

    @rule()
    def a_replica_comes_and_another_goes(self) -> None:
        self.count += 1
        if len(self.world.serves) > 2:
            self.world.serves.pop(next(iter(self.world.serves)))
        self.world.start(f"new-{self.count}")

    @precondition(
        lambda self: (
            self.world.whole()
            and not serving_problem(self.world.read().serving.key_pair(), self.world.today())
        )
    )
    @rule()
    def the_authority_is_lost(self) -> None:
        """Where the pair has ended too, nobody is believed anyway, and nobody waits."""
        the_authority_is_lost(self.world)

    @precondition(lambda self: self.world.whole())
    @rule()
    def the_pair_is_due(self) -> None:
        self.world.passes(LEAF.total_seconds())

    @precondition(lambda self: self.world.whole())
    @rule()
    def the_authority_is_due(self) -> None:
        ends = parse_certificates(self.world.secrets["ca"][TLS_CRT])[0].not_valid_after_utc
        self.world.passes(
            max(0.0, (ends - CA_LIFE.renew_before - self.world.today()).total_seconds())
        )

    @invariant()
    def every_replica_is_believed(self) -> None:
        assert not self.world.torn()

    def teardown(self) -> None:
        if hasattr(self, "world"):
            settled(self.world)
            assert self.world.whole()
            assert not self.world.torn()


Anything.TestCase.settings = hypothesis_settings(
    max_examples=40, stateful_step_count=40, deadline=None
)
TestAnything = Anything.TestCase
