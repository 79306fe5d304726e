"""What whoever runs cwiictl must be allowed to do in Azure, command by command, and no more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.spec import Spec
from cwiictl.model import Cluster

IDENTITY = "Microsoft.ManagedIdentity/userAssignedIdentities"
CREDENTIAL = f"{IDENTITY}/federatedIdentityCredentials"
GROUP = "Microsoft.Resources/subscriptions/resourceGroups"
ACCOUNT = "Microsoft.Storage/storageAccounts"
CONTAINER = f"{ACCOUNT}/blobServices/containers"
SHELVES = (
    "fileServices/shares",
    "queueServices/queues",
    "tableServices/tables",
)  # what else may be in one
BLOB = f"{CONTAINER}/blobs"  # of data: whoever lacks these lends them to themselves for the run
ROLE = "Microsoft.Authorization/roleDefinitions"
ASSIGNMENT = "Microsoft.Authorization/roleAssignments"

READ: Mapping[str, tuple[str, ...]] = {
    "group": (f"{GROUP}/read",),
    "account": (f"{ACCOUNT}/read", "Microsoft.Storage/checknameavailability/read"),
    "container": (f"{CONTAINER}/read",),
    "identity": (f"{IDENTITY}/read", f"{CREDENTIAL}/read"),
    "role": (f"{ROLE}/read",),
    "assignment": (f"{ASSIGNMENT}/read",),
}
PLACE: Mapping[str, tuple[str, ...]] = {
    "region": ("Microsoft.Resources/subscriptions/locations/read",)
}
WRITE: Mapping[str, tuple[str, ...]] = {
    "caller": ("Microsoft.Authorization/permissions/read",),
    "group": (f"{GROUP}/write",),
    "account": (f"{ACCOUNT}/write",),
    "container": (f"{CONTAINER}/write",),
    "identity": (f"{IDENTITY}/write", f"{CREDENTIAL}/write", f"{CREDENTIAL}/delete"),
    "role": (f"{ROLE}/write",),
    "assignment": (f"{ASSIGNMENT}/write", f"{ASSIGNMENT}/delete"),
}
DROP: Mapping[str, tuple[str, ...]] = {
    "caller": WRITE["caller"],
    "group": (f"{GROUP}/write", f"{GROUP}/delete", f"{GROUP}/resources/read"),
    "account": (
        f"{ACCOUNT}/write",
        f"{ACCOUNT}/delete",
        *(f"{ACCOUNT}/{shelf}/read" for shelf in SHELVES),
    ),
    "container": (f"{CONTAINER}/write", f"{CONTAINER}/delete"),
    "identity": (f"{IDENTITY}/write", f"{IDENTITY}/delete"),
    "role": (f"{ROLE}/write", f"{ROLE}/delete"),
    "assignment": (f"{ASSIGNMENT}/write", f"{ASSIGNMENT}/delete"),
}
DATA: Mapping[str, tuple[str, ...]] = {
    "create": (f"{BLOB}/read", f"{BLOB}/write"),
    "status": (f"{BLOB}/read",),
    "delete": (f"{BLOB}/read", f"{BLOB}/delete"),
    "rotate": (f"{BLOB}/read", f"{BLOB}/write"),
}

COMMANDS: Mapping[str, tuple[Mapping[str, tuple[str, ...]], ...]] = {
    "create": (READ, PLACE, WRITE),
    "status": (READ, PLACE),
    "delete": (READ, DROP),
    "rotate": (READ, PLACE),
}


@dataclass(frozen=True)
class Grant:
    """Actions at one scope. Where a thing is yet to be made, its subscription is asked."""

    actions: tuple[str, ...]
    scope: str


def making(kinds: Mapping[str, tuple[str, ...]]) -> Iterator[Grant]:
    """What making these kinds needs, at these very scopes."""
    yield from (Grant(WRITE[kind], scope) for kind, scopes in kinds.items() for scope in scopes)


def dropping(kind: str, *, owned: bool) -> tuple[str, ...]:
    """What taking down one of a kind needs; to let go of one is no more than to take our mark away."""
    return tuple(action for action in DROP[kind] if action.endswith("/write") != owned)


def least(command: str, spec: Spec, cluster: Cluster) -> Mapping[str, Any]:
    """As `az role definition create` takes it."""
    actions = {
        action for granted in COMMANDS[command] for some in granted.values() for action in some
    }
    return {
        "Name": f"cwiictl {command} {cluster.name}",
        "IsCustom": True,
        "Description": f"What cwiictl {command} needs for the cluster {cluster.name}.",
        "Actions": sorted(actions),
        "NotActions": [],
        "DataActions": sorted(DATA[command]),
        "NotDataActions": [],
        "AssignableScopes": list(
            dict.fromkeys(
                [
                    ids.subscription(spec.subscription),
                    *(ids.subscription_of(scope) or scope for scope in spec.elsewhere),
                ]
            )
        ),
    }
