"""Microsoft Graph, as little of it as tools need that give somebody a role: who is it that has this name or this id?"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import unquote, urlsplit

from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.faults import Fault, Faults

from .answers import Refusal, arm_error, json_response
from .clouds import CLOUDS, Cloud
from .entra import Tokens
from .entra.tokens import challenge, expired
from .world import CLIENT, OPERATOR, TENANT, Principal, World

_BY_KIND = {"serviceprincipals": "ServicePrincipal", "users": "User", "groups": "Group"}
_QUOTED = re.compile(r"'([^']*)'")
_FAULTS = {
    Fault.THROTTLED: Refusal(429, "TooManyRequests", "Too many requests.", (("Retry-After", "1"),)),
    Fault.UNAVAILABLE: Refusal(
        503, "serviceNotAvailable", "The service is temporarily unavailable."
    ),
    Fault.BROKEN: Refusal(500, "generalException", "An unspecified error has occurred."),
}


def host(cloud: Cloud) -> str:
    return urlsplit(cloud.others[0]).hostname or ""


BY_GRAPH = {host(cloud): cloud for cloud in CLOUDS}


class Graph:
    def __init__(self, world: World, tokens: Tokens, faults: Faults, cloud: Cloud) -> None:
        self._world = world
        self._tokens = tokens
        self._faults = faults
        self._cloud = cloud

    def action(self, request: Request) -> tuple[str, bool]:
        return f"Graph/{'/'.join(_path(request)[:2])}", False

    def permissions(self, request: Request) -> tuple[str, ...]:
        """Its permissions are not Azure's."""
        del request
        return ()

    def handle(self, request: Request) -> Response:
        try:
            self._tokens.read(request, self._cloud.others)
            with self._world.lock:
                return self._served(request)
        except Refusal as refusal:
            return arm_error(refusal)

    def fault(self, request: Request, fault: Fault) -> Response:
        del request
        return arm_error(_FAULTS[fault])

    def expired(self, request: Request) -> Response | None:
        del request
        now = self._faults.clock()
        code, words = expired(now - 1, now)
        return arm_error(Refusal(401, "InvalidAuthenticationToken", words, challenge(code, words)))

    def reset(self) -> None:
        """It has nothing of its own."""

    def _served(self, request: Request) -> Response:
        kind, name = (*_path(request), "", "")[:2]
        if request.method == "POST" and (kind, name) == ("directoryobjects", "getbyids"):
            asked = {str(one).lower() for one in json.loads(request.body)["ids"]}
            return _listed([one for one in self._everybody() if one["id"] in asked])
        if request.method != "GET" or kind not in {*_BY_KIND, "directoryobjects"}:
            raise Refusal(400, "BadRequest", f"Resource not found for the segment '{kind}'.")
        rows = [
            one
            for one in self._everybody()
            if kind == "directoryobjects"
            or one["@odata.type"].lower().endswith(f".{_BY_KIND[kind].lower()}")
        ]
        return (
            _one(rows, name) if name else _listed(_filtered(rows, request.asked.get("$filter", "")))
        )

    def _everybody(self) -> list[dict[str, Any]]:
        identities = {
            one.principal: (one.client, one.name) for one in self._world.identities.values()
        }
        known = {OPERATOR: (CLIENT, "sandbox-operator"), **identities}
        return [
            _shown(one, *known.get(one.id, ("", one.id)))
            for one in self._world.principals.values()
            if self._world.old(one.born)
        ]


def _path(request: Request) -> list[str]:
    """Without the version; `servicePrincipals(appId='…')` is another way to say which."""
    parts = [
        part
        for part in unquote(request.path).lower().replace("(", "/").replace(")", "").split("/")
        if part
    ]
    return parts[1:]


def _shown(one: Principal, client: str, name: str) -> dict[str, Any]:
    own: dict[str, Any] = {
        "@odata.type": f"#microsoft.graph.{one.kind[0].lower()}{one.kind[1:]}",
        "id": one.id,
        "displayName": name,
    }
    if one.kind != "ServicePrincipal":
        return (
            own | {"userPrincipalName": f"{one.id}@sandbox.onmicrosoft.com"}
            if one.kind == "User"
            else own
        )
    kind = "Application" if one.id == OPERATOR else "ManagedIdentity"
    return {
        **own,
        "appId": client,
        "servicePrincipalNames": [client],
        "servicePrincipalType": kind,
        "appOwnerOrganizationId": TENANT,
    }


def _filtered(rows: list[dict[str, Any]], asked: str) -> list[dict[str, Any]]:
    """Whatever name is compared: what is quoted is an id, an application's id or a display name."""
    words = {word.lower() for word in _QUOTED.findall(asked)}
    return [
        one
        for one in rows
        if not asked
        or words & {str(value).lower() for value in one.values()}
        or words & {*one.get("servicePrincipalNames", ())}
    ]


def _one(rows: list[dict[str, Any]], name: str) -> Response:
    quoted = _QUOTED.search(name)
    word = quoted[1] if quoted else name
    found = next((one for one in rows if word in {one["id"], one.get("appId")}), None)
    if found is None:
        words = f"Resource '{word}' does not exist or one of its queried reference-property objects are not present."
        raise Refusal(404, "Request_ResourceNotFound", words)
    return json_response(200, found)


def _listed(rows: list[dict[str, Any]]) -> Response:
    return json_response(200, {"value": rows})
