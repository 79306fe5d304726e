"""The two keys of a storage account: who has one, may do anything with its data."""

from __future__ import annotations

import base64
import secrets

from cwiictl.sandbox.azure.answers import Refusal, json_response
from cwiictl.sandbox.azure.world import Account
from cwiictl.sandbox.exchange import Response

from .account_names import KIND
from .call import Call, Routes
from .state import State
from .times import stamp


class Keys:
    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def routes(self) -> Routes:
        return {
            ("POST", f"{KIND.lower()}/{{}}/listkeys"): self.list,
            ("POST", f"{KIND.lower()}/{{}}/regeneratekey"): self.regenerate,
        }

    def list(self, call: Call) -> Response:
        return _shown(self._state.account(call.address))

    def regenerate(self, call: Call) -> Response:
        found = self._state.account(call.address)
        name = str(call.body.get("keyName", ""))
        if name not in {"key1", "key2"}:
            raise Refusal(
                400,
                "InvalidValuesForRequestParameters",
                "Values for request parameters are invalid: keyName.",
            )
        found.keys = (new(), found.keys[1]) if name == "key1" else (found.keys[0], new())
        return _shown(found)


def new() -> str:
    return base64.b64encode(secrets.token_bytes(64)).decode()


def _shown(account: Account) -> Response:
    born = stamp(account.born)
    rows = [
        {"creationTime": born, "keyName": f"key{number}", "value": key, "permissions": "FULL"}
        for number, key in enumerate(account.keys, 1)
    ]
    return json_response(200, {"keys": rows})
