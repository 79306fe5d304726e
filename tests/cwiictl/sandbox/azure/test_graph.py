"""Graph, as far as tools ask it whom they give a role."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from cwiictl.sandbox.azure.world import CLIENT, OPERATOR, PERSON
from tests.cwiictl.sandbox.azure.manager import Manager, error
from tests.cwiictl.sandbox.azure.tenant import MANAGEMENT, Tenant
from tests.cwiictl.sandbox.front import Clock
from tests.cwiictl.sandbox.visitor import Answer

Begin = Callable[..., Tenant]
GRAPH = "https://graph.microsoft.com"


def ask(
    tenant: Tenant, method: str, path: str, body: object = None, scope: str = f"{GRAPH}/.default"
) -> Answer:
    bearer = {"Authorization": f"Bearer {tenant.operator.get_token(scope).token}"}
    return tenant.ask(
        method, f"{GRAPH}/v1.0{path}", bearer, json.dumps(body).encode() if body else b""
    )


def found(answer: Answer) -> list[Any]:
    assert answer.status == 200
    return json.loads(answer.body)["value"]


def test_a_service_principal_is_found_by_the_name_that_az_asks_for(tenant: Tenant) -> None:
    asked = quote(f"servicePrincipalNames/any(c:c eq '{CLIENT}')")
    assert [
        one["id"] for one in found(ask(tenant, "GET", f"/servicePrincipals?$filter={asked}"))
    ] == [OPERATOR]
    other = quote(f"appId eq '{PERSON}'")
    assert found(ask(tenant, "GET", f"/servicePrincipals?$filter={other}")) == []


def test_ids_have_names(manager: Manager) -> None:
    manager.group()
    one = manager.identity("csi")
    rows = found(
        ask(
            manager.tenant,
            "POST",
            "/directoryObjects/getByIds",
            {"ids": [one.principal_id, PERSON], "types": ["user"]},
        )
    )
    assert [(row["@odata.type"], row["displayName"]) for row in rows] == [
        ("#microsoft.graph.user", PERSON),
        ("#microsoft.graph.servicePrincipal", "csi"),
    ]
    shown = json.loads(ask(manager.tenant, "GET", f"/servicePrincipals/{one.principal_id}").body)
    assert (shown["appId"], shown["servicePrincipalType"]) == (one.client_id, "ManagedIdentity")
    shown = json.loads(
        ask(manager.tenant, "GET", f"/servicePrincipals(appId='{one.client_id}')").body
    )
    assert shown["id"] == one.principal_id


def test_a_new_identity_is_unknown_for_a_while(begin: Begin) -> None:
    clock = Clock()
    manager = Manager(begin(clock=clock, lag=10.0))
    manager.group()
    one = manager.identity()
    path = f"/servicePrincipals/{one.principal_id}"
    assert error(ask(manager.tenant, "GET", path))[:2] == (404, "Request_ResourceNotFound")
    clock.now += 10
    assert ask(manager.tenant, "GET", path).status == 200


def test_a_token_for_arm_is_none_for_graph(tenant: Tenant) -> None:
    assert error(ask(tenant, "GET", "/servicePrincipals", scope=MANAGEMENT))[0] == 401


def test_nothing_else_is_there(tenant: Tenant) -> None:
    assert error(ask(tenant, "GET", "/applications"))[0] == 400
