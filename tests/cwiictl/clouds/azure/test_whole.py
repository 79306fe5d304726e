"""All of a cluster through the engine, on stores that keep what they promise: made once, kept from then on, mended where it differs, taken down."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, replace
from functools import cache
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from cwiictl import oidc
from cwiictl.clouds.azure import clearance, plan
from cwiictl.clouds.azure.environments import environment
from cwiictl.clouds.azure.resources.custom_role import Powers
from cwiictl.clouds.azure.resources.known_region import KnownRegionState
from cwiictl.clouds.azure.resources.lent_role import LentRoleState
from cwiictl.clouds.azure.resources.resource_group import ResourceGroupState, due
from cwiictl.clouds.azure.resources.role_assignments import AssignmentsState, Grant
from cwiictl.clouds.azure.resources.standing_group import StandingGroupState
from cwiictl.clouds.azure.resources.storage_account import ContainerState, StorageAccountState
from cwiictl.clouds.azure.spec import Ask, Role, Spec
from cwiictl.clouds.azure.stores import Stores
from cwiictl.clouds.permissions import PermissionsState
from cwiictl.engine.holdings import holdings, remove
from cwiictl.engine.resource import Mark, Plan
from cwiictl.engine.run import Outcome, apply, preview
from cwiictl.errors import Conflict
from cwiictl.issuer.documents import DocumentState, Hosting, KeySetState
from cwiictl.issuer.key import KeyState, SigningKey
from tests.clock import a_pace
from tests.cwiictl.clouds.azure.told import (
    ROLES,
    SUBSCRIPTION,
    TENANT,
    TITLES,
    a_group,
    a_role,
    a_spec,
)
from tests.examples import a_cluster, a_workload

OURS = Mark("demo")
ASKED = Ask((Role("Reader"),), Powers(frozenset({"Microsoft.Compute/disks/read"})))
Wrote = list[tuple[str, str]]


class Memory:
    """What is put is there, with the ids that a cloud would give."""

    bulk, patience = False, 30.0

    def __init__(
        self, kind: str, wrote: Wrote, shown: Callable[[str, Any], Any] = lambda _name, state: state
    ) -> None:
        self.kind, self.wrote, self.shown = kind, wrote, shown
        self.things: dict[str, Any] = {}

    def get(self, names: Collection[str], /) -> Mapping[str, Any]:
        seen = {name: self.shown(name, self.things.get(name)) for name in names}
        return {name: state for name, state in seen.items() if state is not None}

    def put(self, name: str, want: Any, have: Any, /) -> Any:
        self.wrote.append(("put", f"{self.kind}/{name}"))
        wish = due(want, have)
        told = {
            f.name: getattr(have, f.name, "") or f"{f.name} of {name}"
            for f in fields(wish)
            if "assigned" in f.metadata
        }
        self.things[name] = replace(wish, **told)
        return self.get([name])[name]

    def drop(self, name: str, /) -> None:
        self.wrote.append(("drop", f"{self.kind}/{name}"))
        self.things.pop(name, None)

    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        """What goes with its parent owns nothing."""
        return {
            name: state.owner
            for name, state in self.things.items()
            if state.owner and state.owner.cluster == cluster and not state.markless
        }


class Assignments(Memory):
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        """By what they say of themselves."""
        return {
            name: state.owner
            for name, state in self.things.items()
            if state.owner.cluster == cluster
        }


class Groups(Memory):
    def vacant(self, group: str, /) -> bool:
        return group == "demo"


class KeySets(Memory):
    def put(self, name: str, want: Any, have: Any, /) -> Any:
        self.wrote.append(("put", f"{self.kind}/{name}"))
        self.things[name] = KeySetState.read(
            want.merged(have), name, want.content_type, want.cache_control
        )
        return self.things[name]


@cache
def key() -> oidc.VerificationKey:
    public = rsa.generate_private_key(65537, 2048).public_key()
    return oidc.public_key(
        public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), "a key"
    )


class Everywhere(Memory):
    """Of groups that are nobody's here to make: each is there."""

    def get(self, names: Any, /) -> Any:
        return dict.fromkeys(names, StandingGroupState())


class Azure:
    """One subscription, and the plan of a cluster in it."""

    def __init__(self, **told: Any) -> None:
        self.spec: Spec = a_spec(**told)
        self.wrote: Wrote = []
        self.groups = Groups("azure/resource-group", self.wrote)
        self.accounts, self.containers, self.documents, self.identities, self.custom_roles = (
            Memory(f"azure/{kind}", self.wrote)
            for kind in ("storage-account", "container", "document", "identity", "custom-role")
        )
        self.key_sets = KeySets("azure/key-set", self.wrote)
        self.issuers = Memory("issuer", self.wrote)
        self.lent = Memory(
            "azure/lent-role", self.wrote, lambda _name, state: state or LentRoleState()
        )
        self.assignments = Assignments("azure/role-assignments", self.wrote, self._assigned)
        self.permissions: Any = Memory(
            "azure/permissions", [], lambda _name, _state: PermissionsState()
        )

    def _assigned(self, name: str, state: AssignmentsState | None) -> AssignmentsState | None:
        identity = self.identities.things.get(name)
        return state or (
            AssignmentsState(grants=frozenset(), principal=identity.principal_id)
            if identity
            else None
        )

    @property
    def stores(self) -> Stores:
        made: dict[str, Any] = {
            "groups": self.groups,
            "regions": Memory("azure/region", [], lambda _name, _state: KnownRegionState()),
            "standing_groups": Everywhere("azure/standing-group", []),
            "known_issuers": Memory("azure/known-issuers", []),
            "accounts": self.accounts,
            "containers": self.containers,
            "lent_roles": self.lent,
            "documents": self.documents,
            "key_sets": self.key_sets,
            "issuers": self.issuers,
            "identities": self.identities,
            "custom_roles": self.custom_roles,
            "assignments": self.assignments,
            "exchange": None,
        }
        doomed = self.spec.doomed(a_cluster())
        return Stores(
            SUBSCRIPTION,
            "somebody",
            TENANT,
            environment(""),
            doomed,
            a_role,
            TITLES,
            lambda: None,
            lambda _grants: self.permissions,
            **made,
        )

    def planned(self, *asks: tuple[Any, Ask]) -> Plan:
        stores, cluster = self.stores, a_cluster()
        keys: Any = Memory("local/key", [])
        keys.things["signing-key"] = KeyState.of(key())
        issuer = plan.host(
            self.spec, cluster, stores, SigningKey("signing-key", keys), Hosting("published")
        )
        made = Plan(
            [
                issuer,
                *plan.identities(
                    self.spec, cluster, stores, asks or [(a_workload(), ASKED)], issuer.home
                ),
            ]
        )
        return Plan([*made.values(), *clearance.permitted(stores, tuple(made.values()))])

    def applied(self, *asks: tuple[Any, Ask]) -> Outcome:
        return apply(self.planned(*asks), OURS, a_pace())

    def made(self) -> Azure:
        assert self.applied().whole
        self.wrote.clear()
        return self


def test_a_second_run_writes_nothing() -> None:
    azure = Azure()

    first = azure.applied()
    assert first.whole
    assert {what for _, what in azure.wrote} == {
        change.address for change in first.changes if change.verb == "create"
    }
    azure.wrote.clear()
    again = azure.applied()

    assert again.whole
    assert {change.verb for change in again.changes} == {"keep"}
    assert azure.wrote == []


def test_a_preview_of_an_empty_subscription_writes_nothing_and_says_all_that_will_be_made() -> None:
    azure = Azure()

    told = preview(azure.planned(), OURS, a_pace())

    assert told.whole
    assert azure.wrote == []
    verbs = {change.address: change.verb for change in told.changes}
    assert {address for address, verb in verbs.items() if verb == "keep"} == {
        "azure/lent-role/demo/demo",
        "azure/permissions/somebody",
        "azure/region/eastus",
        f"azure/permissions/somebody at /subscriptions/{SUBSCRIPTION}",
        "local/key/signing-key",
    }


def test_an_identity_that_is_given_nothing_is_kept_too() -> None:
    azure = Azure()
    asks = (a_workload(), Ask())
    assert azure.applied(asks).whole

    assert {change.verb for change in azure.applied(asks).changes} == {"keep"}


DRIFT: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("groups", "tags", lambda s: replace(s, tags={})),
    ("accounts", "minimum_tls", lambda s: replace(s, minimum_tls="TLS1_0")),
    ("accounts", "https_only", lambda s: replace(s, https_only=False)),
    ("accounts", "public", lambda s: replace(s, public=False)),
    ("accounts", "shared_key", lambda s: replace(s, shared_key=True)),
    ("containers", "public", lambda s: replace(s, public="Container")),
    ("identities", "credentials", lambda s: replace(s, credentials=frozenset())),
    ("identities", "tags", lambda s: replace(s, tags={"Name": "x"})),
    ("custom_roles", "actions", lambda s: replace(s, actions=frozenset({"*"}))),
    ("custom_roles", "scopes", lambda s: replace(s, scopes=frozenset())),
    ("assignments", "grants", lambda s: replace(s, grants=frozenset())),
    (
        "assignments",
        "grants",
        lambda s: replace(s, grants=s.grants | {Grant(a_group("theirs"), ROLES["contributor"])}),
    ),
    ("assignments", "principal", lambda s: replace(s, principal="of somebody who is dead")),
    ("assignments", "mark", lambda s: replace(s, unmarked=s.grants)),
    ("documents", "body", lambda s: replace(s, body={"issuer": "https://another.example.org"})),
    ("documents", "content_type", lambda s: replace(s, content_type="text/html")),
    ("lent", "lent", lambda _s: LentRoleState(lent=True)),
]


@pytest.mark.parametrize(("where", "field", "spoil"), DRIFT)
def test_what_has_drifted_is_found_by_its_name_and_mended(
    where: str, field: str, spoil: Callable[[Any], Any]
) -> None:
    azure = Azure().made()
    store: Memory = getattr(azure, where)
    for name in store.things or {"demo/demo": None}:
        store.things[name] = spoil(store.things.get(name))

    outcome = azure.applied()

    assert outcome.whole
    assert {d.field for change in outcome.changes for d in change.differing} == {field}
    assert {change.verb for change in azure.applied().changes} == {"keep"}


def test_places_of_the_users_own_get_our_mark_and_nothing_else() -> None:
    azure = Azure(group="theirs", account="theirs", container="theirs")
    account = StorageAccountState(
        id=f"{a_group('theirs')}/providers/Microsoft.Storage/storageAccounts/theirs",
        region="westus",
        minimum_tls="TLS1_0",
        public=None,
        shared_key=None,
    )
    before = {
        "groups": ("theirs", ResourceGroupState(region="westus", tags={"team": "x"})),
        "accounts": ("theirs/theirs", account),
        "containers": ("theirs/theirs", ContainerState(public="Container", stranger="payroll.csv")),
    }
    for where, (name, state) in before.items():
        getattr(azure, where).things[name] = state

    assert azure.applied().whole

    for where, (name, state) in before.items():
        have = getattr(azure, where).things[name]
        assert have == state
        assert have.owner == Mark("demo", "brought")
    assert {change.verb for change in azure.applied().changes} == {"keep"}


def test_what_is_foreign_under_a_derived_name_stands_against_all_writing() -> None:
    azure = Azure()
    azure.containers.things["demo/demo"] = ContainerState(public="Blob")
    azure.groups.things["demo-oidc"] = ResourceGroupState(region="eastus")

    outcome = azure.applied()

    assert azure.wrote == []
    assert {address for address, e in outcome.failed.items() if isinstance(e, Conflict)} == {
        "azure/container/demo/demo",
        "azure/resource-group/demo-oidc",
    }


def test_another_issuers_document_in_a_container_of_the_users_own_is_left() -> None:
    azure = Azure(container="theirs")
    azure.containers.things["demo/theirs"] = ContainerState(public="Blob")
    azure.documents.things["demo/theirs/.well-known/openid-configuration"] = DocumentState(
        body={"issuer": "https://another.example.org"}
    )

    assert any(isinstance(e, Conflict) for e in azure.applied().failed.values())
    assert azure.wrote == []


@pytest.mark.parametrize("doomed", [False, True])
def test_what_is_ours_goes_from_last_made_to_first_and_the_group_only_if_that_was_asked_for(
    *, doomed: bool
) -> None:
    azure = Azure(delete_group=doomed).made()
    pace = a_pace()

    outcome = remove(holdings([plan.walk(azure.stores)], "demo", pace), pace)

    assert outcome.whole
    kinds = [address.split("/")[1] for verb, address in azure.wrote if verb == "drop"]
    order = [
        "role-assignments",
        "custom-role",
        "identity",
        "container",
        "storage-account",
        *(["resource-group"] if doomed else []),
    ]
    assert list(dict.fromkeys(kinds)) == order
    assert azure.groups.things.keys() == (set[str]() if doomed else {"demo", "demo-oidc"})
