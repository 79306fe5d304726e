"""The services of a storage account: blobs, with what is set for all of them; the others only say that they are there."""

from __future__ import annotations

from typing import Any

from cwiictl.sandbox.azure.answers import Refusal, json_response
from cwiictl.sandbox.azure.world import Account
from cwiictl.sandbox.exchange import Response

from .account_names import KIND
from .call import Call, Routes
from .pages import listed
from .state import State

_OTHERS = ("fileServices", "queueServices", "tableServices")
_OFF: dict[str, Any] = {
    "cors": {"corsRules": []},
    "deleteRetentionPolicy": {"allowPermanentDelete": False, "enabled": False},
}


class Services:
    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def routes(self) -> Routes:
        account = f"{KIND.lower()}/{{}}"
        others = {("GET", f"{account}/{name.lower()}/{{}}"): self._other(name) for name in _OTHERS}
        return {
            ("GET", f"{account}/blobservices/{{}}"): self.get, ("PUT", f"{account}/blobservices/{{}}"): self.put,
            ("GET", f"{account}/blobservices"): lambda call: listed(call, [_shown(self._state.account(call.address))]),
            ("GET", f"{account}/managementpolicies/{{}}"): self.policy,
            ("GET", f"{account}/privateendpointconnections"): lambda call: listed(call, []),
            **others,
        }  # fmt: skip

    def get(self, call: Call) -> Response:
        return json_response(200, _shown(self._found(call)))

    def put(self, call: Call) -> Response:
        found = self._found(call)
        self._state.writable(call.address)
        found.service = {
            **found.service,
            **{name: value for name, value in call.properties.items() if value is not None},
        }
        return json_response(200, _shown(found))

    def policy(self, call: Call) -> Response:
        self._state.account(call.address)
        raise Refusal(
            404,
            "ManagementPolicyNotFound",
            f"No ManagementPolicy found for account {call.address.names[0]}",
        )

    def _found(self, call: Call) -> Account:
        if call.address.names[1] != "default":
            raise Refusal(
                400, "InvalidResourceName", "The name of the blob service must be 'default'."
            )
        return self._state.account(call.address)

    def _other(self, name: str) -> Any:
        def get(call: Call) -> Response:
            found = self._state.account(call.address)
            own = {"id": f"{found.id}/{name}/default", "name": "default", "type": f"{KIND}/{name}"}
            return json_response(200, {**own, "properties": {"cors": {"corsRules": []}}})

        return get


def _shown(account: Account) -> dict[str, Any]:
    sku = {"name": account.sku, "tier": account.sku.partition("_")[0]}
    own = {
        "id": f"{account.id}/blobServices/default",
        "name": "default",
        "type": f"{KIND}/blobServices",
        "sku": sku,
    }
    return {**own, "properties": {**_OFF, **account.service}}
