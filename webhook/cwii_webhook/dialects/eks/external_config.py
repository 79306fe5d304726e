"""What EKS's dialect heeds besides annotations: a ConfigMap of roles, a file of who goes to the agent, and where the webhook itself runs."""

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
STILL = "what it said last is still heeded"
ENTRIES = 'write it as {"NAMESPACE/SERVICEACCOUNT": {"RoleARN": "arn:..."}}'
PAIRS = 'write it as {"identities": [{"namespace": "NAME", "serviceAccount": "NAME"}]}'
_PARTITIONS = {
    "cn-": "aws-cn",
    "us-gov-": "aws-us-gov",
    "us-iso-": "aws-iso",
    "us-isob-": "aws-iso-b",
    "eu-isoe-": "aws-iso-e",
    "us-isof-": "aws-iso-f",
    "eusc-": "aws-eusc",
}


class Entry(Struct, frozen=True, rename="lower"):
    """A ServiceAccount in the ConfigMap. Its members' names are read as Go reads them: in capitals or not."""

    rolearn: str = ""
    audience: str = ""
    useregionalsts: bool = False
    tokenexpiration: int = 0


class ConfigMapRoles:
    name: Name = "config-map"

    def __init__(self, namespace: str) -> None:
        self.ref = ObjectRef("", "ConfigMap", namespace, CONFIG_MAP)
        self.location = ConfigMapKey(self.ref, "config")
        self._entries: Mapping[str, Entry] = {}

    def of(self, namespace: str, account: str) -> Entry | None:
        """Its own entry goes before that of any namespace."""
        return self._entries.get(f"{namespace}/{account}") or self._entries.get(f"*/{account}")

    def update(self, text: str | None) -> str:
        """Who deletes it takes nothing away, as with the peer: it may be on its way to be made anew."""
        if text is None:
            return f"there is no {self.ref} with a key {self.location.key}" + (
                f": {STILL}" if self._entries else ""
            )
        try:
            found = msgspec.json.decode(text or "{}", type=dict[str, dict[str, object] | None])
            self._entries = {
                key: _entry(said) for key, said in found.items() if said and "/" in key
            }
        except (msgspec.MsgspecError, RecursionError) as e:
            return f"{self.location.key} of {self.ref} cannot be read ({e}): {ENTRIES}; {STILL}"
        odd = next((key for key in found if "/" not in key), None)
        return (
            ""
            if odd is None
            else f"{self.location.key} of {self.ref} has {odd[:64]!r}, which is no NAMESPACE/SERVICEACCOUNT: the others are heeded"
        )


def _entry(said: Mapping[str, object]) -> Entry:
    return msgspec.convert(
        {name.lower(): value for name, value in said.items() if value is not None}, Entry
    )


class _Pair(Struct, frozen=True):
    namespace: str = ""
    account: str = msgspec.field(default="", name="serviceAccount")


class _Config(Struct, frozen=True):
    identities: list[_Pair] | None = None


class AgentIdentities:
    name: Name = "identities"

    def __init__(self, path: str) -> None:
        self.location = LocalFile(path)
        self.pairs: frozenset[tuple[str, str]] = frozenset()

    def update(self, text: str | None) -> str:
        """Without a file nobody goes to the agent any more, and so with an empty one."""
        if not text:
            self.pairs = frozenset()
            return (
                f"there is no file {self.location.path}: nobody gets credentials of the agent"
                if text is None
                else ""
            )
        try:
            found = msgspec.json.decode(text, type=_Config).identities or []
        except (msgspec.MsgspecError, RecursionError) as e:
            return f"{self.location.path} cannot be read ({e}): {PAIRS}; {STILL}"
        self.pairs = frozenset([(pair.namespace, pair.account) for pair in found])
        return ""


class _Document(Struct, frozen=True):
    account: str = msgspec.field(name="accountId")
    region: str


class InstanceIdentity:
    """The account and the partition that a role's bare name is meant in. There is no account where it is not known."""

    name: Name = "instance"

    def __init__(self) -> None:
        self.location = InstanceMetadata()
        self.account = ""
        self.partition = "aws"

    def update(self, text: str | None) -> str:
        try:
            found = msgspec.json.decode(text or "", type=_Document)
        except (msgspec.MsgspecError, RecursionError) as e:
            return f"what the instance's metadata says of it cannot be read ({e})"
        self.account = found.account
        self.partition = next(
            (
                partition
                for prefix, partition in _PARTITIONS.items()
                if found.region.startswith(prefix)
            ),
            "aws",
        )
        return ""

    def composed(self, role: str) -> str:
        return role if "arn:" in role else f"arn:{self.partition}:iam::{self.account}:role/{role}"
