"""What others make in Azure by hand, in the portal, or with another tool; and what whoever made it would find changed."""

from __future__ import annotations

import time
import uuid
from typing import Any

from azure.core.credentials import AccessToken
from azure.storage.blob import BlobServiceClient, ContentSettings

from cwiictl.clouds.azure.stores.tags import written
from cwiictl.engine.resource import Mark
from cwiictl.sandbox.azure.world import OPERATOR, SUBSCRIPTION
from tests.journeys.azure.ground import GROUP, REGION, WHOLE, AzureGround

CONTRIBUTOR, READER, BLOBS = (
    "b24988ac-6180-42a0-ab88-20f7382dd24c",
    "acdd72a7-3385-48ef-bd42-f606fba81ae7",
    "ba92f5b4-2d11-453d-a403-e96b0029c9fe",
)
HOUSE, STORE, SHELF = (
    "house",
    "housestore",
    "issuers",
)  # of the user's own: group, account, container
LETTER = "others/letter.txt"
DISCOVERY, JWKS = ".well-known/openid-configuration", "openid/v1/jwks"
LENDING = (
    "Microsoft.Authorization/roleAssignments/write",
    "Microsoft.Authorization/roleAssignments/delete",
)
ROLES = "providers/Microsoft.Authorization/roleDefinitions"
ASSIGNMENTS = "providers/Microsoft.Authorization/roleAssignments"


class _Tagged:
    def __init__(self, owner: Mark | None, **tags: str) -> None:
        self.owner, self.tags = owner, tags


def tags(cluster: str = "", hold: Any = "owned", **further: str) -> dict[str, str]:
    """Those of a cluster of ours, or of nobody."""
    return written(
        _Tagged(
            Mark(cluster, hold) if cluster else None, **(further or {"Name": cluster or "theirs"})
        ),
        None,
    )


def group_id(group: str, subscription: str = SUBSCRIPTION) -> str:
    return f"/subscriptions/{subscription}/resourceGroups/{group}"


def account_id(account: str, group: str = GROUP) -> str:
    return f"{group_id(group)}/providers/Microsoft.Storage/storageAccounts/{account}"


def container_id(account: str, container: str, group: str = GROUP) -> str:
    return f"{account_id(account, group)}/blobServices/default/containers/{container}"


def identity_id(identity: str, group: str = GROUP) -> str:
    return (
        f"{group_id(group)}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{identity}"
    )


def a_group(
    ground: AzureGround,
    group: str,
    told: dict[str, str] | None = None,
    region: str = REGION,
    subscription: str = SUBSCRIPTION,
) -> None:
    ground.arm(
        "PUT",
        group_id(group, subscription),
        {"location": region, "tags": tags() if told is None else told},
    )


def an_account(
    ground: AzureGround,
    account: str,
    group: str = GROUP,
    told: dict[str, str] | None = None,
    **properties: Any,
) -> None:
    """As the portal makes it today: nobody reads anonymously unless that is asked for, and shared keys are on."""
    body = {
        "location": REGION,
        "kind": "StorageV2",
        "sku": {"name": "Standard_LRS"},
        "tags": tags() if told is None else told,
        "properties": properties,
    }
    ground.arm("PUT", account_id(account, group), body)
    while (
        ground.arm("GET", account_id(account, group))["properties"]["provisioningState"]
        != "Succeeded"
    ):
        time.sleep(0.05)


def a_container(
    ground: AzureGround,
    account: str,
    container: str,
    group: str = GROUP,
    public: str = "Blob",
    **metadata: str,
) -> None:
    ground.arm(
        "PUT",
        container_id(account, container, group),
        {"properties": {"publicAccess": public, "metadata": metadata}},
    )


def an_identity(
    ground: AzureGround, identity: str, group: str = GROUP, told: dict[str, str] | None = None
) -> str:
    """Returns who it is to role assignments."""
    body = {"location": REGION, "tags": tags() if told is None else told}
    return str(ground.arm("PUT", identity_id(identity, group), body)["properties"]["principalId"])


def a_role(
    ground: AzureGround,
    title: str,
    description: str = "theirs",
    actions: tuple[str, ...] = ("Microsoft.Compute/disks/read",),
) -> str:
    """Returns the GUID, which is anybody's guess."""
    guid = str(uuid.uuid4())
    properties = {
        "roleName": title,
        "type": "CustomRole",
        "description": description,
        "permissions": [
            {"actions": list(actions), "notActions": [], "dataActions": [], "notDataActions": []}
        ],
        "assignableScopes": [WHOLE],
    }
    ground.arm("PUT", f"{WHOLE}/{ROLES}/{guid}", {"properties": properties})
    return guid


def assigned(ground: AzureGround, scope: str, role: str, principal: str, **properties: str) -> str:
    """Returns its id."""
    id_ = f"{scope}/{ASSIGNMENTS}/{uuid.uuid4()}"
    definition = f"{'/'.join(scope.split('/')[:3])}/{ROLES}/{role}"
    ground.arm(
        "PUT",
        id_,
        {"properties": {"roleDefinitionId": definition, "principalId": principal, **properties}},
    )
    return id_


def unassigned(ground: AzureGround, id_: str) -> None:
    ground.arm("DELETE", id_)


def blobs(
    ground: AzureGround, account: str, group: str = GROUP, *, key: bool = True
) -> BlobServiceClient:
    """With the account's key, or as the operator, who then needs a role for data."""
    credential: Any = _Operator(ground)
    if key:
        credential = ground.arm("POST", f"{account_id(account, group)}/listKeys", {})["keys"][0][
            "value"
        ]
    url = f"https://{account}.blob.core.windows.net"
    return BlobServiceClient(
        url,
        credential=credential,
        proxies={"https": ground.sandbox.proxy},
        connection_verify=str(ground.sandbox.ca_file),
        retry_total=0,
    )


def upload(
    ground: AzureGround,
    place: tuple[str, str],
    path: str,
    body: bytes,
    group: str = GROUP,
    **settings: Any,
) -> None:
    account, container = place
    with blobs(ground, account, group) as client:
        kind = ContentSettings(content_type=settings.pop("content_type", None))
        client.get_blob_client(container, path).upload_blob(
            body, overwrite=True, content_settings=kind, **settings
        )


def inside(
    ground: AzureGround, account: str, container: str, group: str = GROUP
) -> dict[str, dict[str, Any]]:
    """All blobs, as their owner sees them."""
    with blobs(ground, account, group) as client:
        place = client.get_container_client(container)
        return {
            each.name: {
                "body": place.download_blob(each.name).readall(),
                "metadata": each.metadata or {},
            }
            for each in place.list_blobs(include=["metadata"])
        }


def a_house(ground: AzureGround, region: str = REGION, **properties: Any) -> None:
    """A group and an account of the user's own."""
    a_group(ground, HOUSE, {"team": "house"}, region)
    an_account(
        ground, STORE, HOUSE, {"team": "house"}, **{"allowBlobPublicAccess": True, **properties}
    )


def a_shelf(ground: AzureGround, public: str = "Blob") -> None:
    """A container in it, with something of others."""
    a_container(ground, STORE, SHELF, HOUSE, public, team="house")
    upload(
        ground,
        (STORE, SHELF),
        LETTER,
        b"dear house",
        HOUSE,
        content_type="text/plain",
        metadata={"of": "house"},
    )


def writer(ground: AzureGround, account: str, group: str = GROUP) -> str:
    """The operator may write blobs for good, as some that own an account may."""
    return assigned(
        ground, account_id(account, group), BLOBS, OPERATOR, principalType="ServicePrincipal"
    )


class _Operator:
    def __init__(self, ground: AzureGround) -> None:
        self.ground = ground

    def get_token(self, *scopes: str, **_asked: Any) -> AccessToken:
        return AccessToken(
            self.ground.bearer(scopes[0])["Authorization"].removeprefix("Bearer "), 1 << 40
        )
