"""Google's own roles, for everybody to look at."""

from __future__ import annotations

from typing import Any

from cwiictl.sandbox.exchange import Response
from cwiictl.sandbox.gcp.answers import json_response, not_found
from cwiictl.sandbox.gcp.call import Call, Route, Routes
from cwiictl.sandbox.gcp.pages import listed
from cwiictl.sandbox.gcp.roles import PREDEFINED

from .state import State


class PredefinedRoles:
    def __init__(self, state: State) -> None:
        del state  # they are the same in every world

    @property
    def routes(self) -> Routes:
        return {
            ("GET", "roles"): Route("iam.roles.list", self.list, writes=False, everybody=True),
            ("GET", "roles/{}"): Route("iam.roles.get", self.get, writes=False, everybody=True),
        }

    def list(self, call: Call) -> Response:
        full = call.asked.get("view") == "FULL"
        return listed(
            call, "roles", [_shown(name, full=full) for name in sorted(PREDEFINED)], 300, 1000
        )

    def get(self, call: Call) -> Response:
        if call.address.resource not in PREDEFINED:
            raise not_found(f"The role named {call.address.resource} was not found.")
        return json_response(_shown(call.address.resource, full=True))


def _shown(name: str, *, full: bool) -> dict[str, Any]:
    found = PREDEFINED[name]
    permissions = {"includedPermissions": list(found.permissions)} if full else {}
    return {
        "name": name,
        "title": found.title,
        "description": found.title,
        "stage": "GA",
        "etag": "AA==",
        **permissions,
    }
