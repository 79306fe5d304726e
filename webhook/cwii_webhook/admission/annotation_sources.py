"""Finds the objects whose annotations apply to a pod: owners, ServiceAccount and namespace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Literal

from msgspec import Struct

from cwii_webhook.admission.cluster_view import (
    ClusterView,
    ObjectMetadata,
    ObjectRef,
    OwnerReference,
    namespace_ref,
    service_account_ref,
)
from cwii_webhook.admission.review import (
    ContainerRefs,
    Pod,
    Request,
    env_names,
    init_and_main_containers,
)

GroupKind = tuple[str, str]

REPLICA_SET: GroupKind = ("apps", "ReplicaSet")
JOB: GroupKind = ("batch", "Job")

OWNERS: frozenset[GroupKind] = frozenset(
    {REPLICA_SET, ("apps", "StatefulSet"), ("apps", "DaemonSet"), JOB}
)
OWNERS_OF_OWNERS: Mapping[GroupKind, frozenset[GroupKind]] = {
    REPLICA_SET: frozenset({("apps", "Deployment"), ("argoproj.io", "Rollout")}),
    JOB: frozenset({("batch", "CronJob")}),
}


def owner_objects(
    owners: Iterable[OwnerReference], namespace: str, view: ClusterView
) -> Iterator[tuple[ObjectRef, ObjectMetadata]]:
    """Yields the controllers of a pod, nearest first.

    A ReplicaSet carries copies of its Deployment's annotations, which may be outdated. If it has an
    owner, only the owner is yielded.
    """
    nearest = _controller(owners, OWNERS, namespace, view)
    if nearest is None:
        return
    ref, metadata = nearest
    kind = (ref.group, ref.kind)
    above = _controller(metadata.owners, OWNERS_OF_OWNERS.get(kind, frozenset()), namespace, view)
    if kind != REPLICA_SET or above is None:
        yield nearest
    if above is not None:
        yield above


def _controller(
    owners: Iterable[OwnerReference],
    kinds: frozenset[GroupKind],
    namespace: str,
    view: ClusterView,
) -> tuple[ObjectRef, ObjectMetadata] | None:
    """Returns the controller if it exists and its UID is the one in the reference.

    A tenant can write any owner reference, but cannot choose the UID of an object.
    """
    for owner in owners:
        if owner.controller and (owner.group, owner.kind) in kinds:
            ref = ObjectRef(owner.group, owner.kind, namespace, owner.name)
            metadata = view.get(ref)
            if metadata is not None and metadata.uid == owner.uid:
                return ref, metadata
    return None


Scope = Literal["pod", "owner", "account", "namespace"]


class AnnotationSource(Struct, frozen=True, gc=False):
    """An object and its annotations."""

    scope: Scope
    ref: ObjectRef
    annotations: Mapping[str, str]

    def __str__(self) -> str:
        return str(self.ref)


class PodContext:
    """The pod of one review, with lookups of the objects that it belongs to.

    `containers` are the init containers and the main containers, in this order.
    """

    def __init__(self, request: Request, pod: Pod, view: ClusterView) -> None:
        self.pod = pod
        self.uid = request.uid
        self.namespace = request.namespace or pod.metadata.namespace or "default"
        self.view = view
        self.containers = init_and_main_containers(pod)

    @cached_property
    def ref(self) -> ObjectRef:
        meta = self.pod.metadata
        return ObjectRef("", "Pod", self.namespace, meta.name or meta.generate_name or "")

    @cached_property
    def annotations(self) -> Mapping[str, str]:
        return self.pod.metadata.annotations or {}

    @cached_property
    def env_names(self) -> frozenset[str]:
        """Names of all variables that the containers set."""
        return env_names(self.containers)

    @property
    def service_account_name(self) -> str:
        return self.pod.spec.service_account_name or "default"

    @cached_property
    def sources(self) -> tuple[AnnotationSource, ...]:
        """All annotation sources, nearest first."""
        return tuple(self._sources())

    def _sources(self) -> Iterator[AnnotationSource]:
        yield self.own_annotations()
        owners = self.pod.metadata.owner_references or ()
        for ref, metadata in owner_objects(owners, self.namespace, self.view):
            yield AnnotationSource("owner", ref, metadata.annotations)
        for source in (
            self.service_account(self.service_account_name),
            self._source("namespace", namespace_ref(self.namespace)),
        ):
            if source:
                yield source

    def own_annotations(self) -> AnnotationSource:
        return AnnotationSource("pod", self.ref, self.annotations)

    def service_account(self, name: str) -> AnnotationSource | None:
        """Returns None if the ServiceAccount does not exist.

        Raises NotCached if that is unknown.
        """
        return self._source("account", service_account_ref(self.namespace, name))

    def container_refs(self, skipped: frozenset[str]) -> ContainerRefs:
        """Returns the places of all containers whose names are not in `skipped`."""
        init = len(self.pod.spec.init_containers or ())
        return tuple(
            [
                ("initContainers", i) if i < init else ("containers", i - init)
                for i, container in enumerate(self.containers)
                if container.name not in skipped
            ]
        )

    def _source(self, scope: Scope, ref: ObjectRef) -> AnnotationSource | None:
        metadata = self.view.get(ref)
        return None if metadata is None else AnnotationSource(scope, ref, metadata.annotations)
