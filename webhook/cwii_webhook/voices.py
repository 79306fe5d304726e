"""Who speaks for a pod: itself, its owner, its ServiceAccount and its namespace; the nearest is heard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from cwii_webhook.memo import Memo
from cwii_webhook.picture import Picture, Ref, account, space
from cwii_webhook.review import Places, Pod, Request, containers, names

Scope = Literal["pod", "owner", "account", "namespace"]


class Voice(Struct, frozen=True, gc=False):
    """One object's annotations, and which object that is."""

    scope: Scope
    ref: Ref
    annotations: Mapping[str, str]

    def __str__(self) -> str:
        return str(self.ref)


class Subject:
    """The pod of one review, and whoever speaks for it. Others than the pod are looked up when they are asked for.

    `containers` are those that run from the beginning, and `variables` the names of all that they set themselves.
    """

    __slots__ = ("_variables", "containers", "heard", "namespace", "odd", "picture", "pod", "uid")

    def __init__(self, request: Request, pod: Pod, picture: Picture) -> None:
        self.pod = pod
        self.uid = request.uid
        self.namespace = request.namespace or pod.metadata.namespace or "default"
        self.picture = picture
        self.heard: object = None  # what one mutator found out and the next need not
        self.odd: tuple[
            str, ...
        ] = ()  # what a user would want to know of the voices, whatever is given
        self.containers = containers(pod)
        self._variables: frozenset[str] | None = None  # gathered for the first who asks

    @property
    def variables(self) -> frozenset[str]:
        if self._variables is None:
            self._variables = names(self.containers)
        return self._variables

    def places(self, skipped: frozenset[str]) -> Places:
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
    def ref(self) -> Ref:
        meta = self.pod.metadata
        return Ref("", "Pod", self.namespace, meta.name or meta.generate_name or "")

    def itself(self) -> Voice:
        return Voice("pod", self.ref, self.pod.metadata.annotations or {})

    def account(self, name: str) -> Voice | None:
        """None where there is no such ServiceAccount; raises Unknown where nobody can say."""
        return self._voice("account", account(self.namespace, name))

    def space(self) -> Voice | None:
        return self._voice("namespace", space(self.namespace))

    def _voice(self, scope: Scope, ref: Ref) -> Voice | None:
        seen = self.picture.seen(ref)
        return None if seen is None else Voice(scope, ref, seen.annotations)


_known: Memo[tuple[int, int], Places] = Memo(256)


def _places(first: int, every: int) -> Places:
    """Of so many containers, of which so many come first."""
    known = _known.get((first, every))
    if known is None:
        before: Places = tuple([("initContainers", i) for i in range(first)])
        after: Places = tuple([("containers", i) for i in range(every - first)])
        known = _known.keep((first, every), before + after, every)
    return known
