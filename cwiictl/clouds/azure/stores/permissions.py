"""Azure's own word on what somebody may do at a scope. Where it cannot be asked, nothing is lacking until Azure says so."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from azure.core.exceptions import HttpResponseError

from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.permissions import Grant
from cwiictl.clouds.azure.stores.errors import absent, denied, told
from cwiictl.clouds.azure.stores.wire import listed
from cwiictl.clouds.permissions import PermissionsState, Rights

if TYPE_CHECKING:
    from azure.mgmt.resource.resources import ResourceManagementClient

VERSION = "2022-04-01"


class Permissions(Rights):
    kind = "azure/permissions"

    def __init__(self, resources: ResourceManagementClient, grants: tuple[Grant, ...]) -> None:
        self.resources, self.grants = resources, grants

    @told("Microsoft.Authorization")
    def get(self, callers: Collection[str], /) -> Mapping[str, PermissionsState]:
        lacking = tuple(sorted(set(self._lacking())))
        return dict.fromkeys(callers, PermissionsState(lacking=lacking))

    def _lacking(self) -> Iterator[str]:
        """What is held in a subscription is held in all of it: who has enough there is asked about nothing else."""
        asked: dict[str, list[Any] | None] = {}
        for grant in self.grants:
            lacking: Sequence[str] | None = None
            for scope in dict.fromkeys(
                (ids.subscription_of(grant.scope) or grant.scope, grant.scope)
            ):
                if lacking is None or lacking:
                    held = asked[scope] = asked[scope] if scope in asked else self._held(scope)
                    lacking = (
                        lacking
                        if held is None
                        else [action for action in grant.actions if not allowed(action, held)]
                    )
            yield from lacking or ()

    def _held(self, scope: str) -> list[Any] | None:
        """None where it cannot be asked, or is yet to be made."""
        try:
            return list(
                listed(
                    self.resources,
                    f"{scope}/providers/Microsoft.Authorization/permissions?api-version={VERSION}",
                )
            )
        except HttpResponseError as e:
            if absent(e) or denied(e):
                return None
            raise


def allowed(action: str, held: Sequence[Mapping[str, Any]]) -> bool:
    """One of the roles gives it, and does not take it back in the same breath."""
    return any(
        _named(action, each.get("actions")) and not _named(action, each.get("notActions"))
        for each in held
    )


def _named(action: str, patterns: Sequence[str] | None) -> bool:
    return any(
        re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), action, re.IGNORECASE)
        for pattern in patterns or ()
    )
