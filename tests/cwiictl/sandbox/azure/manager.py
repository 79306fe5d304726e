"""Somebody who manages Azure with its own SDKs, and what they hear when it is refused."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError
from azure.mgmt.authorization import AuthorizationManagementClient
from azure.mgmt.msi import ManagedServiceIdentityClient
from azure.mgmt.resource.resources import ResourceManagementClient
from azure.mgmt.storage import StorageManagementClient

from cwiictl.sandbox.azure.world import SUBSCRIPTION
from tests.cwiictl.sandbox.azure.tenant import MANAGEMENT, Tenant
from tests.cwiictl.sandbox.visitor import Answer

HERE = f"/subscriptions/{SUBSCRIPTION}"
GROUP = f"{HERE}/resourceGroups/g"
ACCOUNTS = f"{GROUP}/providers/Microsoft.Storage/storageAccounts"
IDENTITIES = f"{GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities"
READER = "acdd72a7-3385-48ef-bd42-f606fba81ae7"
WEST = "westeurope"


@dataclass
class Manager:
    tenant: Tenant
    subscription: str = SUBSCRIPTION

    def client(self, kind: Callable[..., Any]) -> Any:
        host = self.tenant.cloud.management
        options = {**self.tenant.options, "polling_interval": 0}
        return kind(
            self.tenant.operator,
            self.subscription,
            base_url=f"https://{host}",
            credential_scopes=[f"https://{host}/.default"],
            **options,
        )

    @cached_property
    def resources(self) -> Any:
        return self.client(ResourceManagementClient)

    @cached_property
    def groups(self) -> Any:
        return self.resources.resource_groups

    @cached_property
    def msi(self) -> Any:
        return self.client(ManagedServiceIdentityClient)

    @cached_property
    def identities(self) -> Any:
        return self.msi.user_assigned_identities

    @cached_property
    def credentials(self) -> Any:
        return self.msi.federated_identity_credentials

    @cached_property
    def storage(self) -> Any:
        return self.client(StorageManagementClient)

    @cached_property
    def authorization(self) -> Any:
        return self.client(AuthorizationManagementClient)

    @cached_property
    def assignments(self) -> Any:
        return self.authorization.role_assignments

    @cached_property
    def definitions(self) -> Any:
        return self.authorization.role_definitions

    def group(self, name: str = "g", location: str = WEST, **more: Any) -> Any:
        return self.groups.create_or_update(name, {"location": location, **more})

    def identity(self, name: str = "one", group: str = "g", **more: Any) -> Any:
        return self.identities.create_or_update(group, name, {"location": WEST, **more})

    def trust(self, name: str = "fic", identity: str = "one", **changes: Any) -> Any:
        own = {
            "issuer": "https://issuer.example.org",
            "subject": f"system:serviceaccount:n:{name}",
            "audiences": ["openshift"],
            **changes,
        }
        return self.credentials.create_or_update("g", identity, name, {"properties": own})

    def account(
        self, name: str = "cwiioidc", group: str = "g", location: str = WEST, **properties: Any
    ) -> Any:
        wanted = {
            "location": location,
            "sku": {"name": "Standard_LRS"},
            "kind": "StorageV2",
            "properties": properties,
        }
        return self.storage.storage_accounts.begin_create(group, name, wanted).result()

    def assign(
        self, scope: str, principal: str, role: str = READER, name: str = "", **more: Any
    ) -> Any:
        own = {
            "roleDefinitionId": definition(role),
            "principalId": principal,
            "principalType": "ServicePrincipal",
            **more,
        }
        return self.assignments.create(scope, name or str(uuid.uuid4()), {"properties": own})

    def define(
        self, name: str, guid: str = "", scopes: tuple[str, ...] = (HERE,), **permission: list[str]
    ) -> Any:
        own = {
            "roleName": name,
            "type": "CustomRole",
            "assignableScopes": list(scopes),
            "permissions": [permission or {"actions": ["*/read"]}],
        }
        return self.definitions.create_or_update(
            HERE, guid or str(uuid.uuid4()), {"properties": own}
        )

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        version: str = "2022-09-01",
        **headers: str,
    ) -> Answer:
        """To the letter, with the operator's token."""
        bearer = {"Authorization": f"Bearer {self.tenant.operator.get_token(MANAGEMENT).token}"}
        sent = json.dumps(body).encode() if body is not None else b""
        query = f"{'&' if '?' in path else '?'}api-version={version}" if version else ""
        return self.tenant.ask(
            method,
            f"https://{self.tenant.cloud.management}{path}{query}",
            {**bearer, **headers},
            sent,
        )


def definition(role: str) -> str:
    return f"{HERE}/providers/Microsoft.Authorization/roleDefinitions/{role}"


def told(call: Callable[[], Any]) -> tuple[int | None, str]:
    status, code, _ = heard(call)
    return status, code


def heard(call: Callable[[], Any]) -> tuple[int | None, str, str]:
    """Status, code and sentence of what was refused."""
    with pytest.raises(HttpResponseError) as caught:
        list_of(call())
    error: Any = caught.value.error
    return caught.value.status_code, error.code, error.message


def list_of(found: Any) -> list[Any]:
    return list(found) if hasattr(found, "by_page") else [found]


def error(answer: Answer) -> tuple[int, str, str]:
    found = json.loads(answer.body)["error"]
    return answer.status, found["code"], found["message"]
