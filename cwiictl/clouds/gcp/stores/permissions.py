"""Google's own word on what somebody may do in a project. Where it cannot be asked, nothing is lacking until Google says so."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from google.api_core.exceptions import GoogleAPICallError

from cwiictl.clouds.gcp.permissions import Grant
from cwiictl.clouds.gcp.stores.errors import absent, denied, off, status, told
from cwiictl.clouds.gcp.stores.wire import Rest
from cwiictl.clouds.permissions import PermissionsState, Rights

MOST = 100  # that are asked about at once
WITNESS = "storage.buckets.get"
INSIDE = re.compile(
    r"storage\.(objects\..+|buckets\.(get|update|getIamPolicy|setIamPolicy))"
)  # what a bucket's own policy gives, too


class Permissions(Rights):
    kind = "gcp/permissions"

    def __init__(self, rest: Rest, projects: str, grants: tuple[Grant, ...]) -> None:
        self.rest, self.projects, self.grants = rest, projects, grants

    @told("cloudresourcemanager")
    def get(self, callers: Collection[str], /) -> Mapping[str, PermissionsState]:
        lacking = tuple(sorted(set(self._lacking()))) if callers else ()
        return dict.fromkeys(callers, PermissionsState(lacking=lacking))

    def _lacking(self) -> Iterator[str]:
        for project in dict.fromkeys(grant.project for grant in self.grants):
            asked = {
                each
                for grant in self.grants
                if grant.project == project
                for each in grant.permissions
            }
            held = self._held(project, sorted({*asked, WITNESS}))
            if held is not None:
                yield from (
                    each for each in asked - held if WITNESS in held or not INSIDE.fullmatch(each)
                )

    def _held(self, project: str, permissions: Sequence[str]) -> frozenset[str] | None:
        """None where it cannot be asked.

        Owners and editors of a project have no right inside of its buckets but by each bucket's own policy: whoever has none by the project's is not
        judged by that.
        """
        held = [
            self._some(project, permissions[begin : begin + MOST])
            for begin in range(0, len(permissions), MOST)
        ]
        return frozenset(each for some in held for each in some or ()) if None not in held else None

    def _some(self, project: str, permissions: Sequence[str]) -> Collection[str] | None:
        try:
            found = self.rest.post(
                f"{self.projects}/{project}:testIamPermissions", {"permissions": list(permissions)}
            )
        except GoogleAPICallError as e:
            if absent(e) or denied(e) or off(e) or status(e) == 400:
                return None
            raise
        return frozenset(found.get("permissions") or ())
