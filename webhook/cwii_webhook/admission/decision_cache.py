"""Caches decisions for pods that differ only in what a decision does not read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from hashlib import blake2b

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from cwii_webhook.admission.admit import Decision, Route
from cwii_webhook.admission.cluster_view import (
    ClusterView,
    NotCached,
    ObjectMetadata,
    ObjectRef,
    OwnerReference,
)
from cwii_webhook.admission.decision_log import DecisionSummary
from cwii_webhook.admission.injection import NO_TOKEN, NO_TOKEN_MOUNT
from cwii_webhook.admission.patch import clean_path
from cwii_webhook.admission.review import ApiObject, Kind, Response, encode

MAX_REVIEW_BYTES = 64 << 10  # for longer reviews, decoding is most of the work
MAX_CACHE_BYTES = 8 << 20  # estimated, for one route
MAX_ENTRY_BYTES = MAX_CACHE_BYTES // 32
MAX_ENTRIES = 512
ENTRY_OVERHEAD, READ_OVERHEAD = 2048, 256  # bytes of the objects that hold the texts

# The API server gives each pod a volume with its own token. The random name of that volume is not
# part of the key.
TOKEN_VOLUME_PREFIX = "kube-api-access-"  # noqa: S105 - a name
TOKEN_PATH = NO_TOKEN_MOUNT.mount_path

Reads = tuple[tuple[ObjectRef, ObjectMetadata | None], ...]


# The types below declare all that a decision reads of a review. `DecisionCache` hashes the pod and
# some fields of the request; the log needs uid and dry_run. Raw values are compared byte by byte,
# because an API server writes the same value in the same way.


class EnvName(ApiObject, frozen=True):
    """A variable without its value, which may differ in each pod.

    The API server has checked that it is a text.
    """

    name: str = ""


class ComparedMount(ApiObject, frozen=True):
    name: str = ""
    mount_path: str = ""
    read_only: bool | None = None


class ComparedContainer(ApiObject, frozen=True):
    name: str = ""
    image: Raw = Raw()
    command: Raw = Raw()
    args: Raw = Raw()
    env: tuple[EnvName, ...] | None = None
    env_from: Raw = Raw()
    volume_mounts: tuple[ComparedMount, ...] | None = None
    security_context: Raw = Raw()
    resources: Raw = Raw()


class VolumeName(ApiObject, frozen=True):
    name: str = ""


class ComparedSpec(ApiObject, frozen=True):
    containers: tuple[ComparedContainer, ...] | None = None
    init_containers: tuple[ComparedContainer, ...] | None = None
    ephemeral_containers: Raw = Raw()
    volumes: tuple[VolumeName, ...] | None = None
    service_account_name: str | None = None
    host_network: bool | None = None
    security_context: Raw = Raw()
    resources: Raw = Raw()
    os: Raw = Raw()
    node_selector: Raw = Raw()
    affinity: Raw = Raw()


class ComparedMetadata(ApiObject, frozen=True):
    name: str | None = None
    generate_name: str | None = None
    namespace: str | None = None
    labels: Raw = Raw()
    annotations: Raw = Raw()
    owner_references: tuple[OwnerReference, ...] | None = None


class ComparedPod(ApiObject, frozen=True):
    metadata: ComparedMetadata
    spec: ComparedSpec


class ComparedRequest(ApiObject, frozen=True):
    uid: str
    object: ComparedPod
    kind: Kind = Kind("", "Pod")
    operation: str = ""
    sub_resource: str | None = None
    namespace: str | None = None
    dry_run: bool | None = None


class ComparedReview(ApiObject, frozen=True):
    request: ComparedRequest
    api_version: str = "admission.k8s.io/v1"
    kind: str = "AdmissionReview"


class Entry(Struct, frozen=True):
    """The response to one pod, what the log shows of it, and the cluster objects that it read.

    An entry keeps neither the pod nor the decision, whose sizes strangers can choose.
    """

    reads: Reads
    response: Response
    summary: DecisionSummary

    @property
    def estimated_bytes(self) -> int:
        response, fields = self.response, self.summary.fields
        texts = [str(value) for value in (*fields.values(), *response.audit_annotations.values())]
        objects = [metadata.annotations for _, metadata in self.reads if metadata]
        return (
            ENTRY_OVERHEAD
            + (len(response.patch) if isinstance(response.patch, bytes) else 0)
            + sum(map(len, (*response.warnings, *texts)))
            + sum([READ_OVERHEAD + _size(annotations) for annotations in objects])
        )


def _size(annotations: Mapping[str, str]) -> int:
    return sum([len(key) + len(text) for key, text in annotations.items()])


class RecordingView:
    """A view that records which objects a decision reads."""

    def __init__(self, view: ClusterView) -> None:
        self._view = view
        self._reads: dict[ObjectRef, ObjectMetadata | None] = {}
        self.is_complete = True  # False once an object was not cached

    @property
    def reads(self) -> Reads:
        return tuple(self._reads.items())

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        try:
            metadata = self._reads[ref] = self._view.get(ref)
        except NotCached:
            self.is_complete = False
            raise
        return metadata


_decoder = msgspec.json.Decoder(ComparedReview)


def decode_compared(body: bytes) -> ComparedReview | None:
    """Decodes what the cache compares. Returns None if the review is not cached."""
    if len(body) > MAX_REVIEW_BYTES:
        return None
    try:
        review = _decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    request = review.request
    return replace(review, request=replace(request, object=_without_token(request.object)))


def _without_token(pod: ComparedPod) -> ComparedPod:
    """Removes the volume with the pod's own token, and the mounts of it."""
    spec, volumes = pod.spec, pod.spec.volumes
    if volumes:
        volumes = tuple([v for v in volumes if not v.name.startswith(TOKEN_VOLUME_PREFIX)])
    containers = [_containers_without_token(c) for c in (spec.containers, spec.init_containers)]
    return ComparedPod(
        pod.metadata,
        replace(spec, volumes=volumes, containers=containers[0], init_containers=containers[1]),
    )


def _containers_without_token(
    containers: tuple[ComparedContainer, ...] | None,
) -> tuple[ComparedContainer, ...] | None:
    if not containers:
        return containers
    return tuple([_container_without_token(container) for container in containers])


def _container_without_token(container: ComparedContainer) -> ComparedContainer:
    if not container.volume_mounts:
        return container
    mounts = [mount for mount in container.volume_mounts if not _mounts_token(mount)]
    return replace(container, volume_mounts=tuple(mounts))


def _mounts_token(mount: ComparedMount) -> bool:
    return mount.mount_path == TOKEN_PATH and mount.name.startswith(TOKEN_VOLUME_PREFIX)


class DecisionCache:
    """A least-recently-used cache for the responses of one route.

    An entry serves a pod if all that the decision read is the same: the fields of the pod that
    `ComparedPod` declares, and the cluster objects. Some decisions read more, and are not cached:
    - The pod has a variable, a volume, a mount or a helper container with a name that the route
      injects. The decision compares their values and uses their indexes.
    - The route injects a mount at the path of the pod's own token, which the key leaves out.
    - A ConfigMap must exist before the pod, or the review is about ephemeral containers.
    - The route has external configuration, which can change between two reviews.
    """

    def __init__(self, route: Route) -> None:
        self.is_enabled = not route.has_external_config
        self._env_names = frozenset[str]().union(*[m.env_names for m in route.mutators])
        patterns = frozenset[str]().union(*[m.volume_names for m in route.mutators])
        # A name counts as a prefix too. A longer name then only costs a cache miss.
        self._volume_prefixes = (NO_TOKEN.name, *[name.removesuffix("*") for name in patterns])
        self._entries: OrderedDict[bytes, Entry] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, review: ComparedReview, view: ClusterView) -> Entry | None:
        key = _key(review)
        entry = self._entries.get(key)
        if entry is None:
            return None
        try:
            for ref, metadata in entry.reads:
                if view.get(ref) != metadata:
                    return None
        except NotCached:
            return None
        self._entries.move_to_end(key)
        return entry

    def put(self, review: ComparedReview, decision: Decision, entry: Entry) -> None:
        key, size = _key(review), entry.estimated_bytes
        if size > MAX_ENTRY_BYTES or not self._is_cacheable(review, decision):
            return
        self._remove(key)
        self._entries[key] = entry
        self._size += size
        while self._size > MAX_CACHE_BYTES or len(self._entries) > MAX_ENTRIES:
            self._remove(next(iter(self._entries)))

    def _is_cacheable(self, review: ComparedReview, decision: Decision) -> bool:
        if decision.prerequisites or review.request.sub_resource:
            return False
        spec = review.request.object.spec
        containers = (*(spec.init_containers or ()), *(spec.containers or ()))
        helpers = [helper.name for i in decision.injections for helper in i.helpers]
        injected = [m for i in decision.injections for c in i.containers for m in c.volume_mounts]
        existing = [mount.name for c in containers for mount in c.volume_mounts or ()]
        existing += [volume.name for volume in spec.volumes or ()]
        return not (
            any(clean_path(mount.mount_path) == TOKEN_PATH for mount in injected)
            or any(name.startswith(self._volume_prefixes) for name in existing)
            or any(container.name in helpers for container in containers)
            or any(v.name in self._env_names for c in containers for v in c.env or ())
        )

    def _remove(self, key: bytes) -> None:
        entry = self._entries.pop(key, None)
        if entry:
            self._size -= entry.estimated_bytes


def _key(review: ComparedReview) -> bytes:
    """Hashes all that a decision reads of a review."""
    request = review.request
    fields = (request.kind, request.operation, request.sub_resource, request.namespace)
    return blake2b(encode((fields, request.object)), digest_size=32).digest()
