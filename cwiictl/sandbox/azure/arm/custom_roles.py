"""What a role of the tenant's own must say to be one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from cwiictl.sandbox.azure.answers import Refusal

_LISTS = ("actions", "notActions", "dataActions", "notDataActions")


def read(asked: Mapping[str, Any]) -> dict[str, Any]:
    name, scopes = asked.get("roleName"), asked.get("assignableScopes")
    if not isinstance(name, str) or not name.strip() or len(name) > 512:
        raise Refusal(
            400,
            "InvalidRoleDefinitionName",
            "The role definition name must have 1 to 512 characters.",
        )
    if not isinstance(scopes, list) or not scopes:
        raise Refusal(
            400,
            "RoleDefinitionMissingAssignableScopes",
            "The assignable scopes of a role definition must not be empty.",
        )
    permissions = [
        _permission(one) for one in cast("list[dict[str, Any]]", asked.get("permissions") or [])
    ]
    if not any(one["actions"] or one["dataActions"] for one in permissions):
        raise Refusal(
            400,
            "RoleDefinitionMissingPermissions",
            "A role definition must have at least one action or data action.",
        )
    described = {
        "roleName": name,
        "type": "CustomRole",
        "description": asked.get("description") or "",
    }
    return {
        **described,
        "assignableScopes": [str(one) for one in cast("list[object]", scopes)],
        "permissions": permissions,
    }


def _permission(found: Mapping[str, Any]) -> dict[str, list[str]]:
    lists = {
        name: [str(one) for one in cast("list[object]", found.get(name) or [])] for name in _LISTS
    }
    for action in (one for name in _LISTS for one in lists[name]):
        if action != "*" and "/" not in action:
            raise Refusal(
                400,
                "InvalidActionOrNotAction",
                f"'{action}' does not match any of the actions supported by the providers.",
            )
    return lists
