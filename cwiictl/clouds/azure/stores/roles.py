"""Role definitions: those of the cluster's own, and all others by their names."""

from __future__ import annotations

import difflib
import threading
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from azure.core.exceptions import HttpResponseError
from azure.mgmt.authorization.v2022_04_01.models import Permission, RoleDefinition

from cwiictl import names
from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.resources.custom_role import CustomRoleState
from cwiictl.clouds.azure.stores.errors import absent, code, gone, told
from cwiictl.engine.pace import Job, Pace, run
from cwiictl.engine.resource import Mark
from cwiictl.errors import BadInput, Conflict

if TYPE_CHECKING:
    from azure.mgmt.authorization.v2022_04_01 import AuthorizationManagementClient

PATIENCE = 120.0
MINE = "type eq 'CustomRole'"


class CustomRoles:
    """Addressed by name, of which there is one in a tenant. What this run wrote is read by its id: the list is late."""

    kind, bulk, patience = "azure/custom-role", True, 600.0

    def __init__(
        self, access: AuthorizationManagementClient, subscription: str, cluster: str
    ) -> None:
        self.access: Any = access.role_definitions  # its types leave something open
        self.subscription, self.cluster = subscription, cluster
        self.scope = ids.subscription(subscription).lstrip("/")
        self.written: dict[str, str] = {}

    @told("Microsoft.Authorization")
    def get(self, roles: Collection[str], /) -> Mapping[str, CustomRoleState]:
        listed = {role: self._one(self.written[role]) for role in roles if role in self.written}
        if listed.keys() < set(roles):
            listed = {str(seen.role_name): seen for seen in self._all()} | listed
        return {role: self._state(listed[role]) for role in roles if listed.get(role)}

    @told("Microsoft.Authorization")
    def put(
        self, role: str, want: CustomRoleState, have: CustomRoleState | None, /
    ) -> CustomRoleState:
        guid = ids.guid(have.id) if have else names.custom_role(self.subscription, role)
        powers = Permission(
            actions=sorted(want.actions),
            not_actions=sorted(want.not_actions),
            data_actions=sorted(want.data_actions),
            not_data_actions=sorted(want.not_data_actions),
        )
        wish = RoleDefinition(
            role_name=role,
            role_type="CustomRole",
            description=names.signed(want.description, want.owner)
            if want.owner
            else want.description,
            permissions=[powers],
            assignable_scopes=sorted(want.scopes),
        )
        try:
            made = self.access.create_or_update(self.scope, guid, wish)
        except HttpResponseError as e:
            if code(e) == "RoleDefinitionWithSameNameExists":
                raise Conflict(
                    f"{self.kind}/{role} is there already, for another part of the tenant",
                    remedy="choose another --name",
                ) from e
            raise
        self.written[role] = guid
        return self._state(made)

    @told("Microsoft.Authorization")
    def drop(self, role: str, /) -> None:
        found = {str(seen.role_name): str(seen.name) for seen in self._all()}
        guid = self.written.pop(role, "") or found.get(role, "")
        if guid:
            with gone():
                self.access.delete(self.scope, guid)

    @told("Microsoft.Authorization")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        marks = {
            str(seen.role_name): names.unsigned(seen.description or "", cluster)[1]
            for seen in self._all()
        }
        return {role: mark for role, mark in marks.items() if mark and mark.cluster == cluster}

    def _all(self) -> Iterator[Any]:
        yield from self.access.list(self.scope, filter=MINE)

    def _one(self, guid: str) -> Any:
        try:
            return self.access.get(self.scope, guid)
        except HttpResponseError as e:
            if absent(e):
                return None
            raise

    def _state(self, seen: Any) -> CustomRoleState:
        """Several blocks of permissions are what the portal makes of one now and then; together they say the same."""
        description, owner = names.unsigned(seen.description or "", self.cluster)
        blocks: list[Any] = seen.permissions or []
        return CustomRoleState(
            id=ids.folded(seen.id),
            description=description,
            actions=_together(blocks, "actions"),
            not_actions=_together(blocks, "not_actions"),
            data_actions=_together(blocks, "data_actions"),
            not_data_actions=_together(blocks, "not_data_actions"),
            scopes=frozenset(map(ids.folded, seen.assignable_scopes or ())),
            owner=owner,
        )


class Roles:
    """All that can be given in the subscription, listed once, when the first is asked for."""

    kind = "azure/roles"

    def __init__(self, access: AuthorizationManagementClient, subscription: str) -> None:
        self.access, self.subscription = access.role_definitions, subscription
        self.lock = threading.Lock()
        self.known: dict[str, str] = {}  # ids by names in lower case, and by GUIDs
        self.titles: dict[str, str] = {}  # by GUIDs

    def id(self, role: str) -> str:
        """By its name, its GUID or its id."""
        self._ready()
        found = self.known.get(ids.guid(role) if "/" in role else role.lower())
        if found is None:
            near = difflib.get_close_matches(
                role.lower(), sorted(title.lower() for title in self.titles.values()), 3
            )
            named = sorted({title for title in self.titles.values() if title.lower() in near})
            remedy = (
                f"did you mean {', or '.join(named)}?"
                if named
                else "give the name, the GUID or the id of one that can be assigned there"
            )
            raise BadInput(
                f"there is no role {role!r} in the subscription {self.subscription}", remedy=remedy
            )
        return found

    def _ready(self) -> None:
        """It is asked while a plan is made, and so it has to be patient by itself."""
        with self.lock:
            if not self.known:
                run(
                    Job({self.kind: ()}, self._load, patience=lambda _kind: PATIENCE), Pace(1)
                ).checked()

    @told("Microsoft.Authorization")
    def _load(self, _kind: str, _tried: int) -> str:
        for seen in self.access.list(ids.subscription(self.subscription).lstrip("/")):
            title, guid = str(seen.role_name), str(seen.name)
            self.titles[guid.lower()] = title
            self.known |= {
                title.lower(): ids.folded(str(seen.id)),
                guid.lower(): ids.folded(str(seen.id)),
            }
        return "read"


def _together(blocks: list[Any], field: str) -> frozenset[str]:
    return frozenset(word for block in blocks for word in getattr(block, field) or ())
