"""Roles: the project's own, which are soft to delete, and all others by their names."""

from __future__ import annotations

import difflib
import re
import threading
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from google.api_core.exceptions import GoogleAPICallError

from cwiictl import names
from cwiictl.clouds.gcp import ids
from cwiictl.clouds.gcp.resources.custom_role import CustomRoleState, SharedRoleState
from cwiictl.clouds.gcp.stores import descriptions
from cwiictl.clouds.gcp.stores.errors import absent, denied, gone, off, status, told
from cwiictl.clouds.gcp.stores.policies import Policies
from cwiictl.clouds.gcp.stores.pools import Pools, named
from cwiictl.clouds.gcp.stores.wire import PAGE, Rest
from cwiictl.engine.pace import Job, Pace, run
from cwiictl.engine.resource import Mark
from cwiictl.errors import BadInput, Failed

PATIENCE = 120.0
NUMBER = re.compile(
    r"(?P<base>.+?)(_(?P<number>[2-9]|[1-9][0-9]{1,2}))?"
)  # behind an id whose first bearer is gone for good


class CustomRoles:
    """Addressed by their ids, without the number that tells one from another that is gone. What this run wrote is read by its id: the list is late."""

    kind, bulk, patience = "gcp/custom-role", True, 600.0

    def __init__(self, pools: Pools, policies: Policies, *, delete_shared: bool = False) -> None:
        self.rest, self.root, self.project, self.cluster = (
            pools.rest,
            pools.root,
            pools.project,
            pools.cluster,
        )
        self.policies, self.delete_shared = policies, delete_shared
        self.written: dict[str, str] = {}
        self.spent: set[str] = set()  # ids that are beyond rescue, and not free yet
        self.held: frozenset[str] = (
            frozenset()
        )  # by members of the cluster, when it was asked what is ours

    @told("iam")
    def get(self, roles: Collection[str], /) -> Mapping[str, CustomRoleState]:
        found: dict[str, Any] = {
            role: self._one(self.written[role]) for role in roles if role in self.written
        }
        if found.keys() < set(roles):
            found = self._bearers() | found
        return {role: self._state(found[role]) for role in roles if found.get(role)}

    @told("iam")
    def put(
        self, role: str, want: CustomRoleState, have: CustomRoleState | None, /
    ) -> CustomRoleState:
        if have is None:
            return self._create(role, want)
        id_ = have.id.rpartition("/")[2]
        if have.deleted and not self._revived(id_):
            return self._create(role, want)
        self.written[role] = id_
        before, after = _wish(have), _wish(want)
        before["description"] = _described(have, found=True)
        fields = [field for field in after if after[field] != before[field]]
        if fields:
            self.rest.patch(self._url(id_), after, *fields)
        return self._made(id_, want)

    @told("iam")
    def drop(self, role: str, /) -> None:
        seen = self._bearers().get(role)
        if seen is None or seen.get("deleted"):
            return
        if shared(seen) and (user := self.policies.holders()[1].get(str(seen["name"]))):
            raise Failed(
                f"{self.kind}/{role} is given to {user} by now",
                remedy="leave it, or take it away there and run again",
            )
        with gone():
            self.rest.delete(self._url(named(seen)))
        self.written.pop(role, None)

    @told("iam")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        """Of those that are everybody's only what ours have and nobody else, and only if they were asked for."""
        self.held, others = self.policies.holders() if self.delete_shared else (self.held, {})
        living = {role: seen for role, seen in self._bearers().items() if not seen.get("deleted")}
        marks = {role: self._mark(seen, cluster) for role, seen in living.items()}
        ours = {role: mark for role, mark in marks.items() if mark and mark.cluster == cluster}
        return {
            role: mark
            for role, mark in ours.items()
            if not (shared(living[role]) and str(living[role]["name"]) in others)
        }

    def _mark(self, seen: Any, cluster: str) -> Mark | None:
        if shared(seen):
            return (
                Mark(self.cluster)
                if self.delete_shared and str(seen.get("name", "")) in self.held
                else None
            )
        return descriptions.read(seen.get("description", ""), cluster).owner

    def _create(self, role: str, want: CustomRoleState) -> CustomRoleState:
        """Under the first id that Google still gives out."""
        for number in range(1, 1000):
            id_ = role if number == 1 else f"{role}_{number}"
            if id_ in self.spent:
                continue
            try:
                self.rest.post(self._url(""), {"roleId": id_, "role": _wish(want)})
            except GoogleAPICallError as e:
                if status(e) == 400 and "marked for deletion" in e.message:
                    self.spent.add(id_)
                    continue
                raise
            self.written[role] = id_
            return self._made(id_, want)
        raise Failed(
            f"all ids of {self.kind}/{role} are taken by roles that are being deleted",
            remedy="run again in some weeks",
        )

    def _revived(self, id_: str) -> bool:
        """For seven days it can be."""
        try:
            self.rest.post(f"{self._url(id_)}:undelete", {})
        except GoogleAPICallError as e:
            if status(e) not in {400, 404}:
                raise
            self.spent.add(id_)
            return False
        return True

    def _bearers(self) -> dict[str, Any]:
        """For each name the one that lives, or else the one that may come back."""
        found: dict[str, Any] = {}
        for seen in sorted(self._all(), key=lambda seen: (bool(seen.get("deleted")), named(seen))):
            if named(seen) not in self.spent:
                found.setdefault(base(named(seen)), seen)
        return found

    def _all(self) -> Iterator[Any]:
        yield from self.rest.pages(
            self._url(""), "roles", view="FULL", showDeleted="true", pageSize=PAGE
        )

    def _one(self, id_: str) -> Any:
        try:
            return self.rest.get(self._url(id_))
        except GoogleAPICallError as e:
            if absent(e):
                return None
            raise

    def _url(self, id_: str) -> str:
        return f"{self.root}/{ids.role(self.project, id_)}".rstrip("/")

    def _made(self, id_: str, want: CustomRoleState) -> CustomRoleState:
        of = type(want)
        owner = (
            want.owner
            if of is CustomRoleState
            else self._mark({"description": names.SHARED_KEY}, self.cluster)
        )
        return of(
            id=ids.role(self.project, id_),
            title=want.title,
            description=want.description,
            permissions=want.permissions,
            stage=want.stage,
            owner=owner,
        )

    def _state(self, seen: Any) -> CustomRoleState:
        text = str(seen.get("description", ""))
        of = SharedRoleState if shared(seen) else CustomRoleState
        return of(
            id=ids.role(self.project, named(seen)),
            title=seen.get("title", ""),
            description=text.removesuffix(names.SHARED_KEY).rstrip()
            if shared(seen)
            else descriptions.read(text, self.cluster).sentence,
            permissions=frozenset(seen.get("includedPermissions") or ()),
            stage=seen.get("stage", "ALPHA"),
            deleted=bool(seen.get("deleted")),
            owner=self._mark(seen, self.cluster),
        )


class Roles:
    """Those that are there without us, each looked at once, when it is first asked for."""

    kind = "gcp/roles"

    def __init__(self, rest: Rest, root: str) -> None:
        self.rest, self.root = rest, root
        self.lock = threading.Lock()
        self.known: set[str] = set()

    def name(self, role: str) -> str:
        """It is asked while a plan is made, and so it has to be patient by itself."""
        with self.lock:
            if role not in self.known:
                ran = run(Job({role: ()}, self._look, patience=lambda _role: PATIENCE), Pace(1))
                for e in ran.failed.values():
                    raise e
                if ran.interrupted:
                    raise KeyboardInterrupt
                self.known.add(role)
        return role

    @told("iam")
    def _look(self, role: str, _tried: int) -> str:
        """What may not be looked at is there until Google says otherwise."""
        try:
            found = self.rest.get(f"{self.root}/{role}")
        except GoogleAPICallError as e:
            if denied(e) or off(e):
                return "read"
            if absent(e) or status(e) == 400:
                raise self._unknown(role) from e
            raise
        if found.get("deleted"):
            raise BadInput(f"the role {role} was deleted", remedy="undelete it, or give another")
        return "read"

    def _unknown(self, role: str) -> BadInput:
        titles = [
            str(seen["name"])
            for seen in self.rest.pages(
                f"{self.root}/roles", "roles", pageSize=PAGE, fields="nextPageToken,roles/name"
            )
        ]
        near = difflib.get_close_matches(role, titles, 3)
        remedy = (
            f"did you mean {', or '.join(near)}?"
            if near
            else "give one such as roles/storage.admin, or projects/PROJECT/roles/NAME"
        )
        return BadInput(f"there is no role {role!r}", remedy=remedy)


def base(id_: str) -> str:
    found = NUMBER.fullmatch(id_)
    return found["base"] if found else id_


def shared(seen: Any) -> bool:
    return str(seen.get("description", "")).endswith(names.SHARED_KEY)


def _wish(want: CustomRoleState) -> dict[str, Any]:
    return {
        "title": want.title,
        "description": _described(want),
        "includedPermissions": sorted(want.permissions),
        "stage": want.stage,
    }


def _described(state: CustomRoleState, *, found: bool = False) -> str:
    if isinstance(state, SharedRoleState):
        return f"{state.description} {names.SHARED_KEY}".lstrip()
    return (descriptions.found if found else descriptions.written)(state.description, state.owner)
