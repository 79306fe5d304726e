"""What gRPC calls are over REST: method, path and body, as the services' own definitions annotate them."""

from __future__ import annotations

from dataclasses import dataclass

_ACCOUNTS = "v1/{name}/serviceAccounts"
_PERMISSIONS = "v1/{resource}:testIamPermissions"


@dataclass(frozen=True)
class Method:
    """`path` names fields of the message in braces; `body` is a field of it, `*` all that is left. What is in neither is asked in the query."""

    verb: str
    path: str
    reply: str  # the message that answers
    body: str = ""
    message: str = ""  # the message that asks, if it is not the method's name and Request

    def asks(self, name: str) -> str:
        return self.message or f"{name}Request"


IAM = {
    "ListServiceAccounts": Method("GET", _ACCOUNTS, "ListServiceAccountsResponse"),
    "GetServiceAccount": Method("GET", "v1/{name}", "ServiceAccount"),
    "CreateServiceAccount": Method("POST", _ACCOUNTS, "ServiceAccount", "*"),
    "UpdateServiceAccount": Method("PUT", "v1/{name}", "ServiceAccount", "*", "ServiceAccount"),
    "PatchServiceAccount": Method("PATCH", "v1/{service_account.name}", "ServiceAccount", "*"),
    "DeleteServiceAccount": Method("DELETE", "v1/{name}", "Empty"),
    "UndeleteServiceAccount": Method(
        "POST", "v1/{name}:undelete", "UndeleteServiceAccountResponse", "*"
    ),
    "EnableServiceAccount": Method("POST", "v1/{name}:enable", "Empty", "*"),
    "DisableServiceAccount": Method("POST", "v1/{name}:disable", "Empty", "*"),
    "ListServiceAccountKeys": Method("GET", "v1/{name}/keys", "ListServiceAccountKeysResponse"),
    "GetServiceAccountKey": Method("GET", "v1/{name}", "ServiceAccountKey"),
    "CreateServiceAccountKey": Method("POST", "v1/{name}/keys", "ServiceAccountKey", "*"),
    "DeleteServiceAccountKey": Method("DELETE", "v1/{name}", "Empty"),
    "GetIamPolicy": Method("POST", "v1/{resource}:getIamPolicy", "Policy"),
    "SetIamPolicy": Method("POST", "v1/{resource}:setIamPolicy", "Policy", "*"),
    "TestIamPermissions": Method("POST", _PERMISSIONS, "TestIamPermissionsResponse", "*"),
    "QueryGrantableRoles": Method(
        "POST", "v1/roles:queryGrantableRoles", "QueryGrantableRolesResponse", "*"
    ),
    "QueryTestablePermissions": Method(
        "POST", "v1/permissions:queryTestablePermissions", "QueryTestablePermissionsResponse", "*"
    ),
    "ListRoles": Method("GET", "v1/{parent}/roles", "ListRolesResponse"),
    "GetRole": Method("GET", "v1/{name}", "Role"),
    "CreateRole": Method("POST", "v1/{parent}/roles", "Role", "*"),
    "UpdateRole": Method("PATCH", "v1/{name}", "Role", "role"),
    "DeleteRole": Method("DELETE", "v1/{name}", "Role"),
    "UndeleteRole": Method("POST", "v1/{name}:undelete", "Role", "*"),
}
CREDENTIALS = {
    "GenerateAccessToken": Method(
        "POST", "v1/{name}:generateAccessToken", "GenerateAccessTokenResponse", "*"
    ),
}
SERVICES = {"google.iam.admin.v1.IAM": IAM, "google.iam.credentials.v1.IAMCredentials": CREDENTIALS}
