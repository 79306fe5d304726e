"""The same ground for journeys in Azure: what the commands are told there, and what Azure itself says is there."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import jwt
import requests

from cwiictl.sandbox.azure.world import CLIENT, OPERATOR, SECOND, SECRET, SUBSCRIPTION, TENANT
from tests.journeys.ground import NAME, Ground, a_key, kid_of

REGION = "eastus"
GROUP, SITE = f"{NAME}-oidc", NAME  # of the issuer and the identities, and of the cluster
ACCOUNT = CONTAINER = NAME
ISSUER = f"https://{ACCOUNT}.blob.core.windows.net/{CONTAINER}"
WHOLE = f"/subscriptions/{SUBSCRIPTION}"
INGRESS = f"{NAME}-openshift-ingress-operator-cloud-credentials"
REGISTRY = f"{NAME}-openshift-image-registry-installer-cloud-credentials"
SUBJECT = "system:serviceaccount:openshift-ingress-operator:ingress-operator"
NOTHING: dict[str, Any] = {
    "groups": {},
    "accounts": {},
    "identities": {},
    "roles": {},
    "assignments": [],
}
PERMISSIONS = (f"azure/permissions/{CLIENT}", f"azure/permissions/{CLIENT} at {WHOLE}")
OWNER = "8e3af657-a8ff-443c-a75c-2fe8c4bcb635"
READER = "acdd72a7-3385-48ef-bd42-f606fba81ae7"
WRITER = "b7e6dc6d-f1e8-4753-8033-0f276bb0955b"  # Storage Blob Data Owner
LENT = f"azure/lent-role/{ACCOUNT}/{CONTAINER}"
MANAGER = "https://management.azure.com"
VERSIONS = {
    "Microsoft.Storage": "2025-06-01",
    "Microsoft.ManagedIdentity": "2024-11-30",
    "Microsoft.Authorization": "2022-04-01",
    "Microsoft.Network": "2025-03-01",
    "": "2025-04-01",
}


class AzureGround(Ground):
    where = (
        "--cloud",
        "azure",
        "--name",
        NAME,
        "--region",
        REGION,
        "--subscription-id",
        SUBSCRIPTION,
    )

    # --- behind the door, as the operator ---

    @cached_property
    def session(self) -> requests.Session:
        session = requests.Session()
        session.trust_env = False
        session.proxies = {"https": self.sandbox.proxy}
        session.verify = str(self.sandbox.ca_file)
        return session

    def bearer(self, scope: str = f"{MANAGER}/.default") -> dict[str, str]:
        form = {
            "grant_type": "client_credentials",
            "client_id": CLIENT,
            "client_secret": SECRET,
            "scope": scope,
        }
        answer = self.session.post(
            f"https://login.microsoftonline.com/{TENANT}/oauth2/v2.0/token", data=form, timeout=30
        )
        return {"Authorization": f"Bearer {answer.json()['access_token']}"}

    def arm(self, method: str, path: str, body: Any = None) -> Any:
        """None where there is nothing."""
        namespace = next(
            (name for name in VERSIONS if name and name in path.rpartition("/providers/")[2]), ""
        )
        url = f"{MANAGER}{path}{'&' if '?' in path else '?'}api-version={VERSIONS[namespace]}"
        answer = self.session.request(method, url, json=body, headers=self.bearer(), timeout=30)
        if answer.status_code == 404:
            return None
        assert answer.ok, answer.text
        return answer.json() if answer.content else {}

    def changed(self, path: str, **properties: Any) -> Any:
        """By hand, in the portal."""
        found = self.arm("GET", path)
        return self.arm(
            "PUT", path, {**found, "properties": {**found.get("properties", {}), **properties}}
        )

    def blob(self, method: str, path: str, body: str = "", **headers: str) -> requests.Response:
        """With a token, as the operator: whom nothing but a role for data lets write."""
        told = {
            "x-ms-version": "2024-11-04",
            "x-ms-blob-type": "BlockBlob",
            **{f"x-ms-blob-{key.replace('_', '-')}": value for key, value in headers.items()},
        }
        url = f"https://{ACCOUNT}.blob.core.windows.net/{CONTAINER}/{path}"
        return self.session.request(
            method,
            url,
            data=body.encode(),
            headers={**self.bearer("https://storage.azure.com/.default"), **told},
            timeout=30,
        )

    @contextmanager
    def writing(self) -> Generator[None]:
        """The operator may write blobs for a while, as somebody gave it by hand."""
        given = self.granted(f"{WHOLE}/resourceGroups/{GROUP}", WRITER, OPERATOR)
        yield
        self.arm("DELETE", given)

    def granted(self, scope: str, role: str, principal: str, description: str | None = None) -> str:
        """A role that somebody gives by hand: the address of that."""
        path = f"{scope}/providers/Microsoft.Authorization/roleAssignments/{uuid.uuid4()}"
        definition = f"{WHOLE}/providers/Microsoft.Authorization/roleDefinitions/{role}"
        properties = {
            "roleDefinitionId": definition,
            "principalId": principal,
            "principalType": "ServicePrincipal",
            "description": description,
        }
        self.arm("PUT", path, {"properties": properties})
        return path

    def listed(self, path: str) -> list[Any]:
        return list(self.arm("GET", path)["value"])

    def identity(self, title: str) -> str:
        """The address of one in the issuer's group."""
        return f"{WHOLE}/resourceGroups/{GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{title}"

    def given(self) -> dict[str, str]:
        """The ids that Azure has given, with words for them. Some begin so that YAML puts them in quotes."""
        identities = self.listed(
            f"{WHOLE}/providers/Microsoft.ManagedIdentity/userAssignedIdentities"
        )
        ids = {
            each["properties"][key]: f"{key} of {each['name']}"
            for each in identities
            for key in ("clientId", "principalId")
        }
        return {f"'{id_}'": word for id_, word in ids.items()} | ids

    def clouds(self) -> dict[str, Any]:
        """All that is in both subscriptions, without what is different each time: ids, dates."""
        identities = self.listed(
            f"{WHOLE}/providers/Microsoft.ManagedIdentity/userAssignedIdentities"
        )
        who = {each["properties"]["principalId"]: each["name"] for each in identities}
        return {
            "groups": {
                each["name"]: {"location": each["location"], "tags": each.get("tags", {})}
                for each in self.listed(f"{WHOLE}/resourcegroups")
            },
            "accounts": {
                each["name"]: self._account(each)
                for each in self.listed(f"{WHOLE}/providers/Microsoft.Storage/storageAccounts")
            },
            "identities": {each["name"]: self._identity(each) for each in identities},
            "roles": {each["properties"]["roleName"]: _role(each) for each in self.custom_roles()},
            "assignments": sorted(
                (_assignment(each, who) for each in self.assignments()),
                key=lambda each: json.dumps(each, sort_keys=True),
            ),
        }

    def custom_roles(self) -> list[Any]:
        return self.listed(
            f"{WHOLE}/providers/Microsoft.Authorization/roleDefinitions?$filter=type eq 'CustomRole'"
        )

    def assignments(self) -> Iterator[Any]:
        """But for the operator's own, by which all is done."""
        for subscription in (SUBSCRIPTION, SECOND):
            for each in self.listed(
                f"/subscriptions/{subscription}/providers/Microsoft.Authorization/roleAssignments"
            ):
                properties = each["properties"]
                if (
                    properties["principalId"] != OPERATOR
                    or "/resourcegroups/" in properties["scope"].lower()
                ):
                    yield each

    def _account(self, found: Any) -> dict[str, Any]:
        told = (
            "allowBlobPublicAccess",
            "allowSharedKeyAccess",
            "minimumTlsVersion",
            "supportsHttpsTrafficOnly",
        )
        containers = self.listed(f"{found['id']}/blobServices/default/containers")
        return {
            "location": found["location"],
            "kind": found["kind"],
            "tags": found.get("tags", {}),
            **{key: found["properties"].get(key) for key in told},
            "containers": {
                each["name"]: self._container(found["name"], each) for each in containers
            },
        }

    def _container(self, account: str, found: Any) -> dict[str, Any]:
        paths = (".well-known/openid-configuration", "openid/v1/jwks")
        blobs = {
            path: self.session.get(
                f"https://{account}.blob.core.windows.net/{found['name']}/{path}", timeout=30
            )
            for path in paths
        }
        properties = found["properties"]
        documents = {
            path: {
                "contentType": blob.headers["Content-Type"],
                "cacheControl": blob.headers.get("Cache-Control"),
                "body": blob.text,
            }
            for path, blob in blobs.items()
            if blob.ok
        }
        return {
            "public": properties.get("publicAccess"),
            "metadata": properties.get("metadata") or {},
            "documents": documents,
        }

    def _identity(self, found: Any) -> dict[str, Any]:
        credentials = self.listed(f"{found['id']}/federatedIdentityCredentials")
        return {
            "location": found["location"],
            "tags": found.get("tags", {}),
            "credentials": {
                each["name"]: {
                    key: each["properties"][key] for key in ("issuer", "subject", "audiences")
                }
                for each in credentials
            },
        }

    def token(self, number: int = 0, **claims: Any) -> str:
        """As the cluster would sign it with its key."""
        now = int(time.time())
        body = {
            "iss": ISSUER,
            "sub": SUBJECT,
            "aud": ["openshift"],
            "iat": now - 5,
            "exp": now + 600,
            **claims,
        }
        kid = claims.get("kid") or kid_of(a_key(number))
        told = {name: value for name, value in body.items() if name != "kid"}
        return jwt.encode(told, a_key(number), algorithm="RS256", headers={"kid": kid})


def _role(found: Any) -> dict[str, Any]:
    properties = found["properties"]
    return {
        "description": properties["description"],
        "permissions": properties["permissions"],
        "scopes": properties["assignableScopes"],
    }


def _assignment(found: Any, who: dict[str, str]) -> dict[str, Any]:
    properties = found["properties"]
    return {
        "scope": properties["scope"],
        "role": properties["roleDefinitionId"].rpartition("/")[2],
        "principal": who.get(properties["principalId"], "somebody"),
        "type": properties.get("principalType"),
        "description": properties.get("description"),
    }
