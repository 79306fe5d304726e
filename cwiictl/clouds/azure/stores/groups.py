"""Resource groups: found by name, each its own reading."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from azure.core.exceptions import HttpResponseError

from cwiictl import names
from cwiictl.clouds.azure.resources.resource_group import ResourceGroupState
from cwiictl.clouds.azure.resources.standing_group import StandingGroupState
from cwiictl.clouds.azure.stores import tags
from cwiictl.clouds.azure.stores.errors import absent, gone, told
from cwiictl.engine.resource import Mark
from cwiictl.errors import Conflict, NotYet

if TYPE_CHECKING:
    from azure.mgmt.resource.resources import ResourceManagementClient


class StandingGroups:
    """Whether they are there."""

    kind, bulk, patience = "azure/standing-group", False, 120.0

    def __init__(self, groups: ResourceGroups) -> None:
        self.groups = groups

    def get(self, groups: Collection[str], /) -> Mapping[str, StandingGroupState]:
        return dict.fromkeys(self.groups.get(groups), StandingGroupState())

    def put(
        self, group: str, _want: StandingGroupState, _have: StandingGroupState | None, /
    ) -> StandingGroupState:
        raise NotYet(
            f"there is no resource group {group} any more", remedy="make it, and run again"
        )

    def drop(self, _group: str, /) -> None:
        """It is nobody's here."""

    def owned(self, _cluster: str, /) -> Mapping[str, Mark]:
        return {}


class ResourceGroups:
    """What is in one goes with it: so one goes only when all that is in it is ours."""

    kind, bulk, patience = "azure/resource-group", False, 900.0

    def __init__(self, resources: ResourceManagementClient, cluster: str) -> None:
        self.resources, self.cluster = resources, cluster

    @told("Microsoft.Resources")
    def get(self, groups: Collection[str], /) -> Mapping[str, ResourceGroupState]:
        found = {group: self._read(group) for group in groups}
        return {group: self._state(seen) for group, seen in found.items() if seen}

    @told("Microsoft.Resources")
    def put(
        self, group: str, want: ResourceGroupState, have: ResourceGroupState | None, /
    ) -> ResourceGroupState:
        if have is None:
            wish = {"location": want.region, "tags": tags.written(want, None)}
            return self._state(self.resources.resource_groups.create_or_update(group, wish))
        if tags.lent(want.owner):
            want = replace(have, owner=want.owner)
        if tags.retagged(want, have):
            return self._state(
                self.resources.resource_groups.update(group, {"tags": tags.written(want, have)})
            )
        return have

    @told("Microsoft.Resources")
    def drop(self, group: str, /) -> None:
        if self._read(group) is None:
            return
        self.inspect(group)
        with gone():
            self.resources.resource_groups.begin_delete(group, polling=False)
            if self._read(group):
                raise NotYet(f"{self.kind}/{group} is being deleted, which takes minutes")

    @told("Microsoft.Resources")
    def inspect(self, group: str, /) -> None:
        with gone():
            if strange := self._strange(group):
                remedy = (
                    "move it elsewhere, or leave the group without --delete-oidc-resource-group"
                )
                raise Conflict(
                    f"{self.kind}/{group} holds {strange}, which is not ours", remedy=remedy
                )

    @told("Microsoft.Resources")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        marks = {
            str(group.name).lower(): tags.owner(group.tags, cluster)
            for group in self.resources.resource_groups.list()
        }
        return {group: mark for group, mark in marks.items() if mark and mark.cluster == cluster}

    @told("Microsoft.Resources")
    def vacant(self, group: str, /) -> bool:
        with gone():
            return next(iter(self.resources.resources.list_by_resource_group(group)), None) is None
        return True

    def _read(self, group: str) -> Any:
        try:
            seen = self.resources.resource_groups.get(group)
        except HttpResponseError as e:
            if absent(e):
                return None
            raise
        if seen.properties and seen.properties.provisioning_state == "Deleting":
            raise NotYet(f"{self.kind}/{group} is being deleted, which takes minutes")
        return seen

    def _state(self, seen: Any) -> ResourceGroupState:
        found = tags.read(seen.tags)
        owner = names.mark(found, self.cluster)
        return ResourceGroupState(region=seen.location, tags=names.apart(found, owner), owner=owner)

    def _strange(self, group: str) -> str:
        """The first thing in it that we did not make for this cluster."""
        for thing in self.resources.resources.list_by_resource_group(group):
            mark = tags.owner(thing.tags, self.cluster)
            if mark is None or mark.cluster != self.cluster or mark.hold != "owned":
                return f"{thing.type} {thing.name}"
        return ""
