"""Resource groups as they are taken down: what is in one goes with it, so one of ours goes only if that was asked for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from cwiictl.clouds.azure.resources.resource_group import ResourceGroupState
from cwiictl.engine.resource import Mark, Store


class Groups(Store[ResourceGroupState], Protocol):
    def vacant(self, group: str, /) -> bool: ...  # whether nothing at all is in it
    def inspect(self, group: str, /) -> None: ...


class LeavingGroups:
    """Those of the user's own are let go of all the same.

    With the one that was told goes what else is ours and empty: that of the installation, if no cluster is in it, or no more.
    """

    def __init__(self, groups: Groups, doomed: str) -> None:
        self.groups, self.doomed = groups, doomed
        self.kind, self.bulk, self.patience = groups.kind, groups.bulk, groups.patience
        self.staying: dict[str, str] = {}

    def get(self, names: Collection[str], /) -> Mapping[str, ResourceGroupState]:
        return self.groups.get(names)

    def put(
        self, name: str, want: ResourceGroupState, have: ResourceGroupState | None, /
    ) -> ResourceGroupState:
        return self.groups.put(name, want, have)

    def drop(self, name: str, /) -> None:
        self.groups.drop(name)

    def inspect(self, name: str, /) -> None:
        self.groups.inspect(name)

    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        found = self.groups.owned(cluster)
        self.staying = {
            name: why
            for name, mark in found.items()
            if mark.hold == "owned" and (why := self._stays(name))
        }
        return {name: mark for name, mark in found.items() if name not in self.staying}

    def _stays(self, name: str) -> str:
        """Why it does; empty if it goes."""
        if not self.doomed:
            return "it goes with --delete-oidc-resource-group, if nothing of others is in it"
        return "" if name == self.doomed or self.groups.vacant(name) else "something is in it"
