"""Workload identity pools: what is deleted is there for thirty days more, and so is its name."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from cwiictl.sandbox.exchange import Response
from cwiictl.sandbox.gcp import operations
from cwiictl.sandbox.gcp.answers import exists, failed, invalid, json_response
from cwiictl.sandbox.gcp.call import Call, Route, Routes, known, text
from cwiictl.sandbox.gcp.pages import listed
from cwiictl.sandbox.gcp.world import Pool, Project

from . import kept
from .masks import fields
from .state import KEPT, State

_NAME = re.compile(r"[a-z0-9-]{4,32}")
_KIND = "google.iam.v1.WorkloadIdentityPool"
_SAID = (
    "disabled",
    "name",
    "state",
    "expireTime",
    "mode",
    "attributeMapping",
    "attributeCondition",
    "oidc",
)
_FIELDS = {"displayName": ("display_name", 32), "description": ("description", 256)}


class Pools:
    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def routes(self) -> Routes:
        every, verb = "projects/{}/locations/{}/workloadIdentityPools", "iam.workloadIdentityPools."
        return {
            **kept.routes(every, verb, self),
            ("GET", f"{every}/{{}}/operations/{{}}"): Route(f"{verb}get", self.poll, writes=False),
        }

    def create(self, call: Call) -> Response:
        where, name = self._state.project(call), call.asked.get("workloadIdentityPoolId", "")
        check_name(name, "workload_identity_pool_id")
        check_location(call)
        found = self._state.world.pools.get((where.id, name))
        if found is not None and not self._state.gone(found.deleted):
            raise exists()
        now = self._state.now()
        made = Pool(where.id, name, born=now, ready=now + self._state.faults.deploy)
        write(made, call.body, frozenset(("displayName", "description", "disabled")))
        self._state.world.pools[where.id, name] = made
        return self._begun(where, made)

    def get(self, call: Call) -> Response:
        return json_response(shown(self._state.project(call), self._state.pool(call)))

    def list(self, call: Call) -> Response:
        where, deleted = (
            self._state.project(call),
            call.asked.get("showDeleted", "").lower() == "true",
        )
        found = [
            one
            for (project, _), one in sorted(self._state.world.pools.items())
            if project == where.id and not self._state.gone(one.deleted)
        ]
        return listed(
            call,
            "workloadIdentityPools",
            [shown(where, one) for one in found if deleted or one.deleted is None],
            50,
            1000,
        )

    def patch(self, call: Call) -> Response:
        found = self._state.pool(call)
        _check_there(found.deleted)
        write(found, call.body, fields(call.asked.get("updateMask"), {*_FIELDS, "disabled"}))
        return self._begun(self._state.project(call), found)

    def delete(self, call: Call) -> Response:
        """Its providers go with it, and come back with it."""
        found = self._state.pool(call)
        _check_there(found.deleted)
        found.deleted = self._state.now()
        return self._begun(self._state.project(call), found)

    def undelete(self, call: Call) -> Response:
        found = self._state.pool(call)
        if found.deleted is None:
            raise failed("Precondition check failed.")
        found.deleted, found.born = None, self._state.now()
        found.ready = found.born + self._state.faults.deploy
        return self._begun(self._state.project(call), found)

    def poll(self, call: Call) -> Response:
        return operations.polled(
            self._state.world,
            f"{full(self._state.project(call), call.address.names[2])}/operations/{call.address.name}",
        )

    def _begun(self, where: Project, pool: Pool) -> Response:
        done = self._state.now() + self._state.faults.deploy
        return operations.begun(
            self._state.world,
            f"{full(where, pool.id)}/operations/",
            _KIND,
            lambda: shown(where, pool),
            done,
        )


def full(where: Project, pool: str) -> str:
    return f"projects/{where.number}/locations/global/workloadIdentityPools/{pool}"


def shown(where: Project, one: Pool) -> dict[str, Any]:
    said = {
        "displayName": one.display_name,
        "description": one.description,
        "disabled": one.disabled,
    }
    return {
        "name": full(where, one.id),
        **{key: value for key, value in said.items() if value},
        **standing(one.deleted),
    }


def standing(deleted: float | None) -> dict[str, Any]:
    if deleted is None:
        return {"state": "ACTIVE"}
    return {
        "state": "DELETED",
        "expireTime": f"{dt.datetime.fromtimestamp(deleted + KEPT, dt.UTC):%Y-%m-%dT%H:%M:%SZ}",
    }


def write(one: Any, asked: dict[str, Any], named: frozenset[str]) -> None:
    """What pools and providers have in common."""
    known(asked, {*_FIELDS, *_SAID})
    for name, (attribute, longest) in _FIELDS.items():
        if name in named:
            setattr(one, attribute, text(asked.get(name), name, longest))
    if "disabled" in named:
        one.disabled = bool(asked.get("disabled"))


def check_name(name: str, field: str) -> None:
    if not _NAME.fullmatch(name) or name.startswith("gcp-"):
        raise invalid(
            f"Invalid value at '{field}': it must be 4-32 characters of [a-z0-9-], and the prefix 'gcp-' is reserved for Google."
        )


def check_location(call: Call) -> None:
    if call.address.names[1] != "global":
        raise invalid(
            f"Location {call.address.names[1]} is not supported: the only one is 'global'."
        )


def _check_there(deleted: float | None) -> None:
    if deleted is not None:
        raise failed("Precondition check failed.")
