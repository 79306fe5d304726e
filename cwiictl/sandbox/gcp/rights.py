"""Who may do what, and where: the project's policy, the thing's own, the roles they name, and what was denied on top."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from . import catalogue, conditions, policies
from .roles import PREDEFINED
from .tokens import Caller
from .world import Binding, Policy, Project, World

_SHARES = {
    "projectOwner": "roles/owner",
    "projectEditor": "roles/editor",
    "projectViewer": "roles/viewer",
}


def may(
    world: World, caller: Caller, permission: str, resource: str, deny: Collection[str] = ()
) -> bool:
    """`resource` is `projects/ID`, `projects/ID/serviceAccounts/EMAIL`, `projects/_/buckets/NAME` and what is in it; a project by id or number."""
    if denied(permission, deny):
        return False
    with world.lock:
        return any(
            _means(world, one, caller)
            and _gives(world, one.role, permission)
            and conditions.holds(one.condition, resource, world.clock())
            for policy in _above(world, resource)
            for one in policies.effective(world, policy)
        )


def denied(permission: str, deny: Collection[str]) -> bool:
    return catalogue.matches(permission, deny)


def _above(world: World, resource: str) -> Iterator[Policy]:
    """The policies that a thing is under: its own, and its project's."""
    parts = resource.strip("/").split("/")
    where = world.project(parts[1]) if len(parts) > 1 and parts[0] == "projects" else None
    if parts[2:3] == ["buckets"] and len(parts) > 3 and (bucket := world.buckets.get(parts[3])):
        yield bucket.policy
        where = world.project(bucket.project)
    if (
        parts[2:3] == ["serviceAccounts"]
        and len(parts) > 3
        and (account := world.account(parts[3]))
    ):
        yield account.policy
        where = world.project(account.project)
    if where is not None and where.state == "ACTIVE":
        yield where.policy


def _means(world: World, one: Binding, caller: Caller) -> bool:
    if one.members & caller.names:
        return True
    shares = (member.partition(":") for member in one.members if member.startswith("project"))
    return any(
        _shares(world, world.project(name), _SHARES.get(kind, ""), caller)
        for kind, _, name in shares
    )


def _shares(world: World, where: Project | None, role: str, caller: Caller) -> bool:
    """Whether the caller is one of a project's owners, editors or viewers."""
    acting = policies.effective(world, where.policy) if where else ()
    return any(
        one.role == role and not one.condition and one.members & caller.names for one in acting
    )


def _gives(world: World, role: str, permission: str) -> bool:
    if role in PREDEFINED:
        return PREDEFINED[role].allows(permission)
    project, _, name = role.removeprefix("projects/").partition("/roles/")
    found = world.roles.get((project, name))
    return (
        found is not None
        and found.deleted is None
        and found.stage != "DISABLED"
        and catalogue.matches(permission, found.permissions)
    )
