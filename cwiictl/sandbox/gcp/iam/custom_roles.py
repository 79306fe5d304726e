"""Custom roles of projects: deleted, they can come back for a week, and their ids are nobody's for a month more."""

from __future__ import annotations

import base64
import re
import secrets
from typing import Any

from cwiictl.sandbox.exchange import Response
from cwiictl.sandbox.gcp import catalogue, policies
from cwiictl.sandbox.gcp.answers import Refusal, exists, failed, invalid, json_response, not_found
from cwiictl.sandbox.gcp.call import Call, Routes, known, text, texts
from cwiictl.sandbox.gcp.pages import listed
from cwiictl.sandbox.gcp.world import Role

from . import kept
from .masks import fields
from .state import DAY, State

_ID = re.compile(r"[a-zA-Z0-9_.]{3,64}")
_STAGES = ("ALPHA", "BETA", "GA", "DEPRECATED", "DISABLED", "EAP")
_FIELDS = frozenset(("title", "description", "includedPermissions", "stage"))
_SAID = frozenset((*_FIELDS, "name", "etag", "deleted"))
_MOST = 300
_UNDELETABLE, _RESERVED = 7 * DAY, 37 * DAY


class CustomRoles:
    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def routes(self) -> Routes:
        return kept.routes("projects/{}/roles", "iam.roles.", self)

    def create(self, call: Call) -> Response:
        where, name = self._state.project(call), str(call.body.get("roleId") or "")
        if not _ID.fullmatch(name):
            raise invalid(f"The role_id ({name}) must match [a-zA-Z0-9_\\.]{{3,64}}.")
        self._check_free(where.id, name)
        made = Role(where.id, name, "", "", (), etag=_etag(), born=self._state.now())
        _write(made, known(call.part("role"), _SAID), _FIELDS)
        self._state.world.roles[where.id, name] = made
        return json_response(shown(made))

    def get(self, call: Call) -> Response:
        return json_response(shown(self._found(call)))

    def list(self, call: Call) -> Response:
        """What is new is not listed yet, though it is there for who knows its name."""
        where, deleted, full = (
            self._state.project(call),
            call.asked.get("showDeleted", "").lower() == "true",
            call.asked.get("view") == "FULL",
        )
        found = [
            one
            for (project, _), one in sorted(self._state.world.roles.items())
            if project == where.id and self._state.old(one.born)
        ]
        rows = [
            shown(one, full=full)
            for one in found
            if one.deleted is None or (deleted and self._undeletable(one))
        ]
        return listed(call, "roles", rows, 300, 1000)

    def patch(self, call: Call) -> Response:
        found = self._found(call)
        if found.deleted is not None:
            raise failed(
                f"You can't update role_id (projects/{found.project}/roles/{found.id}) as it is deleted."
            )
        _check_etag(found, call.body.get("etag"))
        mask = known(call.body, _SAID) and call.asked.get("updateMask")
        _write(
            found,
            call.body,
            fields(mask, {*_FIELDS, "etag", "name"})
            if mask
            else frozenset(_FIELDS & call.body.keys()),
        )
        found.etag = _etag()
        return json_response(shown(found))

    def delete(self, call: Call) -> Response:
        """Its bindings stay, and give nothing."""
        found = self._found(call)
        _check_etag(found, call.asked.get("etag"))
        if found.deleted is not None:
            raise failed(
                f"You can't delete role_id (projects/{found.project}/roles/{found.id}) as it is already deleted."
            )
        found.deleted, found.etag = self._state.now(), _etag()
        return json_response(shown(found))

    def undelete(self, call: Call) -> Response:
        found = self._found(call)
        _check_etag(found, call.body.get("etag"))
        if found.deleted is None or not self._undeletable(found):
            raise failed(
                f"You can't undelete role_id (projects/{found.project}/roles/{found.id}): it is not deleted, or was more than 7 days ago."
            )
        found.deleted, found.etag = None, _etag()
        return json_response(shown(found))

    def _found(self, call: Call) -> Role:
        name = (self._state.project(call).id, call.address.names[1])
        found = self._state.world.roles.get(name)
        if found is None or self._free(found):
            raise not_found(f"The role named projects/{name[0]}/roles/{name[1]} was not found.")
        return found

    def _check_free(self, project: str, name: str) -> None:
        found = self._state.world.roles.get((project, name))
        if found is not None and found.deleted is None:
            raise exists(f"A role named {name} in projects/{project} already exists.")
        if found is not None and not self._free(found):
            raise failed(f"You can't create a role_id ({name}) which has been marked for deletion.")
        policies.strip(self._state.world, f"projects/{project}/roles/{name}")
        if (
            sum(
                one.project == project and not self._free(one)
                for one in self._state.world.roles.values()
            )
            >= _MOST
        ):
            raise Refusal(
                429, "RESOURCE_EXHAUSTED", f"Maximum number of roles reached. Maximum is: {_MOST}"
            )

    def _free(self, one: Role) -> bool:
        return one.deleted is not None and one.deleted + _RESERVED <= self._state.now()

    def _undeletable(self, one: Role) -> bool:
        return one.deleted is not None and self._state.now() < one.deleted + _UNDELETABLE


def shown(one: Role, *, full: bool = True) -> dict[str, Any]:
    said = {
        "description": one.description,
        "includedPermissions": list(one.permissions) if full else [],
        "deleted": one.deleted is not None,
    }
    own = {
        "name": f"projects/{one.project}/roles/{one.id}",
        "title": one.title,
        "stage": one.stage,
        "etag": one.etag,
    }
    return {**own, **{key: value for key, value in said.items() if value}}


def _write(one: Role, asked: dict[str, Any], named: frozenset[str]) -> None:
    if "title" in named:
        one.title = text(asked.get("title"), "title", 100)
    if "description" in named:
        one.description = text(asked.get("description"), "description", 256)
    if "stage" in named:
        one.stage = _stage(asked.get("stage"))
    if "includedPermissions" in named:
        one.permissions = _permissions(asked.get("includedPermissions"))


def _permissions(asked: object) -> tuple[str, ...]:
    found = sorted(set(texts(asked, "role.included_permissions")))
    for one in found:
        if not catalogue.customisable(one):
            raise invalid(f"Permission {one} is not valid.")
    return tuple(found)


def _stage(asked: object) -> str:
    found = str(asked or "ALPHA")
    if found not in _STAGES:
        raise invalid(
            f"Invalid value at 'role.stage' (type.googleapis.com/google.iam.admin.v1.Role.RoleLaunchStage), \"{found}\""
        )
    return found


def _check_etag(one: Role, etag: object) -> None:
    if etag and str(etag) != one.etag:
        raise Refusal(
            409,
            "ABORTED",
            "There were concurrent changes to the role. Please retry the whole read-modify-write with exponential backoff.",
        )


def _etag() -> str:
    return base64.b64encode(b"\x07\x06" + secrets.token_bytes(6)).decode()
