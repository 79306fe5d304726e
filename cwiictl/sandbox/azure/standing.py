"""What is there before anybody did anything: Azure's own roles, who is in the directory, and that the operator owns both subscriptions."""

from __future__ import annotations

import uuid

from .roles import OWNER, built_in
from .world import LONG_AGO, OPERATOR, PERSON, SECOND, SUBSCRIPTION, Assignment, Principal, World

SUBSCRIPTIONS = {SUBSCRIPTION: "Sandbox", SECOND: "Sandbox, second"}
_MADE = "2020-01-01T00:00:00.0000000Z"


def settle(world: World) -> None:
    with world.lock:
        world.clear()
        world.roles.update(built_in())
        world.principals[OPERATOR] = Principal(OPERATOR, "ServicePrincipal", LONG_AGO)
        world.principals[PERSON] = Principal(PERSON, "User", LONG_AGO)
        for subscription in SUBSCRIPTIONS:
            one = _owner(f"/subscriptions/{subscription}")
            world.assignments[one.id.lower()] = one


def _owner(scope: str) -> Assignment:
    name = uuid.uuid5(uuid.NAMESPACE_URL, scope)
    details = {
        "principalType": "ServicePrincipal",
        "createdOn": _MADE,
        "updatedOn": _MADE,
        "createdBy": None,
        "updatedBy": None,
    }
    return Assignment(
        f"{scope}/providers/Microsoft.Authorization/roleAssignments/{name}",
        scope,
        OWNER,
        OPERATOR,
        LONG_AGO,
        details,
    )
