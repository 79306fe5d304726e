"""Resource groups as they are taken down: what is in one goes with it, so one of ours goes only if that was asked for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from cwiictl.clouds.azure.resources.resource_group import ResourceGroupState
from cwiictl.engine.resource import Mark, Store


class Groups(Store[ResourceGroupState], Protocol):
    def vacant(self, group: str, /) -> bool: ...  # whether nothing at all is in it


class LeavingGroups:
    """Those of the user's own are let go of all the same.

    With the one that was told goes what else is ours and empty: that of the installation, if no cluster is in it, or no more.
    """

    def __init__(self, groups: Groups, doomed: str) -> None:
        self.groups, self.doomed = groups, doomed
        self.kind, self.bulk, self.patience = groups.kind, groups.bulk, groups.patience

    def get(self, names: Collection[str], /) -> Mapping[str, ResourceGroupState]:
        return self.groups.get(names)

    def put(self, name: str, want: ResourceGroupState, have: ResourceGroupState | None, /) -> ResourceGroupState:
        return self.groups.put(name, want, have)

    def drop(self, name: str, /) -> None:
        self.groups.drop(name)

    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        return {name: mark for name, mark in self.groups.owned(cluster).items() if mark.hold != "owned" or self._goes(name)}

    def _goes(self, name: str) -> bool:
        return bool(self.doomed) and (name == self.doomed or self.groups.vacant(name))
