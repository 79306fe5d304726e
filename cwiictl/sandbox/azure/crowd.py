"""Others who use the same subscription: identities, each with a role, as many as there are in a large one."""

from __future__ import annotations

import uuid

from .arm.identities import KIND
from .arm.times import stamp
from .world import SUBSCRIPTION, TENANT, Assignment, Group, Identity, Principal, World

GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/strangers"
_READER = "acdd72a7-3385-48ef-bd42-f606fba81ae7"
_BORN = 1.0


def settle(world: World, count: int, location: str) -> None:
    """More each time."""
    with world.lock:
        world.groups.setdefault(GROUP.lower(), Group(GROUP, "strangers", location, _BORN))
        first = sum(one.name.startswith("stranger-") for one in world.identities.values())
        for number in range(first, first + count):
            _add(world, f"stranger-{number:05}", location)


def _add(world: World, name: str, location: str) -> None:
    one = Identity(
        f"{GROUP}/providers/{KIND}/{name}",
        name,
        str(uuid.uuid4()),
        str(uuid.uuid4()),
        TENANT,
        _BORN,
        location=location,
    )
    world.identities[one.id.lower()] = one
    world.principals[one.principal] = Principal(one.principal, "ServicePrincipal", _BORN)
    times = {
        "createdOn": stamp(_BORN),
        "updatedOn": stamp(_BORN),
        "createdBy": None,
        "updatedBy": None,
    }
    path = f"{GROUP}/providers/Microsoft.Authorization/roleAssignments/{uuid.uuid4()}"
    world.assignments[path.lower()] = Assignment(
        path, GROUP, _READER, one.principal, _BORN, {"principalType": "ServicePrincipal", **times}
    )
