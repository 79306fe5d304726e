"""What Azure is asked before a plan is carried out or a cluster taken down: whether who asks may do it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.permissions import Grant as Asked
from cwiictl.clouds.azure.permissions import dropping, making
from cwiictl.clouds.azure.resources.custom_role import CustomRole
from cwiictl.clouds.azure.resources.identity import Identity
from cwiictl.clouds.azure.resources.resource_group import ResourceGroup
from cwiictl.clouds.azure.resources.role_assignments import RoleAssignments
from cwiictl.clouds.azure.resources.storage_account import Container, StorageAccount
from cwiictl.clouds.azure.stores import Stores
from cwiictl.clouds.permissions import Leave, Permissions
from cwiictl.engine.holdings import Thing
from cwiictl.engine.resource import Resource


def permitted(stores: Stores, things: Sequence[Resource[Any]]) -> Iterator[Permissions]:
    """Asked where each kind is made. Who was given a resource group and nothing around it need not be allowed to make one."""
    whole = ids.subscription(stores.account)
    groups = tuple(thing for thing in things if isinstance(thing, ResourceGroup))
    if groups:
        yield Permissions(
            f"{stores.caller} at {whole}",
            stores.permissions(tuple(making({"group": (whole,)}))),
            stores.caller,
            groups,
        )
    kinds = {
        "account": StorageAccount,
        "container": Container,
        "identity": Identity,
        "role": CustomRole,
        "assignment": RoleAssignments,
    }
    scopes = {
        kind: tuple(sorted({_place(thing, whole) for thing in things if isinstance(thing, of)}))
        for kind, of in kinds.items()
    }
    made = tuple(thing for thing in things if isinstance(thing, tuple(kinds.values())))
    if made:
        yield Permissions(
            stores.caller, stores.permissions(tuple(making(scopes))), stores.caller, made
        )


def _place(thing: Resource[Any], whole: str) -> str:
    if isinstance(thing, RoleAssignments):
        scopes = sorted({grant.scope for grant in thing.grants} | thing.own_scopes)
        return scopes[0] if scopes else whole
    group = (
        thing.account.group
        if isinstance(thing, Container)
        else thing.group
        if isinstance(thing, StorageAccount | Identity)
        else None
    )
    return f"{whole}/resourcegroups/{group.name}" if group else whole


def leaving(stores: Stores, things: Sequence[Thing]) -> Leave:
    """Asked where each thing is."""
    kinds = {
        stores.groups.kind: "group",
        stores.accounts.kind: "account",
        stores.containers.kind: "container",
        stores.identities.kind: "identity",
        stores.custom_roles.kind: "role",
        stores.assignments.kind: "assignment",
    }
    found = [(kinds[thing.store.kind], thing) for thing in things if thing.store.kind in kinds]
    homes = {
        name: group
        for kind, thing in found
        if kind == "account"
        for group, _, name in [thing.name.partition("/")]
    }
    asked = [
        Asked(
            dropping(kind, owned=thing.mark.hold == "owned"),
            _where(stores, kind, thing.name, homes),
        )
        for kind, thing in found
        if kind != "assignment"
    ]
    given = next(
        (thing for kind, thing in found if kind == "assignment"), None
    )  # one speaks for all: each is a call
    if given:
        state = stores.assignments.get([given.name]).get(given.name)
        scopes = sorted(grant.scope for grant in state.grants) if state else []
        asked += [
            Asked(dropping("assignment", owned=given.mark.hold == "owned"), scope)
            for scope in scopes[:1]
        ]
    return Leave(stores.caller, stores.permissions(tuple(dict.fromkeys(asked))), stores.caller)


def _where(stores: Stores, kind: str, name: str, homes: Mapping[str, str]) -> str:
    """The scope to ask about one: its group."""
    whole = ids.subscription(stores.account)
    first = name.partition("/")[0]
    group = "" if kind == "role" else homes.get(first, "") if kind == "container" else first
    return f"{whole}/resourcegroups/{group}" if group else whole
