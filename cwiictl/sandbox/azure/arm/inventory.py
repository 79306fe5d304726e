"""All things of a subscription or of a group, whatever they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cwiictl.sandbox.azure.rights import covers
from cwiictl.sandbox.azure.world import World
from cwiictl.sandbox.exchange import Response

from . import filters
from .call import Call, Routes
from .pages import listed
from .state import State

_FILTERS = {"resourcetype", "tagname", "tagvalue", "name", "resourcegroup", "location"}


class Inventory:
    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def routes(self) -> Routes:
        return {
            ("GET", "subscriptions/{}/resources"): self.list,
            ("GET", "subscriptions/{}/resourcegroups/{}/resources"): self.list,
        }

    def list(self, call: Call) -> Response:
        if call.address.group:
            self._state.group(call.address)
        asked = filters.asked(call, _FILTERS)
        every = sorted(_rows(self._state.world), key=_id)
        return listed(
            call,
            [row for row in every if covers(call.address.parent, _id(row)) and _fits(row, asked)],
        )


def _id(row: dict[str, Any]) -> str:
    return str(row["id"]).lower()


def _rows(world: World) -> Iterator[dict[str, Any]]:
    for one in world.accounts.values():
        sku = {"name": one.sku, "tier": one.sku.partition("_")[0]}
        yield {
            "id": one.id,
            "name": one.name,
            "type": "Microsoft.Storage/storageAccounts",
            "sku": sku,
            "kind": one.kind,
            "location": one.location,
            "tags": one.tags,
        }
    for one in world.identities.values():
        yield {
            "id": one.id,
            "name": one.name,
            "type": "Microsoft.ManagedIdentity/userAssignedIdentities",
            "location": one.location,
            "tags": one.tags,
        }
    for one in world.others.values():
        yield {key: one[key] for key in ("id", "name", "type", "location", "tags") if key in one}


def _fits(row: dict[str, Any], asked: dict[str, str]) -> bool:
    tags: dict[str, str] = row.get("tags", {})
    for name, text in asked.items():
        if name in {"resourcetype", "name", "location"}:
            found = [row.get("type" if name == "resourcetype" else name, "")]
        elif name == "resourcegroup":
            found = [row["id"].split("/")[4]]
        elif name == "tagname":
            found = list(tags)
        else:
            found = [
                value
                for key, value in tags.items()
                if key.lower() == asked.get("tagname", key).lower()
            ]
        if text.lower() not in {one.lower() for one in found}:
            return False
    return True
