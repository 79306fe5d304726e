"""What is known of the cluster: the annotations of ServiceAccounts, Namespaces and owners. A picture is asked, and never waits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct


class Owner(Struct, frozen=True, gc=False, rename="camel"):
    """A reference to the controller that an object belongs to."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False

    @property
    def group(self) -> str:
        """Of apps/v1, apps; the core group has no name."""
        return self.api_version.rpartition("/")[0]


class ObjectRef(Struct, frozen=True, gc=False):
    """One object: whoever has no namespace (a Namespace) has an empty one."""

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return (
            f"{self.kind} {self.namespace}/{self.name}"
            if self.namespace
            else f"{self.kind} {self.name}"
        )


class ObjectMetadata(Struct, frozen=True, gc=False):
    """What is read of an object, and no more. Of a ConfigMap, its data stand where others have annotations."""

    annotations: Mapping[str, str] = {}
    owners: tuple[Owner, ...] = ()
    uid: str = ""


class NotCached(Exception):
    """The picture cannot say whether there is such an object: it has to be asked for before anything is decided."""

    def __init__(self, ref: ObjectRef) -> None:
        super().__init__(str(ref))
        self.ref = ref


class LookupFailed(Exception):
    """A lookup failed for now. The API server may try the review again."""


class LookupRefused(Exception):
    """A lookup or a write failed in a way that a retry does not change. Somebody has to act."""


class ClusterView(Protocol):
    """`seen` answers None only where it is known that there is no such object, and raises Unknown where it is not."""

    def get(self, ref: ObjectRef, /) -> ObjectMetadata | None: ...


def service_account_ref(namespace: str, name: str) -> ObjectRef:
    return ObjectRef("", "ServiceAccount", namespace, name)


def namespace_ref(name: str) -> ObjectRef:
    return ObjectRef("", "Namespace", "", name)
