"""AdmissionReviews: of the bytes that come, the few fields that are read; and the answer, back as bytes.

What is not declared here is not decoded, and so cannot be lost: no container is ever written anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
from msgspec import Struct, UnsetType, field

from cwii_webhook.admission.cluster_view import Owner

MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
ContainerList = Literal["containers", "initContainers", "ephemeralContainers"]


class ApiObject(Struct, frozen=True, gc=False, rename="camel"):
    """Something of the API server's, as far as it is read."""


class Variable(ApiObject, frozen=True):
    name: str = ""
    value: str | None = None


class Mount(ApiObject, frozen=True):
    name: str = ""
    mount_path: str = ""
    read_only: bool | None = None


class SecurityContext(ApiObject, frozen=True):
    """Of a pod or of a container."""

    run_as_user: int | None = None
    run_as_non_root: bool | None = None
    fs_group: int | None = None


class Resources(ApiObject, frozen=True):
    requests: dict[str, str | int | float] | None = None
    limits: dict[str, str | int | float] | None = None


class Container(ApiObject, frozen=True):
    name: str = ""
    image: str | None = None
    command: list[str] | None = None
    args: list[str] | None = None
    env: list[Variable] | None = None
    env_from: list[msgspec.Raw] | None = None
    volume_mounts: list[Mount] | None = None
    security_context: SecurityContext | None = None
    resources: Resources | None = None
    restart_policy: str | None = None


class Volume(ApiObject, frozen=True):
    """Its sources as they stand, as far as we make volumes of the kind."""

    name: str = ""
    projected: msgspec.Raw | UnsetType = msgspec.UNSET
    config_map: msgspec.Raw | UnsetType = msgspec.UNSET
    empty_dir: msgspec.Raw | UnsetType = msgspec.UNSET
    downward_api: msgspec.Raw | UnsetType = field(default=msgspec.UNSET, name="downwardAPI")


class OperatingSystem(ApiObject, frozen=True):
    name: str = ""


class Requirement(ApiObject, frozen=True):
    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class Term(ApiObject, frozen=True):
    match_expressions: list[Requirement] | None = None


class Selector(ApiObject, frozen=True):
    node_selector_terms: list[Term] | None = None


class NodeAffinity(ApiObject, frozen=True):
    required: Selector | None = field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(ApiObject, frozen=True):
    node_affinity: NodeAffinity | None = None


class Spec(ApiObject, frozen=True):
    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    ephemeral_containers: list[Container] | None = None
    volumes: list[Volume] | None = None
    service_account_name: str | None = None
    host_network: bool | None = None
    security_context: SecurityContext | None = None
    resources: Resources | None = None
    os: OperatingSystem | None = None
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None


class Metadata(ApiObject, frozen=True):
    name: str | None = None
    generate_name: str | None = None
    namespace: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[Owner] | None = None


class Pod(ApiObject, frozen=True):
    """An API server always writes both: what has them not is no pod, and nothing could be added to it."""

    metadata: Metadata
    spec: Spec


ContainerRefs = tuple[tuple[ContainerList, int], ...]  # of containers


def containers(pod: Pod) -> Sequence[Container]:
    """All that run from the beginning, in the order in which they start."""
    return [*(pod.spec.init_containers or ()), *(pod.spec.containers or ())]


def variable_names(containers: Sequence[Container]) -> frozenset[str]:
    """Of the variables that they set themselves."""
    return frozenset(
        [variable.name for container in containers if container.env for variable in container.env]
    )


class Kind(ApiObject, frozen=True):
    """Of what the review is about."""

    group: str = ""
    kind: str = ""

    @property
    def is_pod(self) -> bool:
        return self.kind == "Pod" and not self.group


class Request(ApiObject, frozen=True):
    uid: str
    kind: Kind = Kind("", "Pod")
    operation: str = ""
    sub_resource: str | None = None
    namespace: str | None = None
    name: str | None = None
    dry_run: bool | None = None
    object: Pod | None = None
    old_object: Pod | None = None


class Review(ApiObject, frozen=True):
    request: Request
    api_version: str = "admission.k8s.io/v1"
    kind: str = "AdmissionReview"


class OtherRequest(ApiObject, frozen=True):
    """A request about something that we know nothing of."""

    uid: str
    kind: Kind
    operation: str = ""
    namespace: str | None = None
    name: str | None = None


class OtherReview(ApiObject, frozen=True):
    request: OtherRequest
    api_version: str = "admission.k8s.io/v1"
    kind: str = "AdmissionReview"


class Status(Struct, frozen=True, gc=False, omit_defaults=True):
    message: str
    code: int = 0


class Response(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    uid: str
    allowed: bool
    status: Status | None = None
    patch_type: str = ""
    patch: msgspec.Raw | UnsetType = msgspec.UNSET
    warnings: tuple[str, ...] = ()
    audit_annotations: Mapping[str, str] = {}


class Answer(Struct, frozen=True, gc=False, rename="camel"):
    api_version: str
    kind: str
    response: Response


class InvalidReview(Exception):
    """Bytes that are no review: whoever sent them was not an API server."""


_DECODER = msgspec.json.Decoder(Review)
_FOREIGN = msgspec.json.Decoder(OtherReview)
_ENCODER = msgspec.json.Encoder()


def decode_review(body: bytes) -> Review:
    try:
        return _DECODER.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as e:
        if foreign := _foreign(body):
            return foreign
        raise InvalidReview(str(e)) from e


def _foreign(body: bytes) -> Review | None:
    """What is no pod need not look like one."""
    try:
        found = _FOREIGN.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    asked = found.request
    if asked.kind.is_pod:
        return None
    return Review(
        Request(asked.uid, asked.kind, asked.operation, None, asked.namespace, asked.name),
        found.api_version,
        found.kind,
    )


def encode(value: object) -> bytes:
    return _ENCODER.encode(value)


def encode_response(review: Review, response: Response) -> bytes:
    """In the version in which it was asked."""
    return _ENCODER.encode(Answer(review.api_version, review.kind, response))
