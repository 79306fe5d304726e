"""Service Usage: which APIs are on in a project, and turning them on."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from cwiictl.sandbox.exchange import Response
from cwiictl.sandbox.places import Ground

from . import apis, operations
from .answers import Refusal, invalid, json_response
from .call import Call, Route, Routes, texts
from .pages import listed
from .service import Service
from .tokens import Tokens
from .world import Project, World

HOST = "serviceusage.googleapis.com"
_MOST = 20  # at once
_KIND = "google.api.serviceusage.v1."


def service_usage(ground: Ground, world: World, tokens: Tokens) -> Service:
    return Service(HOST, world, tokens, ground.faults, Services(ground, world).routes, _denied)


class Services:
    def __init__(self, ground: Ground, world: World) -> None:
        self._world = world
        self._faults = ground.faults

    @property
    def routes(self) -> Routes:
        every, item, verb = (
            "projects/{}/services",
            "projects/{}/services/{}",
            "serviceusage.services.",
        )
        return {
            ("GET", every): Route(f"{verb}list", self.list, writes=False),
            ("GET", item): Route(f"{verb}get", self.get, writes=False),
            ("GET", f"{every}:batchGet"): Route(f"{verb}get", self.batch_get, writes=False),
            ("POST", f"{item}:enable"): Route(f"{verb}enable", self.enable),
            ("POST", f"{every}:batchEnable"): Route(f"{verb}enable", self.batch_enable),
            ("POST", f"{item}:disable"): Route(f"{verb}disable", self.disable),
            ("GET", "operations/{}"): Route(
                "serviceusage.operations.get", self.poll, writes=False, everybody=True
            ),
        }

    def list(self, call: Call) -> Response:
        where, asked = self._project(call), call.asked.get("filter", "")
        names = sorted({*apis.TITLES, *where.services})
        rows = [
            one
            for one in (self._shown(where, name) for name in names)
            if not asked or asked == f"state:{one['state']}"
        ]
        return listed(call, "services", rows, 50, 200)

    def get(self, call: Call) -> Response:
        where = self._project(call)
        return json_response(self._shown(where, _known(where, call.address.name)))

    def batch_get(self, call: Call) -> Response:
        where = self._project(call)
        names = [_known(where, one.rpartition("/")[2]) for one in call.every("names")]
        _check_count(names, 30)
        return json_response({"services": [self._shown(where, name) for name in names]})

    def enable(self, call: Call) -> Response:
        where = self._project(call)
        name = _known(where, call.address.name)
        return self._enabled(
            where, [name], "EnableServiceResponse", lambda: {"service": self._shown(where, name)}
        )

    def batch_enable(self, call: Call) -> Response:
        where = self._project(call)
        names = [_known(where, one) for one in texts(call.body.get("serviceIds"), "service_ids")]
        _check_count(names, _MOST)
        return self._enabled(
            where,
            names,
            "BatchEnableServicesResponse",
            lambda: {"services": [self._shown(where, name) for name in names]},
        )

    def disable(self, call: Call) -> Response:
        where = self._project(call)
        name = _known(where, call.address.name)
        where.services.pop(name, None)
        return operations.begun(
            self._world,
            _prefix(where),
            f"{_KIND}DisableServiceResponse",
            lambda: {"service": self._shown(where, name)},
            self._done(),
        )

    def poll(self, call: Call) -> Response:
        return operations.polled(self._world, call.address.resource)

    def _enabled(
        self, where: Project, names: list[str], kind: str, told: Callable[[], dict[str, Any]]
    ) -> Response:
        """It is on when the operation is done; what was on already needs none."""
        new = [name for name in names if name not in where.services]
        if not new:
            return json_response(
                {
                    "name": "operations/noop.DONE_OPERATION",
                    "done": True,
                    "response": {"@type": f"type.googleapis.com/{_KIND}{kind}", **told()},
                }
            )
        for name in new:
            where.services[name] = self._done()
        return operations.begun(self._world, _prefix(where), f"{_KIND}{kind}", told, self._done())

    def _done(self) -> float:
        return self._world.clock() + self._faults.deploy

    def _shown(self, where: Project, name: str) -> dict[str, Any]:
        on = where.services.get(name)
        state = "DISABLED" if on is None or on > self._world.clock() else "ENABLED"
        config = {"name": name, "title": apis.TITLES.get(name, name)}
        return {
            "name": f"projects/{where.number}/services/{name}",
            "config": config,
            "state": state,
            "parent": f"projects/{where.number}",
        }

    def _project(self, call: Call) -> Project:
        found = self._world.project(call.address.project)
        if found is None:
            raise _denied(call, "serviceusage.services.get")
        return found


def _known(where: Project, name: str) -> str:
    if name in apis.TITLES or name in where.services:
        return name
    words = f"Not found or permission denied for service(s): {name}."
    told = {"services": name}
    raise Refusal(
        403,
        "PERMISSION_DENIED",
        words,
        reason="SERVICE_CONFIG_NOT_FOUND_OR_PERMISSION_DENIED",
        domain=HOST,
        metadata=told,
    )


def _check_count(names: list[str], most: int) -> None:
    if not 1 <= len(names) <= most:
        raise invalid(f"From 1 to {most} services can be named at once, not {len(names)}.")


def _prefix(where: Project) -> str:
    return f"operations/acat.p2-{where.number}-{secrets.token_hex(4)}-"


def _denied(call: Call, permission: str) -> Refusal:
    """Which permission it was is not told."""
    words = "The caller does not have permission"
    if permission.endswith(("enable", "disable")):
        named = (
            call.address.name
            if call.address.verb in {"enable", "disable"}
            else ", ".join(texts(call.body.get("serviceIds"), "service_ids"))
        )
        words = f"Permission denied to {permission.rpartition('.')[2]} service [{named}]"
    return Refusal(403, "PERMISSION_DENIED", words, reason="AUTH_PERMISSION_DENIED", domain=HOST)
