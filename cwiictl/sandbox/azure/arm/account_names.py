"""Names of storage accounts: labels of host names, so that no two in the world are the same."""

from __future__ import annotations

import re

from cwiictl.sandbox.azure.answers import Refusal, json_response
from cwiictl.sandbox.azure.world import Account
from cwiictl.sandbox.exchange import Response

from .address import Address
from .call import Call
from .state import State

KIND = "Microsoft.Storage/storageAccounts"
_NAME = re.compile(r"[a-z0-9]{3,24}")


class Names:
    def __init__(self, state: State) -> None:
        self._state = state

    def check(self, call: Call) -> Response:
        name = str(call.body.get("name") or "")
        if call.body.get("type") != KIND:
            raise Refusal(
                400,
                "InvalidValuesForRequestParameters",
                "Values for request parameters are invalid: type.",
            )
        try:
            self.check_new(name)
        except Refusal as refusal:
            reason = (
                "AccountNameInvalid" if refusal.code == "AccountNameInvalid" else "AlreadyExists"
            )
            return json_response(
                200, {"nameAvailable": False, "reason": reason, "message": refusal.message}
            )
        return json_response(200, {"nameAvailable": True})

    def check_new(self, name: str) -> None:
        if not _NAME.fullmatch(name):
            words = (
                f"{name} is not a valid storage account name. Storage account name must be between 3 and 24 characters in length and use numbers and lower-case"
                " letters only."
            )
            raise Refusal(400, "AccountNameInvalid", words)
        if name in self._state.strangers or name in self._state.world.accounts:
            raise Refusal(
                409,
                "StorageAccountAlreadyTaken",
                f"The storage account named {name} is already taken.",
            )

    def taken(self, where: Address) -> Account | None:
        """The account that is meant, if it is there; one of that name elsewhere in the subscription is told apart from a stranger's."""
        found = self._state.world.accounts.get(where.name)
        if found is None or found.id.lower() == where.id.lower():
            return found
        if found.id.lower().startswith(f"/subscriptions/{where.subscription}/"):
            words = f"The account {found.name} is already in another resource group in this subscription."
            raise Refusal(409, "StorageAccountInAnotherResourceGroup", words)
        return None
