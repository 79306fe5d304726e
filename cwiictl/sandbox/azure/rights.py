"""Who may do what, and where: role assignments, the definitions they name, and what was denied on top."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from .world import World

Permission = Mapping[str, Any]  # actions, notActions, dataActions, notDataActions


def may(world: World, principal: str, action: str, scope: str, deny: Collection[str]) -> bool:
    """Whether somebody may do this with data: owners may not."""
    return not denied(action, deny) and any(
        _allows(one, action, "dataActions", "notDataActions")
        for one in permissions(world, principal, scope)
    )


def may_manage(
    world: World, principal: str, action: str, scope: str, deny: Collection[str]
) -> bool:
    return not denied(action, deny) and any(
        _allows(one, action, "actions", "notActions")
        for one in permissions(world, principal, scope)
    )


def permissions(world: World, principal: str, scope: str) -> Iterator[Permission]:
    """Of each role that is in force at this scope: what one role takes away, another may give."""
    for one in world.seen(principal):
        if covers(one.scope, scope) and (role := world.roles.get(one.role)):
            yield from role.properties["permissions"]


def covers(above: str, scope: str) -> bool:
    """Whether it is this scope or one above it."""
    upper, lower = above.lower().rstrip("/"), scope.lower().rstrip("/")
    return lower == upper or lower.startswith(f"{upper}/")


def denied(action: str, deny: Collection[str]) -> bool:
    return _matches(action, deny)


def _allows(permission: Permission, action: str, given: str, taken: str) -> bool:
    return _matches(action, permission.get(given, ())) and not _matches(
        action, permission.get(taken, ())
    )


def _matches(action: str, patterns: Iterable[str]) -> bool:
    return any(_pattern(pattern.lower()).fullmatch(action.lower()) for pattern in patterns)


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(re.escape(pattern).replace("\\*", ".*").replace("\\?", "."), re.DOTALL)
