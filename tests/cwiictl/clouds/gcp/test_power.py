"""What must be so before anybody is given power in a pool, and what there is room to write down about it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from cwiictl import names
from cwiictl.clouds.gcp import plan
from cwiictl.clouds.gcp.resources import room
from cwiictl.clouds.gcp.resources.policy import Policy
from cwiictl.clouds.gcp.resources.pool import Believed, Pool, PoolState
from cwiictl.clouds.gcp.resources.provider import Provider, ProviderState
from cwiictl.clouds.gcp.resources.reach import Reach, ReachState
from cwiictl.clouds.gcp.resources.service_account import ServiceAccount, ServiceAccountState
from cwiictl.clouds.gcp.spec import Ask, Role
from cwiictl.clouds.gcp.stores import descriptions
from cwiictl.engine.pace import Pace
from cwiictl.engine.resource import Known, Mark, Plan, State
from cwiictl.engine.run import apply
from cwiictl.errors import BadInput, Conflict
from cwiictl.issuer.documents import Hosting, KeySetState
from cwiictl.issuer.key import KeyState, SigningKey
from cwiictl.issuer.rotation import Rotation
from tests.contracts.shelf import Shelf, World
from tests.cwiictl.clouds.gcp.told import OTHER, a_spec, the_stores
from tests.examples import a_cluster, a_workload

OWN, LENT = Mark("demo"), Mark("demo", "brought")
THEIRS = PoolState(title="Team X", description="Theirs.")
GITHUB = Believed("github", "https://token.actions.example.org")
VIEWER = Ask((Role("roles/viewer"),))
MANY = frozenset(f"project-number-{number:04}" for number in range(12))


def the_plan(*asks: Ask, **told: Any) -> Plan:
    """All of it: the issuer, who believes it, and who is given power because of that."""
    store: Any = Shelf(World(), "local/key")
    spec, stores = a_spec(**told), the_stores()
    issuer = plan.host(
        spec, a_cluster(), stores, SigningKey("signing-key", store), Hosting("replace")
    )
    identities = plan.identities(
        spec, a_cluster(), stores, [(a_workload(), ask) for ask in asks or (VIEWER,)], issuer.home
    )
    return Plan([*plan.trusting(spec, a_cluster(), stores, issuer, ()), *identities])


def only(kind: type[Any], things: Plan) -> Any:
    (thing,) = (thing for thing in things.values() if isinstance(thing, kind))
    return thing


def found(*pairs: tuple[Any, State]) -> Known:
    known = Known()
    for resource, state in pairs:
        known.learn(resource, state)
    return known


def awaited(things: Plan, *pairs: tuple[Any, State]) -> bool:
    """By whoever gives or gets power, and always by both."""
    provider, seen = only(Provider, things), found(*pairs)
    (one,) = {
        provider.address in only(kind, things).awaits(things, seen)
        for kind in (ServiceAccount, Policy)
    }
    return one


def a_provider(things: Plan, **changes: Any) -> ProviderState:
    provider = only(Provider, things)
    said: dict[str, Any] = {"issuer": provider.issuer.home.text, "keys": provider.keys, **changes}
    return ProviderState(title="demo", description="x", audiences=frozenset(), **said)


def test_nobody_waits_for_an_issuer_that_nothing_is_yet_believed_of_or_that_is_believed_already() -> (
    None
):
    things = the_plan()

    assert not awaited(things)
    assert not awaited(things, (only(Provider, things), a_provider(things)))


@pytest.mark.parametrize(
    "drifted", [{"issuer": "https://evil.example.org"}, {"keys": "uploaded"}, {"deleted": True}]
)
def test_while_another_is_believed_nobody_is_given_power(drifted: dict[str, Any]) -> None:
    things = the_plan()

    assert awaited(things, (only(Provider, things), a_provider(things, **drifted)))


def test_while_a_pool_comes_back_with_whom_it_believed_nobody_is_given_power() -> None:
    things = the_plan()

    assert awaited(things, (only(Pool, things), replace(THEIRS, deleted=True, owner=OWN)))


@pytest.mark.parametrize(
    ("kids", "waits"), [({"ours"}, False), ({"evil"}, True), ({"ours", "evil"}, True)]
)
def test_while_other_keys_are_believed_nobody_is_given_power(
    kids: set[str], *, waits: bool
) -> None:
    things = the_plan(key_storage="pool-jwk-file")
    seen = (
        (only(Provider, things), a_provider(things)),
        (things["gcp/provider_keys/demo/demo"], KeySetState(kids=frozenset(kids))),
        (only(SigningKey, things), KeyState(kid="ours")),
    )

    assert awaited(things, *seen) == waits


def test_identities_alone_wait_for_no_provider_for_it_is_not_changed_with_them() -> None:
    things = Plan(thing for thing in the_plan().values() if isinstance(thing, ServiceAccount))

    assert only(ServiceAccount, things).awaits(things, Known()) == ()


class OnePool:
    """A place with one pool in it."""

    kind, bulk, patience = "gcp/pools", False, 1.0

    def __init__(self, have: PoolState) -> None:
        self.have = have

    def get(self, pools: Collection[str], /) -> dict[str, PoolState]:
        return dict.fromkeys(pools, self.have)

    def put(self, _pool: str, want: PoolState, _have: PoolState | None, /) -> PoolState:
        self.have = want
        return want

    def drop(self, _pool: str, /) -> None: ...

    def owned(self, _cluster: str, /) -> dict[str, Mark]:
        return {}


@pytest.mark.parametrize(
    ("owner", "refused"),
    [
        (Mark("beta"), True),
        (Mark("beta", "brought"), True),
        (Mark("ccoctl/demo", tool="ccoctl"), True),
        (None, False),
        (LENT, False),
    ],
)
def test_a_pool_of_another_cluster_is_refused_though_it_was_named_unless_it_is_taken_over(
    owner: Mark | None, *, refused: bool
) -> None:
    place = OnePool(replace(THEIRS, owner=owner))
    pool = replace(only(Pool, the_plan(pool="theirs")), store=place, apis=())

    failed = apply(Plan([pool]), OWN, Pace(1)).failed

    assert isinstance(failed.get(pool.address), Conflict) == refused
    assert apply(Plan([pool]), OWN, Pace(1), {pool.address}).whole
    assert place.have.owner is not None
    assert (place.have.owner.cluster, place.have.owner.hold) == ("demo", "brought")


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"disabled": True}, "is disabled"),
        ({"deleted": True}, "is deleted"),
        ({"others": frozenset({GITHUB})}, "github"),
        ({"description": "x" * 200}, "no room"),
    ],
)
def test_a_pool_of_the_users_own_is_refused_where_it_would_have_to_be_changed(
    changes: dict[str, Any], word: str
) -> None:
    pool = only(Pool, the_plan(pool="theirs"))

    problem = pool.objection(found((pool, replace(THEIRS, **changes))))

    assert isinstance(problem, BadInput)
    assert word in problem.problem
    assert "--workload-identity-pool" in problem.remedy
    assert pool.objection(found((pool, replace(THEIRS, owner=OWN, **changes)))) is None


def test_in_a_pool_of_the_users_own_the_named_provider_is_expected() -> None:
    pool = only(Pool, the_plan(pool="theirs", provider="github"))

    assert pool.objection(found((pool, replace(THEIRS, others=frozenset({GITHUB}))))) is None


def test_a_strangers_provider_in_a_pool_of_ours_is_a_difference() -> None:
    pool = only(Pool, the_plan())
    have = replace(
        pool.want(Known()),
        owner=OWN,
        others=frozenset({GITHUB, Believed("demo", "https://x.example.org")}),
    )

    (difference,) = pool.differing(pool.want(Known()), have)

    assert (difference.field, difference.have) == (
        "providers",
        {"github, which believes https://token.actions.example.org"},
    )


@pytest.mark.parametrize("owner", [None, LENT, Mark("beta")])
def test_nobody_without_a_service_account_is_given_roles_in_a_pool_that_is_not_the_clusters_own(
    owner: Mark | None,
) -> None:
    things = the_plan(replace(VIEWER, direct=True), pool="theirs")
    policy, pool = only(Policy, things), only(Pool, things)

    assert isinstance(policy.objection(found((pool, replace(THEIRS, owner=owner)))), BadInput)
    assert policy.objection(found((pool, replace(THEIRS, owner=OWN)))) is None


# --- room ---


@pytest.mark.parametrize(
    "scopes", [frozenset[str](), MANY - {"project-number-0000"}, frozenset({"a-project"})]
)
def test_a_sentence_gives_way_to_other_projects_and_the_mark_and_to_nothing_else(
    scopes: frozenset[str],
) -> None:
    few = frozenset(sorted(scopes)[:6])
    for mark in (OWN, Mark("demo", "adopted", "create-identity-provider")):
        text = descriptions.written("long " * 40, mark, few)
        assert len(text.encode()) <= room.LENGTH
        assert descriptions.read(text, "demo") == (
            room.fitted("long " * 40, "demo", few),
            few,
            mark,
            "",
        )
        assert names.described(mark) in text
    assert room.fitted("short", "demo") == "short"


def test_where_a_rotation_of_the_providers_keys_stands_shortens_what_people_are_told_and_is_no_drift() -> (
    None
):
    provider, word = (
        only(Provider, the_plan()),
        Rotation("unpublish", 10**9, "A" * 12, "B" * 12, 10**9).word,
    )
    long = "Issuer " * 30
    text = descriptions.written(long, OWN, word=word)
    assert descriptions.read(text, "demo") == (
        room.fitted(long, "demo", word=word),
        frozenset(),
        OWN,
        word,
    )
    have = a_provider(the_plan(), word=word)
    want = replace(have, word="", description=long)

    assert (
        provider.differing(want, replace(have, description=room.fitted(long, "demo", word=word)))
        == ()
    )
    assert [d.field for d in provider.differing(want, replace(have, description="another"))] == [
        "description"
    ]


def test_what_was_shortened_is_as_wanted() -> None:
    scopes = frozenset(sorted(MANY)[:6])
    account = only(ServiceAccount, the_plan(Ask((Role("roles/viewer", tuple(scopes)),))))
    want = account.want(Known())
    have = replace(want, description=room.fitted(want.description, "demo", scopes))

    assert have.description != want.description
    assert account.differing(want, have) == ()


def test_more_projects_than_can_be_written_down_are_refused_with_those_of_earlier_runs_before_anything_is_written() -> (
    None
):
    account = only(ServiceAccount, the_plan(Ask((Role("roles/viewer", tuple(MANY)),))))
    assert "fewer projects" in account.objection(Known()).remedy

    account = only(ServiceAccount, the_plan(Ask((Role("roles/viewer", (OTHER,)),))))
    assert account.objection(Known()) is None
    have = ServiceAccountState(
        email="x", title="x", description="x", principals=frozenset(), scopes=MANY
    )
    assert "earlier runs" in account.objection(found((account, have))).remedy


def test_more_projects_than_can_be_written_on_the_pool_are_refused() -> None:
    reach = only(Reach, the_plan(Ask((Role("roles/viewer", (OTHER,)),), direct=True)))

    assert reach.objection(found((reach, ReachState()))) is None
    assert "serviceAccount: true" in reach.objection(found((reach, ReachState(scopes=MANY)))).remedy
