"""What AWS is asked before a plan is carried out or a cluster taken down: whether who asks may do it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from cwiictl.clouds.aws.permissions import Grant, dropping, making
from cwiictl.clouds.aws.resources.bucket import Bucket
from cwiictl.clouds.aws.resources.distribution import Distribution
from cwiictl.clouds.aws.resources.document import JWKS
from cwiictl.clouds.aws.resources.instance_profile import InstanceProfile, MachineRole
from cwiictl.clouds.aws.resources.managed_policy import ManagedPolicy
from cwiictl.clouds.aws.resources.named_policy import NamedPolicy
from cwiictl.clouds.aws.resources.oidc_provider import OidcProvider
from cwiictl.clouds.aws.resources.role import Role
from cwiictl.clouds.aws.stores import Stores
from cwiictl.clouds.permissions import Leave, Permissions
from cwiictl.engine.holdings import Thing
from cwiictl.engine.resource import Resource
from cwiictl.issuer.documents import KeySet


def permitted(
    stores: Stores, things: Sequence[Resource[Any]]
) -> Iterator[Permissions | NamedPolicy]:
    """Asked for one thing of each kind: IAM judges by name, and ours are named alike. Which roles one may pass is often said of each."""
    iam, s3 = (
        f"arn:{stores.partition.name}:iam::{stores.account}:",
        f"arn:{stores.partition.name}:s3:::",
    )
    arns = {
        "bucket": [
            f"{s3}{thing.name}"
            for thing in things
            if isinstance(thing, Bucket) and not thing.brought
        ],
        "object": [f"{s3}{thing.name}" for thing in things if isinstance(thing, KeySet)],
        "provider": [
            f"{iam}oidc-provider/{thing.name}"
            for thing in things
            if isinstance(thing, OidcProvider)
        ],
        "role": [
            thing.account.arn(thing.name)
            for thing in things
            if isinstance(thing, Role | MachineRole)
        ],
        "profile": [thing.arn for thing in things if isinstance(thing, InstanceProfile)],
        "policy": [thing.arn for thing in things if isinstance(thing, ManagedPolicy)],
        "front": ["*" for thing in things if isinstance(thing, Distribution)],
    }
    passed = tuple(thing.role.arn for thing in things if isinstance(thing, InstanceProfile))
    asked = tuple(making({**{kind: tuple(of[:1]) for kind, of in arns.items()}, "passed": passed}))
    kinds = (Bucket, OidcProvider, Role, MachineRole, InstanceProfile, ManagedPolicy, Distribution)
    yield Permissions(
        stores.caller,
        stores.permissions(asked),
        stores.caller,
        tuple(thing for thing in things if isinstance(thing, kinds)),
    )
    named = {
        arn
        for thing in things
        if isinstance(thing, Role | MachineRole)
        for arn in (*thing.managed, thing.account.boundary)
        if arn
    }
    yield from (NamedPolicy(arn, stores.named_policies) for arn in sorted(named))


def leaving(stores: Stores, things: Sequence[Thing]) -> Leave:
    """Asked for one thing of each kind, as when they are made."""
    first = {
        (thing.store.kind, thing.mark.hold == "owned"): thing.name for thing in reversed(things)
    }
    asked = [
        grant
        for (kind, owned), name in first.items()
        for grant in _dropping(stores, kind, name, owned=owned)
    ]
    return Leave(stores.caller, stores.permissions(tuple(asked)), stores.caller)


FRONT = {
    "aws/distribution": "Distribution",
    "aws/origin-access": "AccessControl",
    "aws/origin-identity": "AccessIdentity",
}  # and how its actions are called


def _dropping(stores: Stores, kind: str, name: str, *, owned: bool) -> Iterator[Grant]:
    iam, s3 = (
        f"arn:{stores.partition.name}:iam::{stores.account}:",
        f"arn:{stores.partition.name}:s3:::",
    )
    if kind == stores.buckets.kind:
        yield Grant(dropping("bucket", owned=owned), (f"{s3}{name}",))
        yield Grant(dropping("object", owned=owned), (f"{s3}{name}/{JWKS}",))
    elif kind in {stores.documents.kind, stores.key_sets.kind}:
        yield Grant(dropping("object", owned=True), (f"{s3}{name}",))
    elif kind == stores.providers.kind:
        yield Grant(dropping("provider", owned=owned), (f"{iam}oidc-provider/{name}",))
    elif kind == stores.policies.kind:
        yield Grant(dropping("policy", owned=owned), (f"{iam}policy/{name}",))
    elif kind == stores.roles.kind and (role := stores.roles.get([name]).get(name)):
        yield Grant(dropping("role", owned=owned), (role.arn,))
    elif kind == stores.instance_profiles.kind:
        yield Grant(dropping("profile", owned=owned), (f"{iam}instance-profile/{name}",))
    elif kind in FRONT:
        yield Grant(
            tuple(action for action in dropping("front", owned=owned) if FRONT[kind] in action),
            ("*",),
        )
