"""What can be set on a storage account, what it is when nobody sets it, and what Azure does not take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from cwiictl.sandbox.azure.answers import Refusal
from cwiictl.sandbox.azure.world import TENANT, Account

_SKUS = {
    "Standard_LRS", "Standard_GRS", "Standard_RAGRS", "Standard_ZRS", "Premium_LRS", "Premium_ZRS", "Standard_GZRS", "Standard_RAGZRS",
    "StandardV2_LRS", "StandardV2_GRS", "StandardV2_ZRS", "StandardV2_GZRS", "PremiumV2_LRS", "PremiumV2_ZRS",
}  # fmt: skip
_KINDS = {"Storage", "StorageV2", "BlobStorage", "FileStorage", "BlockBlobStorage"}
_BOOLEANS = ("allowBlobPublicAccess", "allowSharedKeyAccess", "supportsHttpsTrafficOnly", "allowCrossTenantReplication", "defaultToOAuthAuthentication",
             "isHnsEnabled", "isLocalUserEnabled", "isSftpEnabled", "isNfsV3Enabled")  # fmt: skip
_CHOICES = {
    "minimumTlsVersion": {"TLS1_0", "TLS1_1", "TLS1_2", "TLS1_3"},
    "publicNetworkAccess": {"Enabled", "Disabled", "SecuredByPerimeter"},
    "accessTier": {"Hot", "Cool", "Premium", "Cold"},
    "allowedCopyScope": {"PrivateLink", "AAD"},
    "dnsEndpointType": {"Standard", "AzureDnsZone"},
    "largeFileSharesState": {"Enabled", "Disabled"},
}
_OTHERS = (
    "networkAcls",
    "encryption",
    "customDomain",
    "sasPolicy",
    "keyPolicy",
    "routingPreference",
    "immutableStorageWithVersioning",
    "azureFilesIdentityBasedAuthentication",
)
_SERVICES = ("blob", "queue", "table", "file", "dfs", "web")
_ENCRYPTED = {"keyType": "Account", "enabled": True}
ENCRYPTION = {
    "services": {"file": _ENCRYPTED, "blob": _ENCRYPTED},
    "keySource": "Microsoft.Storage",
}


def defaults() -> dict[str, Any]:
    return {
        "allowBlobPublicAccess": False, "allowCrossTenantReplication": False, "minimumTlsVersion": "TLS1_0", "supportsHttpsTrafficOnly": True,
        "accessTier": "Hot", "publicNetworkAccess": "Enabled", "dnsEndpointType": "Standard", "networkAcls": _acls({}),
    }  # fmt: skip


def merged(have: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """What is not asked for, or is null, stays as it is."""
    new = {name: value for name, value in asked.items() if value is not None}
    for name in _BOOLEANS:
        if name in new and not isinstance(new[name], bool):
            raise _invalid(name)
    for name, choices in _CHOICES.items():
        if name in new and new[name] not in choices:
            raise _invalid(name)
    if "networkAcls" in new:
        new["networkAcls"] = _acls(new["networkAcls"])
    known = {*_BOOLEANS, *_CHOICES, *_OTHERS}
    return {
        **have,
        **{name: value for name, value in new.items() if name in known and name != "encryption"},
    }


def sku(body: Mapping[str, Any]) -> str:
    found: object = body.get("sku")
    name = cast("dict[str, Any]", found).get("name") if isinstance(found, dict) else None
    if name not in _SKUS:
        raise _invalid("sku")
    return str(name)


def kind(body: Mapping[str, Any]) -> str:
    if body.get("kind") not in _KINDS:
        raise _invalid("kind")
    return str(body["kind"])


def identity(body: Mapping[str, Any]) -> dict[str, Any] | None:
    found = cast("dict[str, Any]", body.get("identity") or {})
    if found.get("type", "None") == "None":
        return None
    return {**found, "tenantId": TENANT}


def endpoints(account: Account) -> dict[str, str]:
    return {
        service: f"https://{account.name}.{service if service != 'web' else 'z1.web'}.{account.suffix}/"
        for service in _SERVICES
    }


def _acls(found: Mapping[str, Any]) -> dict[str, Any]:
    own: dict[str, Any] = {
        "resourceAccessRules": [],
        "bypass": "AzureServices",
        "virtualNetworkRules": [],
        "ipRules": [],
        "defaultAction": "Allow",
    }
    if found.get("defaultAction", "Allow") not in {"Allow", "Deny"}:
        raise _invalid("defaultAction")
    return {**own, **found}


def _invalid(name: str) -> Refusal:
    return Refusal(
        400,
        "InvalidValuesForRequestParameters",
        f"Values for request parameters are invalid: {name}.",
    )
