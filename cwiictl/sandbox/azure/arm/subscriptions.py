"""Subscriptions, the tenant that they are of, and the regions that they may use."""

from __future__ import annotations

from typing import Any

from cwiictl.sandbox.azure.answers import json_response
from cwiictl.sandbox.azure.rights import covers
from cwiictl.sandbox.azure.standing import SUBSCRIPTIONS
from cwiictl.sandbox.azure.world import TENANT
from cwiictl.sandbox.exchange import Response

from . import locations
from .call import Call, Routes
from .pages import listed
from .state import State


class Subscriptions:
    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def routes(self) -> Routes:
        return {
            ("GET", "subscriptions"): self.list,
            ("GET", "subscriptions/{}"): lambda call: json_response(
                200, _shown(call.address.subscription)
            ),
            ("GET", "subscriptions/{}/locations"): self.locations,
            ("GET", "tenants"): lambda call: listed(call, [_tenant()]),
        }

    def list(self, call: Call) -> Response:
        mine = [_shown(one) for one in SUBSCRIPTIONS if self.reaches(call.caller.principal, one)]
        return json_response(200, {"value": mine, "count": {"type": "Total", "value": len(mine)}})

    def locations(self, call: Call) -> Response:
        prefix = f"/subscriptions/{call.address.subscription}/locations/"
        rows = [
            {
                "id": prefix + name,
                "name": name,
                "type": "Region",
                "displayName": name,
                "regionalDisplayName": name,
                "metadata": {"regionType": "Physical"},
            }
            for name in locations.known(self._state.cloud)
        ]
        return json_response(200, {"value": rows})

    def reaches(self, principal: str, subscription: str) -> bool:
        """Who may do something in it, wherever, sees that it is there."""
        scope = f"/subscriptions/{subscription}"
        return any(
            covers(one.scope, scope) or covers(scope, one.scope)
            for one in self._state.world.seen(principal)
        )


def _shown(subscription: str) -> dict[str, Any]:
    return {
        "id": f"/subscriptions/{subscription}", "subscriptionId": subscription, "tenantId": TENANT, "displayName": SUBSCRIPTIONS[subscription],
        "state": "Enabled", "authorizationSource": "RoleBased", "managedByTenants": [],
        "subscriptionPolicies": {"locationPlacementId": "Public_2014-09-01", "quotaId": "PayAsYouGo_2014-09-01", "spendingLimit": "Off"},
    }  # fmt: skip


def _tenant() -> dict[str, Any]:
    return {
        "id": f"/tenants/{TENANT}", "tenantId": TENANT, "displayName": "Sandbox", "countryCode": "US", "tenantCategory": "Home", "tenantType": "AAD",
        "defaultDomain": "sandbox.onmicrosoft.com", "domains": ["sandbox.onmicrosoft.com"],
    }  # fmt: skip
