"""Walks from a pod to its controllers: ReplicaSet and Deployment or Rollout, StatefulSet, DaemonSet, Job and CronJob."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cwii_webhook.admission.cluster_view import (
    ClusterView,
    ObjectMetadata,
    ObjectRef,
    OwnerReference,
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

    A ReplicaSet carries copies of its Deployment's annotations, which may be outdated. If it has an owner, only the
    owner is yielded.
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
