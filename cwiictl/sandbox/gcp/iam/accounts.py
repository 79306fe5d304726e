"""Service accounts: their ids are a project's, their unique ids the world's."""

from __future__ import annotations

import re
import secrets
from typing import Any

from cwiictl.sandbox.exchange import Response
from cwiictl.sandbox.gcp import policies
from cwiictl.sandbox.gcp.answers import Refusal, exists, failed, invalid, json_response, not_found
from cwiictl.sandbox.gcp.call import Call, Route, Routes, known, text
from cwiictl.sandbox.gcp.pages import listed
from cwiictl.sandbox.gcp.world import Project, ServiceAccount

from .masks import fields
from .state import KEPT, State

_ID = re.compile(r"[a-z](?:[-a-z0-9]*[a-z0-9])")
_SAID = (
    "displayName",
    "description",
    "name",
    "email",
    "etag",
    "uniqueId",
    "projectId",
    "oauth2ClientId",
    "disabled",
)
_MOST = 100
_AGAIN = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "86401s"}


class Accounts:
    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def routes(self) -> Routes:
        every, item, verb = (
            "projects/{}/serviceAccounts",
            "projects/{}/serviceAccounts/{}",
            "iam.serviceAccounts.",
        )
        return {
            ("POST", every): Route(f"{verb}create", self.create),
            ("GET", every): Route(f"{verb}list", self.list, writes=False),
            ("GET", item): Route(f"{verb}get", self.get, writes=False),
            ("PUT", item): Route(f"{verb}update", self.put),
            ("PATCH", item): Route(f"{verb}update", self.patch),
            ("DELETE", item): Route(f"{verb}delete", self.delete),
            ("POST", f"{item}:undelete"): Route(f"{verb}undelete", self.undelete),
            ("POST", f"{item}:enable"): Route(f"{verb}enable", self.enable),
            ("POST", f"{item}:disable"): Route(f"{verb}disable", self.disable),
        }

    def create(self, call: Call) -> Response:
        where, name, asked = (
            self._state.project(call),
            str(call.body.get("accountId") or ""),
            known(call.part("serviceAccount"), _SAID, "service_account"),
        )
        _check_id(name)
        words, unique = _texts(asked), f"1{secrets.randbelow(10**20):020}"
        made = ServiceAccount(
            where.id,
            name,
            unique,
            words["display_name"],
            words["description"],
            born=self._state.now(),
        )
        self._check_room(where, made)
        self._state.world.accounts[made.email] = made
        return json_response(shown(made))

    def get(self, call: Call) -> Response:
        return json_response(shown(self._state.account(call)))

    def list(self, call: Call) -> Response:
        where = self._state.project(call)
        found = [
            one
            for _, one in sorted(self._state.world.accounts.items())
            if one.project == where.id and self._state.old(one.born)
        ]
        return listed(call, "accounts", [shown(one) for one in found], 20, 100)

    def put(self, call: Call) -> Response:
        found, words = self._state.account(call), _texts(call.body)
        found.display_name, found.description = words["display_name"], words["description"]
        return json_response(shown(found))

    def patch(self, call: Call) -> Response:
        found, asked = (
            self._state.account(call),
            known(call.part("serviceAccount"), _SAID, "service_account"),
        )
        named = fields(call.body.get("updateMask"), {"displayName", "description"})
        words = _texts({key: value for key, value in asked.items() if key in named})
        if "displayName" in named:
            found.display_name = words["display_name"]
        if "description" in named:
            found.description = words["description"]
        return json_response(shown(found))

    def delete(self, call: Call) -> Response:
        """Whoever made a policy meant this one, and not the next of its name."""
        found, world = self._state.account(call), self._state.world
        del world.accounts[found.email]
        found.deleted = self._state.now()
        world.gone[found.unique_id] = found
        policies.forget(world, found.email, found.unique_id)
        return json_response({})

    def undelete(self, call: Call) -> Response:
        world, name = self._state.world, call.address.names[1]
        found = world.gone.get(name) or next(
            (one for one in reversed(world.gone.values()) if one.email == name), None
        )
        if (
            found is None
            or found.project != self._state.project(call).id
            or found.deleted + KEPT <= self._state.now()
        ):
            raise not_found(f"The service account {name} was not found.")
        if found.email in world.accounts:
            raise failed(f"There is another service account of the name {found.email}.")
        del world.gone[found.unique_id]
        world.accounts[found.email] = found
        policies.revive(world, found.email, found.unique_id)
        return json_response({"restoredAccount": shown(found)})

    def enable(self, call: Call) -> Response:
        self._state.account(call).disabled = False
        return json_response({})

    def disable(self, call: Call) -> Response:
        self._state.account(call).disabled = True
        return json_response({})

    def _check_room(self, where: Project, made: ServiceAccount) -> None:
        if made.email in self._state.world.accounts:
            raise exists(
                f"Service account {made.id} already exists within project projects/{where.id}."
            )
        if sum(one.project == where.id for one in self._state.world.accounts.values()) >= _MOST:
            raise Refusal(
                429,
                "RESOURCE_EXHAUSTED",
                "Maximum number of service accounts on project reached.",
                details=(_AGAIN,),
            )


def shown(one: ServiceAccount) -> dict[str, Any]:
    said = {
        "displayName": one.display_name,
        "description": one.description,
        "disabled": one.disabled,
    }
    own = {
        "name": f"projects/{one.project}/serviceAccounts/{one.email}",
        "projectId": one.project,
        "uniqueId": one.unique_id,
        "email": one.email,
    }
    return {
        **own,
        **{key: value for key, value in said.items() if value},
        "etag": "MDEwMjE5MjA=",
        "oauth2ClientId": one.unique_id,
    }


def _check_id(name: str) -> None:
    if not 6 <= len(name) <= 30:
        raise invalid(f'The account ID "{name}" does not have a length between 6 and 30.')
    if not _ID.fullmatch(name):
        raise invalid(f'The account ID "{name}" does not match "[a-z]([-a-z0-9]*[a-z0-9])".')


def _texts(asked: dict[str, Any]) -> dict[str, str]:
    return {
        "display_name": text(asked.get("displayName"), "display name", 100),
        "description": text(asked.get("description"), "description", 256),
    }
