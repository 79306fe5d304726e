"""What the caller may do at a scope, role by role."""

from __future__ import annotations

from typing import Any

from cwiictl.sandbox.azure.answers import json_response
from cwiictl.sandbox.azure.rights import permissions
from cwiictl.sandbox.exchange import Response

from .call import Call, Routes
from .state import State


class Permissions:
    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def routes(self) -> Routes:
        return {("GET", "microsoft.authorization/permissions"): self.list}

    def list(self, call: Call) -> Response:
        """What is denied on top is taken away from each."""
        scope, denied = call.address.parent, sorted(self._state.faults.deny)
        self._state.check_scope(scope)
        rows: list[dict[str, Any]] = [
            {
                **one,
                "notActions": [*one.get("notActions", ()), *denied],
                "notDataActions": [*one.get("notDataActions", ()), *denied],
            }
            for one in permissions(self._state.world, call.caller.principal, scope)
        ]
        return json_response(200, {"value": rows})
