"""Things that are none of our business but that roles are given on: zones and networks, kept as they were written."""

from __future__ import annotations

from typing import Any

from cwiictl.sandbox.azure.answers import empty, json_response
from cwiictl.sandbox.azure.rights import covers
from cwiictl.sandbox.exchange import Response

from . import kinds, tagging
from .call import Call, Routes
from .pages import listed
from .state import State, missing


class Others:
    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def routes(self) -> Routes:
        found: dict[tuple[str, str], Any] = {}
        for name in (
            name for name, kind in kinds.KINDS.items() if kind.namespace == "Microsoft.Network"
        ):
            item = "/{}/".join(name.rsplit("/", 1)) if name.count("/") > 1 else name
            found |= {
                ("PUT", f"{item}/{{}}"): self.put,
                ("GET", f"{item}/{{}}"): self.get,
                ("DELETE", f"{item}/{{}}"): self.delete,
                ("GET", item): self.list,
            }
        return found

    def put(self, call: Call) -> Response:
        self._state.writable(call.address)
        tags, kind, own_id = (
            tagging.read(call.body.get("tags")),
            kinds.KINDS[call.address.kind],
            call.address.id,
        )
        there = own_id.lower() in self._state.world.others
        properties = {**call.properties, "provisioningState": "Succeeded"}
        location = {"location": call.body["location"]} if "location" in call.body else {}
        own = {
            "id": own_id,
            "name": call.address.name,
            "type": kind.name,
            **location,
            "tags": tags,
            "properties": properties,
        }
        self._state.world.others[own_id.lower()] = own
        return json_response(200 if there else 201, own)

    def get(self, call: Call) -> Response:
        self._state.group(call.address)
        found = self._state.world.others.get(call.address.id.lower())
        if found is None:
            raise missing(call.address, len(call.address.names))
        return json_response(200, found)

    def delete(self, call: Call) -> Response:
        self._state.writable(call.address)
        return empty(200 if self._state.world.others.pop(call.address.id.lower(), None) else 204)

    def list(self, call: Call) -> Response:
        kind = kinds.KINDS[call.address.kind].name
        rows = [
            one
            for key, one in sorted(self._state.world.others.items())
            if one["type"] == kind and covers(call.address.parent, key)
        ]
        return listed(call, rows)
