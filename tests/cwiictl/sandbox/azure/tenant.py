"""Somebody in Azure, behind the door: the real SDKs' credentials and blob clients, and requests to the letter.

What ARM makes, and ARM's own tests make with its SDKs, is put straight into the world here.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from azure.core.exceptions import HttpResponseError
from azure.identity import ClientSecretCredential
from azure.storage.blob import BlobServiceClient, ContainerClient

from cwiictl.sandbox import Sandbox
from cwiictl.sandbox.azure import Azure, Realm
from cwiictl.sandbox.azure.clouds import CLOUDS, Cloud
from cwiictl.sandbox.azure.entra import Entra, Tokens
from cwiictl.sandbox.azure.world import (
    CLIENT,
    OPERATOR,
    SECRET,
    SUBSCRIPTION,
    TENANT,
    Account,
    Assignment,
    Container,
    Credential,
    Identity,
    Public,
    World,
)
from tests.cwiictl.sandbox.visitor import Answer, Visitor, token

GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/cwii"
ACCOUNT = "cwiioidc"
HOST = f"{ACCOUNT}.blob.core.windows.net"
CONTAINER = "oidc"
ISSUER = f"https://{HOST}/{CONTAINER}"
AUDIENCE = "api://AzureADTokenExchange"
SUBJECT = "system:serviceaccount:kube-system:csi"
WORKLOAD = "cccccccc-0000-4000-8000-000000000001"  # the client id of the identity
STORAGE = "https://storage.azure.com/.default"
MANAGEMENT = "https://management.azure.com/.default"
DATA_OWNER = "b7e6dc6d-f1e8-4753-8033-0f276bb0955b"
DATA_CONTRIBUTOR = "ba92f5b4-2d11-453d-a403-e96b0029c9fe"
DATA_READER = "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1"
VERSION = "2024-11-04"
KEYS = (base64.b64encode(b"first" * 12).decode(), base64.b64encode(b"other" * 12).decode())
LONG_AGO = 0.0


@dataclass
class Tenant:
    sandbox: Sandbox
    cloud: Cloud = CLOUDS[0]

    @cached_property
    def world(self) -> World:
        return self._realm._world  # pyright: ignore[reportPrivateUsage] - the double is looked into from here alone

    @property
    def tokens(self) -> Tokens:
        entra = self._realm.part(self.cloud.authority)
        assert isinstance(entra, Entra)
        return entra._tokens  # pyright: ignore[reportPrivateUsage] - the double is looked into from here alone

    @cached_property
    def _realm(self) -> Realm:
        place = self.sandbox._places.find(self.cloud.authority)  # pyright: ignore[reportPrivateUsage] - the double is looked into from here alone
        assert isinstance(place, Azure)
        return place._realms[self.cloud.name]  # pyright: ignore[reportPrivateUsage] - the double is looked into from here alone

    @property
    def options(self) -> dict[str, Any]:
        return {
            "connection_verify": str(self.sandbox.ca_file),
            "proxies": {"https": self.sandbox.proxy},
            "retry_total": 0,
        }

    @cached_property
    def operator(self) -> ClientSecretCredential:
        return ClientSecretCredential(
            TENANT, CLIENT, SECRET, authority=self.cloud.authority, **self.options
        )

    def account(self, name: str = ACCOUNT, **properties: Any) -> Account:
        known = {"allowBlobPublicAccess": True, **properties}
        one = Account(
            f"{GROUP}/providers/Microsoft.Storage/storageAccounts/{name}",
            name,
            self.cloud.suffix,
            known,
            KEYS,
            LONG_AGO,
        )
        self.world.accounts[name] = one
        return one

    def container(self, public: Public = "None", name: str = CONTAINER) -> Container:
        if ACCOUNT not in self.world.accounts:
            self.account()
        one = self.world.accounts[ACCOUNT].containers[name] = Container(
            name, public, etag='"0x8"', modified=1_700_000_000.0
        )
        return one

    def identity(self, **changes: Any) -> Identity:
        """It trusts one subject of our issuer."""
        path = f"{GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/csi"
        one = Identity(
            path, "csi", WORKLOAD, "dddddddd-0000-4000-8000-000000000001", TENANT, LONG_AGO
        )
        trust: dict[str, Any] = {
            "name": "csi",
            "issuer": ISSUER,
            "subject": SUBJECT,
            "audiences": (AUDIENCE,),
            "born": LONG_AGO,
            **changes,
        }
        one.credentials["csi"] = Credential(**trust)
        self.world.identities[path.lower()] = one
        return one

    def assign(
        self,
        role: str = DATA_CONTRIBUTOR,
        scope: str = "",
        principal: str = OPERATOR,
        born: float = LONG_AGO,
    ) -> None:
        name = f"{scope}/providers/Microsoft.Authorization/roleAssignments/{len(self.world.assignments)}"
        self.world.assignments[name.lower()] = Assignment(
            name, scope or GROUP, role, principal, born
        )

    def blobs(self, credential: Any = None, account: str = ACCOUNT, **more: Any) -> Any:
        return BlobServiceClient(
            f"https://{account}.blob.{self.cloud.suffix}", credential, **{**self.options, **more}
        )

    def files(self, credential: Any = None) -> ContainerClient:
        return self.blobs(credential).get_container_client(CONTAINER)

    def publish(self, key_set: bytes, issuer: str = ISSUER) -> None:
        """What an issuer shows the world, with the account's key."""
        self.container("Blob")
        files = self.files(KEYS[0])
        files.upload_blob(".well-known/openid-configuration", discovery(issuer), overwrite=True)
        files.upload_blob("keys.json", key_set, overwrite=True)

    def ask(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> Answer:
        """One request, to the letter."""
        parts = urlsplit(url)
        connection = Visitor(self.sandbox).connection(parts.netloc)
        try:
            connection.request(
                method,
                (parts.path or "/") + (f"?{parts.query}" if parts.query else ""),
                body or None,
                dict(headers or {}),
            )
            answer = connection.getresponse()
            return Answer(
                answer.status,
                {name.lower(): value for name, value in answer.getheaders()},
                answer.read(),
            )
        finally:
            connection.close()


Begin = Callable[..., Tenant]


def discovery(issuer: str = ISSUER) -> bytes:
    return f'{{"issuer": "{issuer}", "jwks_uri": "{ISSUER}/keys.json"}}'.encode()


def assertion(key: int = 0, kid: str = "k1", **claims: Any) -> str:
    return token(key, kid, **{"iss": ISSUER, "sub": SUBJECT, "aud": [AUDIENCE], **claims})


def refusal(error: HttpResponseError) -> tuple[int | None, str]:
    """Status and code, without the SDK's names for codes."""
    code: Any = getattr(error, "error_code", None)
    return error.status_code, str(getattr(code, "value", code))
