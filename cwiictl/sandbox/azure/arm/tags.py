"""The tags of a thing, as a thing of their own."""

from __future__ import annotations

from cwiictl.sandbox.azure.answers import Refusal, json_response
from cwiictl.sandbox.azure.world import Account, Group, Identity
from cwiictl.sandbox.exchange import Response

from . import address, tagging
from .call import Call, Routes
from .state import State

KIND = "Microsoft.Resources/tags"
_NOWHERE = Refusal(
    400,
    "InvalidTagsScope",
    "Tags are kept here of resource groups, storage accounts and identities.",
)


class Tags:
    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def routes(self) -> Routes:
        item = f"{KIND.lower()}/{{}}"
        return {
            ("GET", item): self.get,
            ("PUT", item): self.put,
            ("PATCH", item): self.patch,
            ("DELETE", item): self.delete,
        }

    def get(self, call: Call) -> Response:
        return _shown(call, self._thing(call).tags)

    def put(self, call: Call) -> Response:
        return self._set(call, tagging.read(call.properties.get("tags")))

    def patch(self, call: Call) -> Response:
        have, given = self._thing(call).tags, tagging.read(call.properties.get("tags"))
        match call.body.get("operation"):
            case "Merge":
                return self._set(call, tagging.read({**have, **given}))
            case "Replace":
                return self._set(call, given)
            case "Delete":
                return self._set(
                    call, {name: value for name, value in have.items() if given.get(name) != value}
                )
            case other:
                raise Refusal(
                    400,
                    "InvalidTagsPatchOperation",
                    f"The operation '{other}' is not one of Merge, Replace and Delete.",
                )

    def delete(self, call: Call) -> Response:
        return self._set(call, {})

    def _set(self, call: Call, tags: dict[str, str]) -> Response:
        self._state.writable(address.read(call.address.parent))
        self._thing(call).tags = tags
        return _shown(call, tags)

    def _thing(self, call: Call) -> Group | Account | Identity:
        where = address.read(call.address.parent)
        if not where.group:
            raise _NOWHERE
        if not where.namespace:
            return self._state.group(where)
        finders = {
            "microsoft.storage/storageaccounts": self._state.account,
            "microsoft.managedidentity/userassignedidentities": self._state.identity,
        }
        if where.kind not in finders:
            raise _NOWHERE
        return finders[where.kind](where)


def _shown(call: Call, tags: dict[str, str]) -> Response:
    return json_response(
        200, {"id": call.address.id, "name": "default", "type": KIND, "properties": {"tags": tags}}
    )
