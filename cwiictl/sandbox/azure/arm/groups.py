"""Resource groups, and what goes with one when it goes."""

from __future__ import annotations

import re
from typing import Any

from cwiictl.sandbox.azure.answers import Refusal, empty, json_response
from cwiictl.sandbox.azure.rights import covers
from cwiictl.sandbox.azure.world import Group
from cwiictl.sandbox.exchange import Response

from . import filters, locations, tagging
from .call import Call, Routes
from .pages import listed
from .state import State, group_id

_NAME = re.compile(r"[\w().-]{0,89}[\w()-]")


class Groups:
    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def routes(self) -> Routes:
        item, every = "subscriptions/{}/resourcegroups/{}", "subscriptions/{}/resourcegroups"
        return {
            ("PUT", item): self.put, ("GET", item): self.get, ("HEAD", item): self.head, ("PATCH", item): self.patch, ("DELETE", item): self.delete,
            ("GET", every): self.list,
        }  # fmt: skip

    def put(self, call: Call) -> Response:
        key = group_id(call.address).lower()
        location, tags = self._location(call), tagging.read(call.body.get("tags"))
        there = self._state.world.groups.get(key)
        if there is None or (there.until is not None and there.until <= self._state.now()):
            check_name(call.address.group)
            made = Group(
                _id(call),
                call.address.group,
                location,
                self._state.now(),
                tags,
                call.body.get("managedBy"),
            )
            self._state.world.groups[key] = made
            return json_response(201, self._shown(made))
        found = self._state.writable(call.address)
        if found.location != location:
            words = f"Invalid resource group location '{location}'. The Resource group already exists in location '{found.location}'."
            raise Refusal(409, "InvalidResourceGroupLocation", words)
        found.tags = tags
        return json_response(200, self._shown(found))

    def patch(self, call: Call) -> Response:
        found = self._state.writable(call.address)
        if "tags" in call.body:
            found.tags = tagging.read(call.body["tags"])
        return json_response(200, self._shown(found))

    def get(self, call: Call) -> Response:
        return json_response(200, self._shown(self._state.group(call.address)))

    def head(self, call: Call) -> Response:
        self._state.group(call.address)
        return empty(204)

    def delete(self, call: Call) -> Response:
        """It stays for a while, being deleted; what was in it goes at once."""
        found = self._state.group(call.address)
        if found.until is None:
            found.until = self._state.operations.due()
            self._empty(found)
        place = f"/subscriptions/{call.address.subscription}/operationresults"
        return self._state.operations.begun(call, place, lambda: empty(200), found.until)

    def list(self, call: Call) -> Response:
        asked = filters.asked(call, {"tagname", "tagvalue", "name"})
        name, value = asked.get("tagname"), asked.get("tagvalue")
        rows = [
            self._shown(one)
            for one in self._state.groups(call.address.subscription)
            if (name is None or name in one.tags)
            and (value is None or one.tags.get(name or "") == value)
        ]
        return listed(call, rows)

    def _location(self, call: Call) -> str:
        found = call.body.get("location")
        location = locations.needed(found)
        if location not in locations.known(self._state.cloud):
            regions = ",".join(locations.known(self._state.cloud))
            words = f"The provided location '{found}' is not available for resource group. List of available regions is '{regions}'."
            raise Refusal(400, "LocationNotAvailableForResourceGroup", words)
        return location

    def _empty(self, group: Group) -> None:
        world = self._state.world
        for name, account in list(world.accounts.items()):
            if covers(group.id, account.id):
                del world.accounts[name]
        for key, identity in list(world.identities.items()):
            if covers(group.id, identity.id):
                del world.identities[key]
                world.principals.pop(identity.principal, None)
        for key in [key for key in world.others if covers(group.id, key)]:
            del world.others[key]
        self._state.unassign(group.id)

    def _shown(self, group: Group) -> dict[str, Any]:
        own: dict[str, Any] = {
            "id": group.id,
            "name": group.name,
            "type": "Microsoft.Resources/resourceGroups",
            "location": group.location,
        }
        own |= {"tags": group.tags} if group.tags else {}
        own |= {"managedBy": group.manager} if group.manager else {}
        return {
            **own,
            "properties": {"provisioningState": "Succeeded" if group.until is None else "Deleting"},
        }


def check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        words = (
            f"The provided resource group name '{name}' is invalid. It can have up to 90 characters: letters, digits, '-', '.', '(', ')' and '_', and must not"
            " end with '.'."
        )
        raise Refusal(400, "InvalidResourceGroupName", words)


def _id(call: Call) -> str:
    return f"/subscriptions/{call.address.subscription}/resourceGroups/{call.address.group}"
