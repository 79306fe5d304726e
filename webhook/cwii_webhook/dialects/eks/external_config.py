"""Parses the ConfigMap of roles, the file of agent identities and the instance metadata."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from cwii_webhook.admission.cluster_view import ObjectRef
from cwii_webhook.dialects.common.external_config import (
    ConfigMapKey,
    InstanceMetadata,
    LocalFile,
    Name,
)

CONFIG_MAP = "pod-identity-webhook"
LAST_CONTENT_STAYS = "what it said last is still heeded"
ROLES_EXAMPLE = 'write it as {"NAMESPACE/SERVICEACCOUNT": {"RoleARN": "arn:..."}}'
IDENTITIES_EXAMPLE = 'write it as {"identities": [{"namespace": "NAME", "serviceAccount": "NAME"}]}'
_PARTITIONS = {  # by prefix of the region
    "cn-": "aws-cn",
    "us-gov-": "aws-us-gov",
    "us-iso-": "aws-iso",
    "us-isob-": "aws-iso-b",
    "eu-isoe-": "aws-iso-e",
    "us-isof-": "aws-iso-f",
    "eusc-": "aws-eusc",
}


class RoleEntry(Struct, frozen=True, rename="lower"):
    """The entry of a ServiceAccount in the ConfigMap.

    Go matches field names without regard to case.
    """

    rolearn: str = ""
    audience: str = ""
    useregionalsts: bool = False
    tokenexpiration: int = 0


class ConfigMapRoles:
    """Roles of ServiceAccounts, from the ConfigMap `pod-identity-webhook`."""

    name: Name = "config-map"

    def __init__(self, namespace: str) -> None:
        self.ref = ObjectRef("", "ConfigMap", namespace, CONFIG_MAP)
        self.location = ConfigMapKey(self.ref, "config")
        self._entries: Mapping[str, RoleEntry] = {}

    def entry(self, namespace: str, account: str) -> RoleEntry | None:
        """Returns the entry of the ServiceAccount, or the one for its name in any namespace."""
        return self._entries.get(f"{namespace}/{account}") or self._entries.get(f"*/{account}")

    def update(self, text: str | None) -> str:
        """Takes new content.

        A deleted ConfigMap changes nothing, as with the peer: it may be replaced.
        """
        if text is None:
            problem = f"there is no {self.ref} with a key {self.location.key}"
            return f"{problem}: {LAST_CONTENT_STAYS}" if self._entries else problem
        try:
            content = msgspec.json.decode(text or "{}", type=dict[str, dict[str, object] | None])
            self._entries = {
                key: _parse_entry(fields)
                for key, fields in content.items()
                if fields and "/" in key
            }
        except (msgspec.MsgspecError, RecursionError) as e:
            return (
                f"{self.location.key} of {self.ref} cannot be read ({e}): "
                f"{ROLES_EXAMPLE}; {LAST_CONTENT_STAYS}"
            )
        invalid = next((key for key in content if "/" not in key), None)
        if invalid is None:
            return ""
        return (
            f"{self.location.key} of {self.ref} has {invalid[:64]!r}, which is no "
            "NAMESPACE/SERVICEACCOUNT: the others are heeded"
        )


def _parse_entry(fields: Mapping[str, object]) -> RoleEntry:
    lowered = {name.lower(): value for name, value in fields.items() if value is not None}
    return msgspec.convert(lowered, RoleEntry)


class _Pair(Struct, frozen=True):
    namespace: str = ""
    account: str = msgspec.field(default="", name="serviceAccount")


class _IdentitiesFile(Struct, frozen=True):
    identities: list[_Pair] | None = None


class AgentIdentities:
    """The ServiceAccounts that get their credentials from the Pod Identity agent, from a file."""

    name: Name = "identities"

    def __init__(self, path: str) -> None:
        self.location = LocalFile(path)
        self.pairs: frozenset[tuple[str, str]] = frozenset()

    def update(self, text: str | None) -> str:
        """Takes new content. A missing file and an empty one mean that no pod uses the agent."""
        if not text:
            self.pairs = frozenset()
            if text is not None:
                return ""
            return f"there is no file {self.location.path}: nobody gets credentials of the agent"
        try:
            identities = msgspec.json.decode(text, type=_IdentitiesFile).identities or []
        except (msgspec.MsgspecError, RecursionError) as e:
            return (
                f"{self.location.path} cannot be read ({e}): "
                f"{IDENTITIES_EXAMPLE}; {LAST_CONTENT_STAYS}"
            )
        self.pairs = frozenset([(pair.namespace, pair.account) for pair in identities])
        return ""


class _IdentityDocument(Struct, frozen=True):
    account: str = msgspec.field(name="accountId")
    region: str


class InstanceIdentity:
    """The account and partition of the EC2 instance, which complete the bare name of a role."""

    name: Name = "instance"

    def __init__(self) -> None:
        self.location = InstanceMetadata()
        self.account = ""  # empty: unknown
        self.partition = "aws"

    def update(self, text: str | None) -> str:
        try:
            document = msgspec.json.decode(text or "", type=_IdentityDocument)
        except (msgspec.MsgspecError, RecursionError) as e:
            return f"what the instance's metadata says of it cannot be read ({e})"
        self.account = document.account
        partitions = (p for prefix, p in _PARTITIONS.items() if document.region.startswith(prefix))
        self.partition = next(partitions, "aws")
        return ""

    def full_arn(self, role: str) -> str:
        if "arn:" in role:
            return role
        return f"arn:{self.partition}:iam::{self.account}:role/{role}"
