"""Role assignments, read as few times as will do: Azure lists all of a subscription at once."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from azure.core.exceptions import HttpResponseError
from azure.mgmt.authorization.v2022_04_01.models import RoleAssignmentCreateParameters

from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.resources.role_assignments import Assignment, Grant
from cwiictl.clouds.azure.stores.errors import code, gone

if TYPE_CHECKING:
    from azure.mgmt.authorization.v2022_04_01 import AuthorizationManagementClient


class Ledger:
    """`elsewhere` are scopes beyond the subscription that somebody has named."""

    def __init__(
        self,
        access: AuthorizationManagementClient,
        subscription: str,
        elsewhere: Iterable[str] = (),
    ) -> None:
        self.access: Any = access.role_assignments  # its types leave something open
        self.subscription = subscription
        self.elsewhere = tuple(elsewhere)
        self.lock = threading.Lock()
        self.kept: dict[str, list[Assignment]] = {}

    def roots(self, scopes: Iterable[str] = ()) -> list[str]:
        """What must be listed to see all that is given on these scopes, and in our subscription."""
        own = ids.subscription(self.subscription)
        return list(
            dict.fromkeys(
                [
                    own,
                    *(
                        ids.subscription_of(scope) or ids.folded(scope)
                        for scope in (*self.elsewhere, *scopes)
                    ),
                ]
            )
        )

    def all(self, roots: Collection[str], *, anew: bool = False) -> list[Assignment]:
        with self.lock:
            for root in roots:
                if anew or root not in self.kept:
                    self.kept[root] = self._list(root)
            return list({each.id: each for root in roots for each in self.kept[root]}.values())

    def of(self, principal: str, roots: Collection[str]) -> list[Assignment]:
        """As it is now."""
        found = [
            each for root in roots for each in self._list(root, f"principalId eq '{principal}'")
        ]
        return list({each.id: each for each in found}.values())

    def one(self, id_: str) -> Assignment | None:
        with gone():
            return _read(self.access.get_by_id(id_.lstrip("/")))
        return None

    def write(self, assignment: Assignment, kind: str = "ServicePrincipal") -> None:
        """Of one that is there only the description can be changed: who it was once given to may be dead."""
        wish = RoleAssignmentCreateParameters(
            role_definition_id=ids.role(assignment.grant.scope, assignment.grant.role),
            principal_id=assignment.principal,
            principal_type=kind,  # so that Azure does not look for a principal that it may not know yet
            description=assignment.description,
            condition=assignment.condition[0] or None,
            condition_version=assignment.condition[1] or None,
        )
        try:
            self.access.create_by_id(assignment.id.lstrip("/"), wish)
        except HttpResponseError as e:
            if code(e) != "RoleAssignmentUpdateNotPermitted":
                raise
            self.erase(assignment.id)
            self.access.create_by_id(assignment.id.lstrip("/"), wish)

    def erase(self, id_: str) -> None:
        with gone():
            self.access.delete_by_id(id_.lstrip("/"))

    def _list(self, root: str, wish: str | None = None) -> list[Assignment]:
        with gone():
            return [
                _read(seen) for seen in self.access.list_for_scope(root.lstrip("/"), filter=wish)
            ]
        return []


def _read(seen: Any) -> Assignment:
    return Assignment(
        id=ids.folded(seen.id),
        grant=Grant(ids.folded(seen.scope) or "/", ids.guid(seen.role_definition_id)),
        principal=str(seen.principal_id).lower(),
        description=seen.description or "",
        condition=(seen.condition or "", seen.condition_version or ""),
    )
