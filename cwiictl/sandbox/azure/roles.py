"""Azure's own role definitions, with the GUIDs that they have everywhere; of the some hundred, those that are met in this field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .world import LONG_AGO, Role

OWNER = "8e3af657-a8ff-443c-a75c-2fe8c4bcb635"
CREATED = "2015-02-02T21:55:09.8806423Z"

_BLOBS = "Microsoft.Storage/storageAccounts/blobServices/containers/blobs"
_CONTAINERS = "Microsoft.Storage/storageAccounts/blobServices/containers"
_DELEGATE = "Microsoft.Storage/storageAccounts/blobServices/generateUserDelegationKey/action"
_ASSIGN = (
    "Microsoft.Authorization/roleAssignments/write",
    "Microsoft.Authorization/roleAssignments/delete",
    "*/read",
    "Microsoft.Support/*",
)
_READS = (
    "Microsoft.Authorization/*/read", "Microsoft.Insights/alertRules/*", "Microsoft.ResourceHealth/availabilityStatuses/read",
    "Microsoft.Resources/deployments/*",
    "Microsoft.Resources/subscriptions/resourceGroups/read", "Microsoft.Support/*",
)  # fmt: skip
_NET = "Microsoft.Network"
_STORAGE = "Microsoft.Storage/storageAccounts"
_DISKS = (
    "Microsoft.Compute/disks/*",
    "Microsoft.Compute/snapshots/*",
    "Microsoft.Compute/virtualMachines/read",
    "Microsoft.Compute/virtualMachines/write",
)
_BALANCING = (
    f"{_NET}/loadBalancers/*",
    f"{_NET}/publicIPAddresses/*",
    f"{_NET}/networkSecurityGroups/*",
    f"{_NET}/virtualNetworks/subnets/join/action",
)


def _role(
    name: str,
    actions: tuple[str, ...] = (),
    data: tuple[str, ...] = (),
    but: tuple[str, ...] = (),
) -> Mapping[str, Any]:
    permission = {
        "actions": list(actions),
        "notActions": list(but),
        "dataActions": list(data),
        "notDataActions": [],
    }
    return {
        "roleName": name, "type": "BuiltInRole", "description": f"{name} (built in)", "assignableScopes": ["/"], "permissions": [permission],
        "createdOn": CREATED, "updatedOn": CREATED, "createdBy": None, "updatedBy": None,
    }  # fmt: skip


_TABLE: dict[str, Mapping[str, Any]] = {
    OWNER: _role("Owner", ("*",)),
    "b24988ac-6180-42a0-ab88-20f7382dd24c": _role(
        "Contributor",
        ("*",),
        but=(
            "Microsoft.Authorization/*/Delete", "Microsoft.Authorization/*/Write", "Microsoft.Authorization/elevateAccess/Action",
            "Microsoft.Blueprint/blueprintAssignments/write", "Microsoft.Blueprint/blueprintAssignments/delete",
            "Microsoft.Compute/galleries/share/action", "Microsoft.Purview/consents/write", "Microsoft.Purview/consents/delete",
        ),
    ),
    "acdd72a7-3385-48ef-bd42-f606fba81ae7": _role("Reader", ("*/read",)),
    "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9": _role("User Access Administrator", ("*/read", "Microsoft.Authorization/*", "Microsoft.Support/*")),
    "f58310d9-a9f6-439a-9e8d-f62e7b41a168": _role("Role Based Access Control Administrator", _ASSIGN),
    "b7e6dc6d-f1e8-4753-8033-0f276bb0955b": _role("Storage Blob Data Owner", (f"{_CONTAINERS}/*", _DELEGATE), (f"{_BLOBS}/*",)),
    "ba92f5b4-2d11-453d-a403-e96b0029c9fe": _role(
        "Storage Blob Data Contributor",
        (f"{_CONTAINERS}/delete", f"{_CONTAINERS}/read", f"{_CONTAINERS}/write", _DELEGATE),
        (f"{_BLOBS}/delete", f"{_BLOBS}/read", f"{_BLOBS}/write", f"{_BLOBS}/move/action", f"{_BLOBS}/add/action"),
    ),
    "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1": _role("Storage Blob Data Reader", (f"{_CONTAINERS}/read", _DELEGATE), (f"{_BLOBS}/read",)),
    "db58b8e5-c6ad-4a2a-8342-4190687cbf4a": _role("Storage Blob Delegator", (_DELEGATE,)),
    "17d1049b-9a84-46fb-8f53-869881c3d3ab": _role(
        "Storage Account Contributor",
        (*_READS, "Microsoft.Insights/diagnosticSettings/*", f"{_NET}/virtualNetworks/subnets/joinViaServiceEndpoint/action", f"{_STORAGE}/*"),
    ),
    "81a9662b-bebf-436f-a333-f67b29880f12": _role(
        "Storage Account Key Operator Service Role", (f"{_STORAGE}/listkeys/action", f"{_STORAGE}/regeneratekey/action")
    ),
    "c12c1c16-33a1-487b-954d-41c89c60f349": _role(
        "Reader and Data Access", (f"{_STORAGE}/listKeys/action", f"{_STORAGE}/ListAccountSas/action", f"{_STORAGE}/read")
    ),
    "4d97b98b-1d4f-4787-a291-c67834d212e7": _role("Network Contributor", (*_READS, f"{_NET}/*")),
    "befefa01-2a29-4197-83a8-272ff33ce314": _role("DNS Zone Contributor", (*_READS, f"{_NET}/dnsZones/*")),
    "b12aa53e-6015-4669-85d0-8515ebb3ae7f": _role(
        "Private DNS Zone Contributor",
        (*_READS, f"{_NET}/privateDnsZones/*", f"{_NET}/privateDnsOperationResults/*", f"{_NET}/virtualNetworks/read", f"{_NET}/virtualNetworks/join/action"),
    ),
    "9980e02c-c2be-4d73-94e8-173b1dc7cf3c": _role(
        "Virtual Machine Contributor",
        (*_READS, "Microsoft.Compute/availabilitySets/*", "Microsoft.Compute/virtualMachines/*", "Microsoft.Compute/virtualMachineScaleSets/*", *_DISKS[:1],
         f"{_NET}/networkInterfaces/*", f"{_NET}/loadBalancers/read", f"{_NET}/virtualNetworks/read", f"{_NET}/virtualNetworks/subnets/join/action",
         f"{_STORAGE}/listKeys/action", f"{_STORAGE}/read"),
    ),
    "12338af0-0e69-4776-bea7-57ae8d297424": _role(
        "Key Vault Crypto User",
        data=tuple(f"Microsoft.KeyVault/vaults/keys/{verb}" for verb in (
            "read", "update/action", "backup/action", "encrypt/action", "decrypt/action", "wrap/action", "unwrap/action", "sign/action", "verify/action",
        )),
    ),
    "4633458b-17de-408a-b874-0445c86b69e6": _role(
        "Key Vault Secrets User", data=("Microsoft.KeyVault/vaults/secrets/getSecret/action", "Microsoft.KeyVault/vaults/secrets/readMetadata/action")
    ),
    "f1a07417-d97a-45cb-824c-7a7467783830": _role(
        "Managed Identity Operator",
        ("Microsoft.ManagedIdentity/userAssignedIdentities/*/read", "Microsoft.ManagedIdentity/userAssignedIdentities/*/assign/action", *_READS),
    ),
    "e40ec5ca-96e0-45a2-b4ff-59039f2c2b59": _role(
        "Managed Identity Contributor",
        tuple(f"Microsoft.ManagedIdentity/userAssignedIdentities/{verb}" for verb in (
            "read", "write", "delete", "federatedIdentityCredentials/read", "federatedIdentityCredentials/write", "federatedIdentityCredentials/delete",
            "revokeTokens/action",
        )) + _READS,
    ),
    "7f951dda-4ed3-4680-a7ca-43fe172d538d": _role("AcrPull", ("Microsoft.ContainerRegistry/registries/pull/read",)),
    "8311e382-0749-4cb8-b61a-304f252e45ec": _role(
        "AcrPush", ("Microsoft.ContainerRegistry/registries/pull/read", "Microsoft.ContainerRegistry/registries/push/write")
    ),
    "43d0d8ad-25c7-4714-9337-8ba259a9fe05": _role(
        "Monitoring Reader", ("*/read", "Microsoft.OperationalInsights/workspaces/search/action", "Microsoft.Support/*")
    ),
    "a1f96423-95ce-4224-ab27-4e3dc72facd4": _role(
        "Azure Red Hat OpenShift Cloud Controller Manager", ("Microsoft.Compute/virtualMachines/read", *_BALANCING)),
    "0336e1d3-7a87-462b-b6db-342b63f7802c": _role(
        "Azure Red Hat OpenShift Cluster Ingress Operator",
        (*(f"{_NET}/{zone}/A/{verb}" for zone in ("dnsZones", "privateDnsZones") for verb in ("write", "delete")),
         f"{_NET}/virtualNetworks/subnets/read", f"{_NET}/virtualNetworks/subnets/join/action"),
    ),
    "0d7aedc0-15fd-4a67-a412-efad370c947e": _role(
        "Azure Red Hat OpenShift File Storage Operator",
        (f"{_STORAGE}/*", f"{_NET}/networkSecurityGroups/join/action", f"{_NET}/privateEndpoints/*", f"{_NET}/privateDnsZones/*",
         f"{_NET}/virtualNetworks/*/read"),
    ),
    "5b7237c5-45e1-49d6-bc18-a1f62f400748": _role(
        "Azure Red Hat OpenShift Disk Storage Operator", (*_DISKS, "Microsoft.Resources/subscriptions/resourceGroups/read")),
    "be7a6435-15ae-4171-8f30-4a343eff9e8f": _role(
        "Azure Red Hat OpenShift Network Operator",
        (f"{_NET}/networkInterfaces/read", f"{_NET}/networkInterfaces/write", f"{_NET}/virtualNetworks/read", f"{_NET}/virtualNetworks/subnets/join/action",
         "Microsoft.Compute/virtualMachines/read"),
    ),
    "8b32b316-c2f5-4ddf-b05b-83dacd2d08b5": _role(
        "Azure Red Hat OpenShift Image Registry Operator",
        (f"{_STORAGE}/blobServices/*", f"{_STORAGE}/read", f"{_STORAGE}/write", f"{_STORAGE}/delete", f"{_STORAGE}/listKeys/action",
         "Microsoft.Resources/tags/write", f"{_NET}/privateEndpoints/*", f"{_NET}/privateDnsZones/*"),
        (f"{_BLOBS}/add/action", f"{_BLOBS}/delete", f"{_BLOBS}/move/action", f"{_BLOBS}/read", f"{_BLOBS}/write"),
    ),
    "0358943c-7e01-48ba-8889-02cc51d78637": _role(
        "Azure Red Hat OpenShift Machine API Operator", ("Microsoft.Compute/virtualMachines/*", *_DISKS, *_BALANCING)),
    "4436bae4-7702-4c84-919b-c4069ff25ee2": _role(
        "Azure Red Hat OpenShift Service Operator",
        (f"{_NET}/virtualNetworks/subnets/read", f"{_NET}/virtualNetworks/subnets/write", f"{_STORAGE}/listKeys/action")
    ),
    "ef318e2a-8334-4a05-9e4a-295a196c6a6e": _role(
        "Azure Red Hat OpenShift Federated Credential",
        tuple(f"Microsoft.ManagedIdentity/userAssignedIdentities/{verb}" for verb in (
            "read", "federatedIdentityCredentials/read", "federatedIdentityCredentials/write", "federatedIdentityCredentials/delete",
        )),
    ),
    "88366f10-ed47-4cc0-9fab-c8a06148393e": _role(
        "Azure Red Hat OpenShift Hosted Control Planes Cluster API Provider", ("Microsoft.Compute/virtualMachines/*", *_DISKS, *_BALANCING)
    ),
    "fc0c873f-45e9-4d0d-a7d1-585aab30c6ed": _role("Azure Red Hat OpenShift Hosted Control Planes Control Plane Operator", _BALANCING),
    "c0ff367d-66d8-445e-917c-583feb0ef0d4": _role("Azure Red Hat OpenShift Hosted Control Planes Service Managed Identity", (*_READS, *_BALANCING)),
    "7d8bb4e4-6fa7-4545-96cf-20fce11b705d": _role("Azure Red Hat OpenShift Control Plane Operator Role", _BALANCING),
}  # fmt: skip


def built_in() -> dict[str, Role]:
    return {guid: Role(guid, properties, LONG_AGO) for guid, properties in _TABLE.items()}
