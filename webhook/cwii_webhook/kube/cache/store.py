"""The picture: of each kind that is watched, all objects, and when they were last heard of."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from cwii_webhook.admission.cluster_view import ObjectMetadata, ObjectRef
from cwii_webhook.kube.access import Server
from cwii_webhook.kube.clock import Clock
from cwii_webhook.kube.resources import Kind

STALE = 180.0  # seconds: what was not heard of for longer is read directly before it is believed

Things = dict[tuple[str, str], ObjectMetadata]


class ResourceCache:
    """All objects of one kind. Its watch alone writes it."""

    def __init__(self, kind: Kind, clock: Clock) -> None:
        self.kind = kind
        self.synced = False
        self.absent = False  # the cluster does not have this kind
        self.server: Server | None = None  # whose objects these are
        self._clock = clock
        self._heard = clock.now()
        self._things: Things = {}

    @property
    def size(self) -> int:
        return len(self._things)

    @property
    def age(self) -> float:
        return self._clock.now() - self._heard

    def can_hold(self, ref: ObjectRef) -> bool:
        """There is such a kind, and something can be called so."""
        return not self.absent and self.kind.one(ref) is not None

    def hear(self) -> None:
        self._heard = self._clock.now()

    def replace(self, things: Things, server: Server, *, absent: bool = False) -> None:
        self._things, self.server, self.absent, self.synced = things, server, absent, True
        self.hear()

    def put(self, key: tuple[str, str], seen: ObjectMetadata) -> None:
        self._things[key] = seen

    def drop(self, key: tuple[str, str]) -> None:
        self._things.pop(key, None)

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        return self._things.get((ref.namespace, ref.name))


class Cache:
    def __init__(self, kinds: Collection[Kind], clock: Clock) -> None:
        self._shelves: dict[ObjectRef | tuple[str, str], ResourceCache] = {
            kind.only or (kind.group, kind.kind): ResourceCache(kind, clock) for kind in kinds
        }

    def shelves(self) -> Collection[ResourceCache]:
        return self._shelves.values()

    def shelf(self, ref: ObjectRef) -> ResourceCache | None:
        """Of a kind that no dialect asks for there is none: owners may be of any."""
        return self._shelves.get((ref.group, ref.kind)) or self._shelves.get(ref)

    def known(self, ref: ObjectRef) -> ObjectMetadata | None:
        """However old it is."""
        shelf = self.shelf(ref)
        return shelf.get(ref) if shelf else None

    def whose(self, ref: ObjectRef) -> Server | None:
        shelf = self.shelf(ref)
        return shelf.server if shelf else None

    def ages(self) -> Mapping[str, float]:
        """For each kind, seconds since its watch was last heard from."""
        return {shelf.kind.resource: shelf.age for shelf in self.shelves()}
