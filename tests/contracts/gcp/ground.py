"""What the contracts of Google Cloud's stores are tried with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from cwiictl import oidc
from cwiictl.clouds.gcp import ids
from cwiictl.clouds.gcp.resources.bucket import READABLE, BucketState
from cwiictl.clouds.gcp.resources.custom_role import CustomRoleState
from cwiictl.clouds.gcp.resources.grant import Condition
from cwiictl.clouds.gcp.resources.policy import PolicyState, after
from cwiictl.clouds.gcp.resources.pool import PoolState
from cwiictl.clouds.gcp.resources.provider import ProviderState
from cwiictl.clouds.gcp.resources.service_account import ServiceAccountState
from cwiictl.clouds.gcp.spec import Spec
from cwiictl.clouds.gcp.stores import Stores
from cwiictl.clouds.gcp.stores.session import connect
from cwiictl.engine.resource import Mark, State
from cwiictl.issuer.documents import Keys, KeySetState
from cwiictl.model import Cluster
from cwiictl.sandbox.gcp.world import NUMBER, PROJECT
from tests.contracts.store import Specimen, StoreContract

CLUSTER = "a-cluster"
BUCKET = f"{CLUSTER}-oidc"
JWKS = f"{BUCKET}/keys.json"
DISCOVERY = f"{BUCKET}/.well-known/openid-configuration"
PROVIDER = f"{CLUSTER}/{CLUSTER}"
ACCOUNT = "a-cluster-account-1"
EMAIL = ids.email(ACCOUNT, PROJECT)
MEMBER = ids.account_member(EMAIL)
VIEWER = "roles/viewer"
WHEN = Condition("soon", 'request.time < timestamp("2100-01-01T00:00:00Z")', "for a while")


def connected(**told: Any) -> Iterator[Stores]:
    made = connect(Spec(project=PROJECT, **told), Cluster(CLUSTER), 4)
    try:
        yield made
    finally:
        made.close()


def principals(*accounts: str, pool: str = CLUSTER) -> frozenset[str]:
    return ids.principals(
        NUMBER, pool, [f"system:serviceaccount:ns:{account}" for account in accounts]
    )


def a_bucket(**changes: Any) -> BucketState:
    told: dict[str, Any] = {
        "location": "us",
        "project": NUMBER,
        "access": READABLE,
        "labels": {"Name": CLUSTER},
    }
    return BucketState(**{**told, **changes})


def an_account(name: str = ACCOUNT, **changes: Any) -> ServiceAccountState:
    told: dict[str, Any] = {
        "email": ids.email(name, PROJECT),
        "title": "An account",
        "description": "Somebody.",
        "principals": principals("one"),
    }
    return ServiceAccountState(**{**told, **changes})


def a_provider(**changes: Any) -> ProviderState:
    told: dict[str, Any] = {
        "title": CLUSTER,
        "description": "Issuer.",
        "issuer": "https://issuer.example.org",
        "audiences": frozenset({"openshift"}),
    }
    return ProviderState(**{**told, **changes})


@cache
def key(number: int) -> oidc.VerificationKey:
    del number  # each its own
    public = rsa.generate_private_key(65537, 2048).public_key()
    return oidc.public_key(
        public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), "a key"
    )


def a_key_set(number: int, mode: Keys = "replace") -> KeySetState:
    return KeySetState(kids=frozenset({key(number).kid}), mode=mode, keys=(key(number),))


@dataclass
class Buried(Specimen):
    """Of what is only marked as deleted, nothing is left for who does not ask for that."""

    def get(self) -> Any:
        found = super().get()
        return None if found is None or found.deleted else found

    def put(self, want: State, mark: Mark | None) -> Any:
        def write() -> Any:
            return self.store.put(
                self.name, replace(want, owner=mark), self.store.get([self.name]).get(self.name)
            )

        return self.patiently(write)


def policy_of(stores: Stores) -> Any:
    return place(stores).get_iam_policy(requested_policy_version=3)


def granted(stores: Stores, *bindings: Any) -> None:
    policy = policy_of(stores)
    policy.bindings = [*policy.bindings, *bindings]
    place(stores).set_iam_policy(policy)


def place(stores: Stores) -> Any:
    inside: Any = stores.buckets
    return inside.store.storage.bucket(BUCKET)


class WithBucket(StoreContract):
    @pytest.fixture(autouse=True)
    def bucket(self, stores: Stores) -> None:
        stores.buckets.put(BUCKET, a_bucket(owner=Mark(CLUSTER)), None)


def put_pool(stores: Stores, mark: Mark | None, name: str = CLUSTER) -> None:
    state = PoolState(title=name, description="A cluster.")
    Buried(stores.pools, name, state, state).put(state, mark)


def put_provider(stores: Stores, name: str, mark: Mark | None, **changes: Any) -> None:
    state = a_provider(**changes)
    Buried(stores.providers, f"{CLUSTER}/{name}", state, state).put(state, mark)


class WithPool(StoreContract):
    @pytest.fixture(autouse=True)
    def pool(self, stores: Stores) -> None:
        put_pool(stores, Mark(CLUSTER, "adopted"))


def a_role(**changes: Any) -> CustomRoleState:
    told: dict[str, Any] = {
        "title": "A role",
        "description": "May look.",
        "permissions": frozenset({"storage.buckets.get"}),
    }
    return CustomRoleState(**{**told, **changes})


def right(want: PolicyState, have: PolicyState) -> bool:
    return after(want, have.grants) == have.grants
