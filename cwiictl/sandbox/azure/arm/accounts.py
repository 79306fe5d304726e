"""Storage accounts, as ARM has them: their names are the world's, and where they are they stay."""

from __future__ import annotations

from typing import Any

from cwiictl.sandbox.azure.answers import Refusal, empty, json_response
from cwiictl.sandbox.azure.rights import covers
from cwiictl.sandbox.azure.world import Account
from cwiictl.sandbox.exchange import Response

from . import account_settings, keys, locations, reserved, tagging
from .account_names import KIND, Names
from .call import Call, Routes
from .identities import elsewhere
from .pages import listed
from .state import State
from .times import stamp

_TAG = 128  # characters that a tag's name may have here


class Accounts:
    def __init__(self, state: State) -> None:
        self._state = state
        self._names = Names(state)

    @property
    def routes(self) -> Routes:
        item, every = f"{KIND.lower()}/{{}}", KIND.lower()
        return {
            ("PUT", item): self.put, ("GET", item): self.get, ("PATCH", item): self.patch, ("DELETE", item): self.delete, ("GET", every): self.list,
            ("POST", "microsoft.storage/checknameavailability"): self._names.check,
        }  # fmt: skip

    def put(self, call: Call) -> Response:
        self._state.writable(call.address)
        location = locations.available(self._state.cloud, call.body.get("location"), KIND)
        found = self._names.taken(call.address)
        if found is None:
            return self._begun(call, location)
        if found.location != location:
            raise elsewhere(found.name, found.location, call.address.group, location)
        self._change(found, call)
        return json_response(200, self.shown(found))

    def patch(self, call: Call) -> Response:
        found = self._state.account(call.address)
        self._state.writable(call.address)
        self._change(found, call)
        return json_response(200, self.shown(found))

    def get(self, call: Call) -> Response:
        return json_response(200, self.shown(self._state.account(call.address)))

    def delete(self, call: Call) -> Response:
        self._state.writable(call.address)
        found = self._state.world.accounts.get(call.address.name.lower())
        if found is None or found.id.lower() != call.address.id.lower():
            return empty(204)
        del self._state.world.accounts[found.name]
        self._state.unassign(found.id)
        return empty(200)

    def list(self, call: Call) -> Response:
        if call.address.group:
            self._state.group(call.address)
        found = [
            one
            for _, one in sorted(self._state.world.accounts.items())
            if covers(call.address.parent, one.id)
        ]
        return listed(call, [self.shown(one) for one in found])

    def shown(self, one: Account) -> dict[str, Any]:
        state = "Succeeded" if one.ready <= self._state.now() else "Creating"
        born = stamp(one.born)
        properties: dict[str, Any] = {
            **one.properties, "provisioningState": state, "creationTime": born, "keyCreationTime": {"key1": born, "key2": born},
            "primaryLocation": one.location, "statusOfPrimary": "available", "primaryEndpoints": account_settings.endpoints(one),
            "privateEndpointConnections": [], "encryption": account_settings.ENCRYPTION,
        }  # fmt: skip
        sku = {"name": one.sku, "tier": one.sku.partition("_")[0]}
        own = {
            "id": one.id,
            "name": one.name,
            "type": KIND,
            "sku": sku,
            "kind": one.kind,
            "location": one.location,
            "tags": one.tags,
        }
        return {
            **own,
            **({"identity": one.identity} if one.identity else {}),
            "properties": properties,
        }

    def _begun(self, call: Call, location: str) -> Response:
        self._names.check_new(call.address.name)
        reserved.check(call.address.name)
        sku, kind = account_settings.sku(call.body), account_settings.kind(call.body)
        properties = account_settings.merged(account_settings.defaults(), call.properties)
        tags, now, due = (
            tagging.read(call.body.get("tags"), _TAG),
            self._state.now(),
            self._state.operations.due(),
        )
        name = call.address.name
        own = f"/subscriptions/{call.address.subscription}/resourceGroups/{call.address.group}/providers/{KIND}/{name}"
        made = Account(
            own,
            name,
            self._state.cloud.suffix,
            properties,
            (keys.new(), keys.new()),
            now,
            location=location,
            sku=sku,
            kind=kind,
            tags=tags,
            ready=due,
        )
        made.identity = account_settings.identity(call.body)
        self._state.world.accounts[name] = made
        place = f"/subscriptions/{call.address.subscription}/providers/Microsoft.Storage/locations/{location}/asyncoperations"
        return self._state.operations.begun(
            call, place, lambda: json_response(200, self.shown(made)), due
        )

    def _change(self, found: Account, call: Call) -> None:
        body = call.body
        properties = account_settings.merged(found.properties, call.properties)
        tags = tagging.read(body["tags"], _TAG) if "tags" in body else found.tags
        if "sku" in body:
            found.sku = account_settings.sku(body)
        if (
            "kind" in body
            and body["kind"] != found.kind
            and (found.kind, body["kind"]) != ("Storage", "StorageV2")
        ):
            raise Refusal(
                409,
                "AccountPropertyCannotBeUpdated",
                "The property 'kind' was specified in the input, but it cannot be updated as it is read-only.",
            )
        if "location" in body and locations.normal(str(body["location"])) != found.location:
            raise Refusal(
                409,
                "AccountPropertyCannotBeUpdated",
                "The property 'location' was specified in the input, but it cannot be updated as it is read-only.",
            )
        found.identity = account_settings.identity(body) if "identity" in body else found.identity
        found.properties, found.tags = properties, tags
