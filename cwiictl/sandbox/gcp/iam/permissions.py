"""Which permissions there are for a thing, and which of them a custom role may have."""

from __future__ import annotations

from typing import Any

from cwiictl.sandbox.exchange import Response
from cwiictl.sandbox.gcp import catalogue
from cwiictl.sandbox.gcp.call import Call, Route, Routes
from cwiictl.sandbox.gcp.pages import listed

from .state import State


class Permissions:
    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def routes(self) -> Routes:
        return {
            ("POST", "permissions:queryTestablePermissions"): Route(
                "iam.permissions.queryTestable", self.query, writes=False, everybody=True
            )
        }

    def query(self, call: Call) -> Response:
        return listed(
            call, "permissions", [_shown(one) for one in catalogue.expanded(("*",))[1:]], 100, 1000
        )


def _shown(name: str) -> dict[str, Any]:
    unfit = {} if catalogue.customisable(name) else {"customRolesSupportLevel": "NOT_SUPPORTED"}
    return {"name": name, "stage": "GA", **unfit}
