"""What Google Cloud is asked before a plan is carried out or a cluster taken down: whether who asks may do it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from cwiictl.clouds.gcp.permissions import WITHDRAW, WRITE, dropping, making
from cwiictl.clouds.gcp.permissions import Grant as Asked
from cwiictl.clouds.gcp.resources.bucket import Bucket
from cwiictl.clouds.gcp.resources.custom_role import CustomRole
from cwiictl.clouds.gcp.resources.policy import Policy
from cwiictl.clouds.gcp.resources.pool import Pool
from cwiictl.clouds.gcp.resources.provider import Provider
from cwiictl.clouds.gcp.resources.service_account import ServiceAccount
from cwiictl.clouds.gcp.stores import Stores
from cwiictl.clouds.permissions import Leave, Permissions
from cwiictl.engine.holdings import Thing
from cwiictl.engine.resource import Resource


def permitted(stores: Stores, things: Sequence[Resource[Any]]) -> Iterator[Permissions]:
    """Asked of each project, and of the cluster's at once. What is to be turned on, or is in a bucket of the user's own, is found by trying."""
    kinds = {
        "bucket": Bucket,
        "pool": Pool,
        "provider": Provider,
        "account": ServiceAccount,
        "role": CustomRole,
        "policy": Policy,
    }
    made = tuple(
        thing for thing in things if isinstance(thing, tuple(kinds.values())) and not thing.brought
    )
    written, powers = WRITE["policy"], tuple(thing for thing in made if isinstance(thing, Policy))
    here = tuple(
        thing for thing in made if not isinstance(thing, Policy) or thing.name == stores.account
    )
    if here:
        found = {
            kind: (stores.account,)
            for kind, of in kinds.items()
            if of in {type(thing) for thing in here}
        }
        yield Permissions(
            stores.caller,
            stores.permissions(tuple(making(found))),
            stores.caller,
            here,
            tuple(each for each in powers if each in here),
            written,
        )
    for policy in (each for each in powers if each not in here):
        who = f"{stores.caller} at {policy.name}"
        yield Permissions(
            who,
            stores.permissions(tuple(making({"policy": (policy.name,)}))),
            who,
            policy.members,
            (policy,),
            written,
        )


def leaving(stores: Stores, things: Sequence[Thing]) -> Leave:
    """Asked of each project. What is in a bucket of the user's own is found by trying."""
    kinds = {
        stores.buckets.kind: "bucket",
        stores.pools.kind: "pool",
        stores.providers.kind: "provider",
        stores.service_accounts.kind: "account",
        stores.custom_roles.kind: "role",
        stores.principals.kind: "policy",
        stores.policies.kind: "policy",
    }
    found = [(kinds[thing.store.kind], thing) for thing in things if thing.store.kind in kinds]
    beyond = any(
        thing.store.kind == stores.policies.kind and thing.name != stores.account
        for thing in things
    )
    places = (
        (
            kind,
            thing.name if thing.store.kind == stores.policies.kind else stores.account,
            thing.mark.hold == "owned",
        )
        for kind, thing in found
    )
    asked = (
        Asked(dropping(kind, owned=owned), place) for kind, place, owned in dict.fromkeys(places)
    )
    told = (Asked(WITHDRAW, stores.account),) if beyond else ()
    return Leave(
        stores.caller,
        stores.permissions((*told, *(each for each in asked if each.permissions))),
        stores.caller,
    )
