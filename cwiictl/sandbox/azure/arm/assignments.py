"""Role assignments: who has which role where. A name is one in the whole tenant, and so is the three together."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from cwiictl.sandbox.azure.answers import Refusal, empty, json_response
from cwiictl.sandbox.azure.rights import covers
from cwiictl.sandbox.azure.world import Assignment
from cwiictl.sandbox.exchange import Response

from . import filters, guids, principals
from .call import Call, Routes
from .pages import listed
from .state import State
from .times import stamp

KIND = "Microsoft.Authorization/roleAssignments"
_MOST = 4000  # in a subscription
_OPTIONAL = (
    "principalType",
    "description",
    "condition",
    "conditionVersion",
    "delegatedManagedIdentityResourceId",
)


class Assignments:
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
        wanted = self._read(call)
        found = self._named(wanted.id.rpartition("/")[2])
        if found is None:
            self._check_new(wanted)
        else:
            _check_same(found, wanted)
            wanted = dataclasses.replace(
                wanted,
                id=found.id,
                scope=found.scope,
                born=found.born,
                details=_renewed(found, wanted),
            )
        self._state.world.assignments[wanted.id.lower()] = wanted
        return json_response(200 if found else 201, shown(wanted))

    def get(self, call: Call) -> Response:
        return json_response(200, shown(self._found(call)))

    def delete(self, call: Call) -> Response:
        found = self._state.world.assignments.get(call.address.id.lower())
        if found is None:
            return empty(204)
        self._state.world.unassign(found)
        return json_response(200, shown(found))

    def list(self, call: Call) -> Response:
        """At the scope, above it and below it; with atScope() not below it."""
        asked = filters.asked(
            call, {"principalid", "assignedto()", "atscope()", "roledefinitionid"}
        )
        scope = call.address.parent
        self._state.check_scope(scope)
        rows = [
            shown(one)
            for one in sorted(self._state.world.seen(), key=lambda one: one.id.lower())
            if (covers(one.scope, scope) or ("atscope()" not in asked and covers(scope, one.scope)))
            and _fits(one, asked)
        ]
        return listed(call, rows)

    def _found(self, call: Call) -> Assignment:
        found = self._state.world.assignments.get(call.address.id.lower())
        if found is None:
            raise Refusal(
                404,
                "RoleAssignmentNotFound",
                f"The role assignment '{call.address.name}' is not found.",
            )
        return found

    def _named(self, name: str) -> Assignment | None:
        return next(
            (
                one
                for key, one in self._state.world.assignments.items()
                if key.endswith(f"/{name.lower()}")
            ),
            None,
        )

    def _read(self, call: Call) -> Assignment:
        name, scope, asked = call.address.name, call.address.parent, call.properties
        if not guids.valid(name):
            raise Refusal(
                400,
                "InvalidRoleAssignmentId",
                f"The role assignment ID '{name}' is not valid. The role assignment ID must be a GUID.",
            )
        self._state.check_scope(scope)
        principal = str(asked.get("principalId") or "").lower()
        if not guids.valid(principal):
            raise Refusal(
                400,
                "InvalidPrincipalId",
                "A valid principal ID must be provided for role assignment.",
            )
        role = self._role(str(asked.get("roleDefinitionId") or ""), scope)
        now = self._state.now()
        details = {key: asked.get(key) for key in _OPTIONAL} | {
            "principalType": principals.kind(
                self._state.world, principal, asked.get("principalType")
            )
        }
        times = {
            "createdOn": stamp(now),
            "updatedOn": stamp(now),
            "createdBy": call.caller.principal,
            "updatedBy": call.caller.principal,
        }
        return Assignment(
            f"{scope}/providers/{KIND}/{name}", scope, role, principal, now, {**details, **times}
        )

    def _role(self, asked: str, scope: str) -> str:
        """New definitions are not known everywhere, and custom ones only where they may be assigned."""
        guid = guids.role(asked)
        found = self._state.world.roles.get(guid)
        if (
            found is None
            or not self._state.world.old(found.born)
            or not any(covers(one, scope) for one in found.properties["assignableScopes"])
        ):
            raise Refusal(
                400,
                "RoleDefinitionDoesNotExist",
                f"The specified role definition with ID '{guid}' does not exist.",
            )
        return guid

    def _check_new(self, wanted: Assignment) -> None:
        subscription = "/".join(wanted.scope.lower().split("/")[:3])
        if (
            sum(covers(subscription, one.scope) for one in self._state.world.assignments.values())
            >= _MOST
        ):
            raise Refusal(
                400,
                "RoleAssignmentLimitExceeded",
                "The role assignment limit for the subscription has been reached. No more role assignments can be created.",
            )
        for one in self._state.world.assignments.values():
            if (one.scope.lower(), one.role, one.principal) == (
                wanted.scope.lower(),
                wanted.role,
                wanted.principal,
            ):
                name = one.id.rpartition("/")[2].replace("-", "")
                words = f"The role assignment already exists. The ID of the existing role assignment is {name}."
                raise Refusal(409, "RoleAssignmentExists", words)


def shown(one: Assignment) -> dict[str, Any]:
    role = f"{_definitions(one.scope)}/providers/Microsoft.Authorization/roleDefinitions/{one.role}"
    own = {
        "roleDefinitionId": role,
        "principalId": one.principal,
        "scope": one.scope or "/",
        **one.details,
    }
    return {"id": one.id, "name": one.id.rpartition("/")[2], "type": KIND, "properties": own}


def _definitions(scope: str) -> str:
    parts = scope.split("/")
    return "/".join(parts[:3]) if scope.lower().startswith("/subscriptions/") else ""


def _renewed(found: Assignment, wanted: Assignment) -> Mapping[str, Any]:
    return {
        **wanted.details,
        "createdOn": found.details["createdOn"],
        "createdBy": found.details["createdBy"],
    }


def _check_same(found: Assignment, wanted: Assignment) -> None:
    if (found.scope.lower(), found.role, found.principal) != (
        wanted.scope.lower(),
        wanted.role,
        wanted.principal,
    ):
        words = "Tenant ID, application ID, principal ID, and scope are not allowed to be updated."
        raise Refusal(400, "RoleAssignmentUpdateNotPermitted", words)


def _fits(one: Assignment, asked: Mapping[str, str]) -> bool:
    principal = asked.get("principalid") or asked.get("assignedto()")
    role = asked.get("roledefinitionid")
    return (not principal or one.principal == principal.lower()) and (
        not role or one.role == guids.role(role)
    )
