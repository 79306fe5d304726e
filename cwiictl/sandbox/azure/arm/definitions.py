"""Role definitions: Azure's own, and those of the tenant, each with a name that no other has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cwiictl.sandbox.azure.answers import Refusal, empty, json_response
from cwiictl.sandbox.azure.rights import covers, may_manage
from cwiictl.sandbox.azure.world import Role
from cwiictl.sandbox.exchange import Response

from . import custom_roles, filters, guids
from .call import Call, Routes
from .pages import listed
from .state import State
from .times import stamp

KIND = "Microsoft.Authorization/roleDefinitions"


class Definitions:
    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def routes(self) -> Routes:
        every = KIND.lower()
        item = f"{every}/{{}}"
        return {
            ("PUT", item): self.put,
            ("GET", item): self.get,
            ("DELETE", item): self.delete,
            ("GET", every): self.list,
        }

    def put(self, call: Call) -> Response:
        name, asked = call.address.name.lower(), call.properties
        if not guids.valid(name):
            raise Refusal(
                400,
                "InvalidRoleDefinitionId",
                f"The role definition ID '{name}' is not valid. The role definition ID must be a GUID.",
            )
        self._state.check_scope(call.address.parent)
        found = self._state.world.roles.get(name)
        _check_own(found)
        wanted = {**custom_roles.read(asked), **self._written(call, found)}
        self._check_name(name, wanted["roleName"])
        self._check_scopes(call, wanted["assignableScopes"])
        made = Role(name, wanted, found.born if found else self._state.now())
        self._state.world.roles[name] = made
        return json_response(201, shown(made, call.address.parent))

    def get(self, call: Call) -> Response:
        found = self._state.world.roles.get(call.address.name.lower())
        if found is None:
            raise Refusal(
                404,
                "RoleDefinitionDoesNotExist",
                f"The specified role definition with ID '{call.address.name}' does not exist.",
            )
        return json_response(200, shown(found, call.address.parent))

    def delete(self, call: Call) -> Response:
        found = self._state.world.roles.get(call.address.name.lower())
        if found is None:
            return empty(204)
        _check_own(found)
        if any(
            one.role == found.guid
            for one in (*self._state.world.assignments.values(), *self._state.world.ghosts)
        ):
            words = f"There are existing role assignments referencing role '{found.guid}'."
            raise Refusal(400, "RoleDefinitionHasAssignments", words)
        del self._state.world.roles[found.guid]
        return json_response(200, shown(found, call.address.parent))

    def list(self, call: Call) -> Response:
        asked = filters.asked(call, {"rolename", "type", "atscope()", "atscopeandbelow()"})
        scope, world = call.address.parent, self._state.world
        below = "atscopeandbelow()" in asked
        rows = [
            shown(one, scope)
            for _, one in sorted(world.roles.items())
            if world.old(one.born)
            and any(
                covers(at, scope) or (below and covers(scope, at))
                for at in one.properties["assignableScopes"]
            )
            and _fits(one, asked)
        ]
        return listed(call, rows)

    def _written(self, call: Call, found: Role | None) -> dict[str, Any]:
        now, who = stamp(self._state.now()), call.caller.principal
        first = (
            {key: found.properties[key] for key in ("createdOn", "createdBy")}
            if found
            else {"createdOn": now, "createdBy": who}
        )
        return {**first, "updatedOn": now, "updatedBy": who}

    def _check_name(self, guid: str, name: str) -> None:
        for one in self._state.world.roles.values():
            if one.guid != guid and one.properties["roleName"].lower() == name.lower():
                raise Refusal(
                    409,
                    "RoleDefinitionWithSameNameExists",
                    "A custom role with the same name already exists in this directory. Use a different name.",
                )

    def _check_scopes(self, call: Call, scopes: list[str]) -> None:
        """Where a role may be assigned, its writer must be allowed to write it too."""
        action, caller = f"{KIND}/write", call.caller
        wrong = [
            one
            for one in scopes
            if not may_manage(
                self._state.world, caller.principal, action, one, self._state.faults.deny
            )
        ]
        if wrong:
            words = (
                f"The client '{caller.client}' with object id '{caller.principal}' has permission to perform action '{action}' on scope '{call.address.id}';"
                f" however, it does not have permission to perform action(s) '{action}' on the linked scope(s) '{','.join(wrong)}' (respectively) or the linked"
                " scope(s) are invalid."
            )
            raise Refusal(403, "LinkedAuthorizationFailed", words)


def shown(one: Role, scope: str) -> dict[str, Any]:
    """Its id begins with the subscription that one asks in, whatever is below."""
    parts = scope.split("/")
    prefix = "/".join(parts[:3]) if scope.lower().startswith("/subscriptions/") else ""
    return {
        "id": f"{prefix}/providers/{KIND}/{one.guid}",
        "name": one.guid,
        "type": KIND,
        "properties": one.properties,
    }


def _check_own(found: Role | None) -> None:
    if found is not None and found.properties["type"] != "CustomRole":
        raise Refusal(
            400,
            "RoleDefinitionUpdateNotPermitted",
            f"The role definition '{found.guid}' is built in and cannot be changed.",
        )


def _fits(one: Role, asked: Mapping[str, str]) -> bool:
    own = one.properties
    name, kind = asked.get("rolename"), asked.get("type")
    return (name is None or own["roleName"].lower() == name.lower()) and (
        kind is None or own["type"].lower() == kind.lower()
    )
