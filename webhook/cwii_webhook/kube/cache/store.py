"""In-memory store of watched objects, with the age of each resource's data."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from cwii_webhook.admission.cluster_view import ObjectMetadata, ObjectRef
from cwii_webhook.kube.access import ApiServer
from cwii_webhook.kube.clock import Clock
from cwii_webhook.kube.resources import ApiResource

# Seconds without an event of the watch, after which the webhook reads an object directly.
STALE_AFTER = 180.0

Objects = dict[tuple[str, str], ObjectMetadata]


class ResourceCache:
    """All objects of one resource. Only the resource's watch writes it."""

    def __init__(self, resource: ApiResource, clock: Clock) -> None:
        self.resource = resource
        self.is_synced = False
        self.is_absent = False  # the cluster does not serve this resource
        self.server: ApiServer | None = None  # the server that the objects were read from
        self._clock = clock
        self._updated_at = clock.now()
        self._objects: Objects = {}

    @property
    def size(self) -> int:
        return len(self._objects)

    @property
    def age(self) -> float:
        """Seconds since the last event of the watch."""
        return self._clock.now() - self._updated_at

    def can_hold(self, ref: ObjectRef) -> bool:
        """The cluster serves the resource, and the name is valid."""
        return not self.is_absent and self.resource.object_path(ref) is not None

    def touch(self) -> None:
        self._updated_at = self._clock.now()

    def replace(self, objects: Objects, server: ApiServer, *, is_absent: bool = False) -> None:
        self._objects, self.server, self.is_absent, self.is_synced = (
            objects,
            server,
            is_absent,
            True,
        )
        self.touch()

    def put(self, key: tuple[str, str], metadata: ObjectMetadata) -> None:
        self._objects[key] = metadata

    def delete(self, key: tuple[str, str]) -> None:
        self._objects.pop(key, None)

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        return self._objects.get((ref.namespace, ref.name))


class Cache:
    """One ResourceCache for each watched resource or single object."""

    def __init__(self, resources: Collection[ApiResource], clock: Clock) -> None:
        self._resource_caches: dict[ObjectRef | tuple[str, str], ResourceCache] = {
            resource.single_object or (resource.group, resource.kind): ResourceCache(
                resource, clock
            )
            for resource in resources
        }

    def resource_caches(self) -> Collection[ResourceCache]:
        return self._resource_caches.values()

    def get_resource_cache(self, ref: ObjectRef) -> ResourceCache | None:
        """Returns None for a resource that is not watched: an owner can be of any kind."""
        return self._resource_caches.get((ref.group, ref.kind)) or self._resource_caches.get(ref)

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        """Returns the cached object, regardless of its age."""
        resource_cache = self.get_resource_cache(ref)
        return resource_cache.get(ref) if resource_cache else None

    def get_server(self, ref: ObjectRef) -> ApiServer | None:
        """Returns the server that the object's resource was read from."""
        resource_cache = self.get_resource_cache(ref)
        return resource_cache.server if resource_cache else None

    def ages(self) -> Mapping[str, float]:
        """Seconds since the last event of each resource's watch."""
        return {cache.resource.group_resource: cache.age for cache in self.resource_caches()}
