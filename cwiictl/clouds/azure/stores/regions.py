"""The regions that Azure has for a subscription. Where it cannot be asked, each is believed until Azure says otherwise."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from azure.core.exceptions import HttpResponseError

from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.resources.known_region import KnownRegionState
from cwiictl.clouds.azure.stores.errors import absent, denied, told
from cwiictl.clouds.azure.stores.wire import listed
from cwiictl.engine.resource import Mark

if TYPE_CHECKING:
    from azure.mgmt.resource.resources import ResourceManagementClient

VERSION = "2022-12-01"


class Regions:
    kind, bulk, patience = "azure/region", False, 30.0

    def __init__(self, resources: ResourceManagementClient, subscription: str) -> None:
        self.resources, self.subscription = resources, subscription

    @told("Microsoft.Resources")
    def get(self, regions: Collection[str], /) -> Mapping[str, KnownRegionState]:
        names = self._names()
        return {
            region: KnownRegionState(others=() if region in names else names) for region in regions
        }

    def put(
        self, _region: str, want: KnownRegionState, _have: KnownRegionState | None, /
    ) -> KnownRegionState:
        return want

    def drop(self, _region: str, /) -> None:
        """It is Azure's."""

    def owned(self, _cluster: str, /) -> Mapping[str, Mark]:
        return {}

    def _names(self) -> tuple[str, ...]:
        """None where it cannot be asked."""
        try:
            return tuple(
                sorted(
                    str(each["name"])
                    for each in listed(
                        self.resources,
                        f"{ids.subscription(self.subscription)}/locations?api-version={VERSION}",
                    )
                )
            )
        except HttpResponseError as e:
            if absent(e) or denied(e):
                return ()
            raise
