"""Who speaks for a pod: itself, its owner, its ServiceAccount and its namespace; the nearest is heard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from cwii_webhook.admission.cluster_view import (
    ClusterView,
    ObjectRef,
    namespace_ref,
    service_account_ref,
)
from cwii_webhook.admission.memo import Memo
from cwii_webhook.admission.review import ContainerRefs, Pod, Request, containers, variable_names

Scope = Literal["pod", "owner", "account", "namespace"]


class AnnotationSource(Struct, frozen=True, gc=False):
    """One object's annotations, and which object that is."""

    scope: Scope
    ref: ObjectRef
    annotations: Mapping[str, str]

    def __str__(self) -> str:
        return str(self.ref)


class PodContext:
    """The pod of one review, and whoever speaks for it. Others than the pod are looked up when they are asked for.

    `containers` are those that run from the beginning, and `variables` the names of all that they set themselves.
    """

    __slots__ = (
        "_variables",
        "annotation_warnings",
        "containers",
        "heard",
        "namespace",
        "pod",
        "uid",
        "view",
    )

    def __init__(self, request: Request, pod: Pod, picture: ClusterView) -> None:
        self.pod = pod
        self.uid = request.uid
        self.namespace = request.namespace or pod.metadata.namespace or "default"
        self.view = picture
        self.heard: object = None  # what one mutator found out and the next need not
        self.annotation_warnings: tuple[
            str, ...
        ] = ()  # what a user would want to know of the voices, whatever is given
        self.containers = containers(pod)
        self._variables: frozenset[str] | None = None  # gathered for the first who asks

    @property
    def variables(self) -> frozenset[str]:
        if self._variables is None:
            self._variables = variable_names(self.containers)
        return self._variables

    def container_refs(self, skipped: frozenset[str]) -> ContainerRefs:
        """Of all containers but those of these names."""
        every = _places(len(self.pod.spec.init_containers or ()), len(self.containers))
        if skipped.isdisjoint([container.name for container in self.containers]):
            return every
        return tuple(
            [
                place
                for place, container in zip(every, self.containers, strict=True)
                if container.name not in skipped
            ]
        )

    @property
    def ref(self) -> ObjectRef:
        meta = self.pod.metadata
        return ObjectRef("", "Pod", self.namespace, meta.name or meta.generate_name or "")

    def own_annotations(self) -> AnnotationSource:
        return AnnotationSource("pod", self.ref, self.pod.metadata.annotations or {})

    def service_account(self, name: str) -> AnnotationSource | None:
        """None where there is no such ServiceAccount; raises Unknown where nobody can say."""
        return self._voice("account", service_account_ref(self.namespace, name))

    def namespace_annotations(self) -> AnnotationSource | None:
        return self._voice("namespace", namespace_ref(self.namespace))

    def _voice(self, scope: Scope, ref: ObjectRef) -> AnnotationSource | None:
        seen = self.view.get(ref)
        return None if seen is None else AnnotationSource(scope, ref, seen.annotations)


_known: Memo[tuple[int, int], ContainerRefs] = Memo(256)


def _places(first: int, every: int) -> ContainerRefs:
    """Of so many containers, of which so many come first."""
    known = _known.get((first, every))
    if known is None:
        before: ContainerRefs = tuple([("initContainers", i) for i in range(first)])
        after: ContainerRefs = tuple([("containers", i) for i in range(every - first)])
        known = _known.keep((first, every), before + after, every)
    return known
