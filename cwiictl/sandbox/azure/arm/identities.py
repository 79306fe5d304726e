"""User-assigned managed identities: a principal in the directory, with a resource that stands for it."""

from __future__ import annotations

import re
import uuid
from typing import Any

from cwiictl.sandbox.azure.answers import Refusal, empty, json_response
from cwiictl.sandbox.azure.rights import covers
from cwiictl.sandbox.azure.world import TENANT, Identity, Principal
from cwiictl.sandbox.exchange import Response

from . import locations, reserved, tagging
from .call import Call, Routes
from .pages import listed
from .state import State

KIND = "Microsoft.ManagedIdentity/userAssignedIdentities"
_NAME = re.compile(r"[A-Za-z0-9][\w-]{2,127}", re.ASCII)
_PAGE = 100


class Identities:
    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def routes(self) -> Routes:
        item, every = f"{KIND.lower()}/{{}}", KIND.lower()
        return {
            ("PUT", item): self.put, ("GET", item): self.get, ("PATCH", item): self.patch, ("DELETE", item): self.delete, ("GET", every): self.list,
        }  # fmt: skip

    def put(self, call: Call) -> Response:
        self._state.writable(call.address)
        location = locations.available(self._state.cloud, call.body.get("location"), KIND)
        tags = tagging.read(call.body.get("tags"))
        found = self._state.world.identities.get(_id(call).lower())
        if found is None:
            return json_response(201, shown(self._made(call, location, tags)))
        _check_location(call, found, location)
        found.tags = tags
        return json_response(200, shown(found))

    def patch(self, call: Call) -> Response:
        found = self._state.identity(call.address)
        self._state.writable(call.address)
        if "location" in call.body:
            _check_location(call, found, locations.needed(call.body["location"]))
        if "tags" in call.body:
            found.tags = tagging.read(call.body["tags"])
        return json_response(200, shown(found))

    def get(self, call: Call) -> Response:
        return json_response(200, shown(self._state.identity(call.address)))

    def delete(self, call: Call) -> Response:
        """What was given to it stays behind, and names nobody; what was given on it goes."""
        self._state.writable(call.address)
        found = self._state.world.identities.pop(_id(call).lower(), None)
        if found is None:
            return empty(204)
        self._state.world.principals.pop(found.principal, None)
        self._state.unassign(found.id)
        return empty(200)

    def list(self, call: Call) -> Response:
        if call.address.group:
            self._state.group(call.address)
        found = [
            one
            for key, one in sorted(self._state.world.identities.items())
            if covers(call.address.parent, key)
        ]
        return listed(call, [shown(one) for one in found], _PAGE)

    def _made(self, call: Call, location: str, tags: dict[str, str]) -> Identity:
        if not _NAME.fullmatch(call.address.name):
            words = (
                f"The resource name '{call.address.name}' is not valid for the resource type '{KIND}'. It must be 3 to 128 characters: letters, digits, '-' and"
                " '_', and start with a letter or a digit."
            )
            raise Refusal(400, "InvalidResourceName", words)
        reserved.check(call.address.name)
        made = Identity(
            _id(call),
            call.address.name,
            str(uuid.uuid4()),
            str(uuid.uuid4()),
            TENANT,
            self._state.now(),
            location=location,
            tags=tags,
        )
        world = self._state.world
        world.identities[made.id.lower()] = made
        world.principals[made.principal] = Principal(made.principal, "ServicePrincipal", made.born)
        return made


def shown(one: Identity) -> dict[str, Any]:
    ids = {"tenantId": one.tenant, "principalId": one.principal, "clientId": one.client}
    return {
        "id": one.id,
        "name": one.name,
        "type": KIND,
        "location": one.location,
        "tags": one.tags,
        "properties": ids,
    }


def _id(call: Call) -> str:
    """This service writes the word for groups in its own way."""
    return f"/subscriptions/{call.address.subscription}/resourcegroups/{call.address.group}/providers/{KIND}/{call.address.name}"


def _check_location(call: Call, found: Identity, location: str) -> None:
    if found.location != location:
        raise elsewhere(found.name, found.location, call.address.group, location)


def elsewhere(name: str, there: str, group: str, asked: str) -> Refusal:
    words = (
        f"The resource '{name}' already exists in location '{there}' in resource group '{group}'. A resource with the same name cannot be created in location"
        f" '{asked}'. Please select a new resource name."
    )
    return Refusal(409, "InvalidResourceLocation", words)
