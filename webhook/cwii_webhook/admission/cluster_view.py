"""Defines what a decision reads from the cluster: annotations, owners and UIDs of objects.

A `ClusterView` answers from memory and never waits. `kube` implements it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct


class OwnerReference(Struct, frozen=True, gc=False, rename="camel"):
    """An entry of metadata.ownerReferences."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False

    @property
    def group(self) -> str:
        """The API group: `apps` for apps/v1, empty for the core group."""
        return self.api_version.rpartition("/")[0]


class ObjectRef(Struct, frozen=True, gc=False):
    """Names one object. The namespace of a cluster-scoped object is empty."""

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
    """The parts of an object that decisions read. For a ConfigMap, `annotations` holds its data."""

    annotations: Mapping[str, str] = {}
    owners: tuple[OwnerReference, ...] = ()
    uid: str = ""


class NotCached(Exception):
    """The view does not know whether the object exists.

    The caller looks it up and decides again.
    """

    def __init__(self, ref: ObjectRef) -> None:
        super().__init__(str(ref))
        self.ref = ref


class LookupFailed(Exception):
    """A lookup failed for now. The API server may send the review again."""


class LookupRefused(Exception):
    """A lookup or a write failed in a way that a retry does not change. Somebody has to act."""


class ClusterView(Protocol):
    """Reads objects from memory.

    `get` returns None only if the object is known not to exist, or its kind is not watched. It
    raises NotCached if that is unknown.
    """

    def get(self, ref: ObjectRef, /) -> ObjectMetadata | None: ...


def service_account_ref(namespace: str, name: str) -> ObjectRef:
    return ObjectRef("", "ServiceAccount", namespace, name)


def namespace_ref(name: str) -> ObjectRef:
    return ObjectRef("", "Namespace", "", name)
