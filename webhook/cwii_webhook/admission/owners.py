"""The walk up from a pod to whoever made it: ReplicaSet to Deployment or Rollout, StatefulSet, DaemonSet, Job, and beyond it CronJob."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cwii_webhook.admission.annotation_sources import AnnotationSource, PodContext
from cwii_webhook.admission.cluster_view import ClusterView, ObjectMetadata, ObjectRef, Owner

Kind = tuple[str, str]

REPLICA_SET: Kind = ("apps", "ReplicaSet")
JOB: Kind = ("batch", "Job")

OWNERS: frozenset[Kind] = frozenset(
    {REPLICA_SET, ("apps", "StatefulSet"), ("apps", "DaemonSet"), JOB}
)
ABOVE: Mapping[Kind, frozenset[Kind]] = {
    REPLICA_SET: frozenset({("apps", "Deployment"), ("argoproj.io", "Rollout")}),
    JOB: frozenset({("batch", "CronJob")}),
}


def owner_sources(subject: PodContext) -> Iterator[AnnotationSource]:
    """The nearest first. A ReplicaSet bears copies of what its Deployment said once: where there is one above it, that alone is heard."""
    found = _found(
        subject.pod.metadata.owner_references or (), OWNERS, subject.namespace, subject.view
    )
    if found is None:
        return
    kind, near, seen = found
    above = (
        _found(seen.owners, ABOVE[kind], subject.namespace, subject.view) if kind in ABOVE else None
    )
    if kind != REPLICA_SET or above is None:
        yield AnnotationSource("owner", near, seen.annotations)
    if above is not None:
        yield AnnotationSource("owner", above[1], above[2].annotations)


def _found(
    owners: Iterable[Owner], kinds: frozenset[Kind], namespace: str, picture: ClusterView
) -> tuple[Kind, ObjectRef, ObjectMetadata] | None:
    """A reference can be written by anybody who writes the object: only one that names the very object, by its uid, is followed."""
    for owner in owners:
        kind = (owner.group, owner.kind)
        if owner.controller and kind in kinds:
            ref = ObjectRef(*kind, namespace, owner.name)
            seen = picture.get(ref)
            if seen is not None and seen.uid == owner.uid:
                return kind, ref, seen
    return None
