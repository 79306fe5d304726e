"""The ids of Azure Resource Manager: one text for every thing and every scope, compared without case."""

from __future__ import annotations

import re

UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"

_GUID = re.compile(UUID)
_SUBSCRIPTION = re.compile(rf"(?P<subscription>/subscriptions/{UUID})(/.+)?")
_GROUP = re.compile(rf"/subscriptions/{UUID}/resourcegroups/(?P<group>[^/]+)(/.+)?")
_SCOPE = re.compile(
    rf"/subscriptions/{UUID}(/resourcegroups/[^/\s]+(/providers/[^/\s]+(/[^/\s]+/[^/\s]+)+)?)?|/providers/microsoft\.management/managementgroups/[^/\s]+"
)


def subscription(of: str) -> str:
    return f"/subscriptions/{of}"


def group(of: str, name: str) -> str:
    return f"{subscription(of)}/resourceGroups/{name}"


def account(of: str, group_: str, name: str) -> str:
    return f"{group(of, group_)}/providers/Microsoft.Storage/storageAccounts/{name}"


def container(of: str, group_: str, account_: str, name: str) -> str:
    return f"{account(of, group_, account_)}/blobServices/default/containers/{name}"


def identity(of: str, group_: str, name: str) -> str:
    return f"{group(of, group_)}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{name}"


def role(scope: str, guid_: str) -> str:
    """A role's id in the subscription of what it is given on; of what is above all subscriptions, in none."""
    return f"{subscription_of(scope)}/providers/Microsoft.Authorization/roleDefinitions/{guid_}"


def assignment(scope: str, name: str) -> str:
    return f"{scope.rstrip('/')}/providers/Microsoft.Authorization/roleAssignments/{name}"


def folded(id_: str) -> str:
    return id_.rstrip("/").lower()


def region(text: str) -> str:
    """`West Europe` is `westeurope`."""
    return "".join(text.lower().split())


def same(one: str, other: str) -> bool:
    return folded(one) == folded(other)


def is_scope(text: str) -> bool:
    """A subscription, a resource group, something in one, or a management group."""
    return bool(_SCOPE.fullmatch(folded(text)))


def guid(id_: str) -> str:
    """The role's own name at the end of its id. What is no id yet is left as it is."""
    last = folded(id_).rpartition("/")[2]
    return last if _GUID.fullmatch(last) else id_


def subscription_of(scope: str) -> str:
    """The id of the subscription that it is in; empty if it is above all."""
    found = _SUBSCRIPTION.fullmatch(folded(scope))
    return found["subscription"] if found else ""


def group_of(id_: str) -> str:
    """The name of the resource group that it is in, or is; empty if it is in none."""
    found = _GROUP.fullmatch(folded(id_))
    return found["group"] if found else ""


def named(id_: str) -> str:
    """What it is called in its own place."""
    return id_.rstrip("/").rpartition("/")[2]


def within(id_: str, scope: str) -> bool:
    return f"{folded(id_)}/".startswith(f"{folded(scope)}/")
