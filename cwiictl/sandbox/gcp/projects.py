"""Resource Manager: projects, and their policies."""

from __future__ import annotations

from typing import Any

from cwiictl.sandbox.exchange import Response
from cwiictl.sandbox.places import Ground

from . import answers, policies
from .answers import Refusal, json_response
from .call import Call, Route, Routes
from .rights import may
from .service import Service
from .tested import tested
from .tokens import Tokens
from .world import Project, World

HOST = "cloudresourcemanager.googleapis.com"
_MADE = "2020-01-01T00:00:00.000Z"
_GET = "resourcemanager.projects.get"


def resource_manager(ground: Ground, world: World, tokens: Tokens) -> Service:
    return Service(HOST, world, tokens, ground.faults, Projects(ground, world).routes, _denied)


class Projects:
    """v1 and v3 differ in how a project looks, and in what is heard by who may not."""

    def __init__(self, ground: Ground, world: World) -> None:
        self._world = world
        self._faults = ground.faults

    @property
    def routes(self) -> Routes:
        item, verb = "projects/{}", "resourcemanager.projects."
        return {
            ("GET", "projects"): Route(f"{verb}list", self.list, writes=False, everybody=True),
            ("GET", "projects:search"): Route(
                f"{verb}search", self.list, writes=False, everybody=True
            ),
            ("GET", item): Route(_GET, self.get, writes=False),
            ("POST", f"{item}:getIamPolicy"): Route(
                f"{verb}getIamPolicy", self.policy, writes=False
            ),
            ("POST", f"{item}:setIamPolicy"): Route(f"{verb}setIamPolicy", self.set),
            ("POST", f"{item}:testIamPermissions"): Route(
                f"{verb}testIamPermissions", self.test, writes=False, everybody=True
            ),
        }

    def list(self, call: Call) -> Response:
        mine = [
            one
            for one in self._world.projects.values()
            if may(self._world, call.caller, _GET, f"projects/{one.id}", self._faults.deny)
        ]
        return json_response({"projects": [shown(one, call.address.version) for one in mine]})

    def get(self, call: Call) -> Response:
        return json_response(shown(self._found(call), call.address.version))

    def policy(self, call: Call) -> Response:
        version = policies.requested(call.part("options").get("requestedPolicyVersion"))
        return json_response(policies.shown(self._found(call).policy, version))

    def set(self, call: Call) -> Response:
        found = self._found(call)
        policies.replace(self._world, found.policy, call.policy(), found, public=False)
        return json_response(policies.shown(found.policy, 3))

    def test(self, call: Call) -> Response:
        """Of a project that is not there, one has no permission."""
        return tested(call, self._world, call.address.resource, self._faults.deny)

    def _found(self, call: Call) -> Project:
        found = self._world.project(call.address.project)
        if found is None:
            raise _denied(call, _GET)
        return found


def shown(one: Project, version: str) -> dict[str, Any]:
    if version == "v1":
        return {
            "projectNumber": one.number,
            "projectId": one.id,
            "lifecycleState": one.state,
            "name": one.id,
            "createTime": _MADE,
        }
    own = {
        "name": f"projects/{one.number}",
        "projectId": one.id,
        "state": one.state,
        "displayName": one.id,
        "createTime": _MADE,
    }
    return {**own, "updateTime": _MADE, "etag": 'W/"0123456789abcdef"'}


def _denied(call: Call, permission: str) -> Refusal:
    if call.address.version == "v1":
        return Refusal(403, "PERMISSION_DENIED", "The caller does not have permission")
    return answers.denied(permission, call.address.resource, HOST)
