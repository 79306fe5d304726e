"""Decodes AdmissionReviews and encodes the responses.

The types declare only the fields that decisions read. Patches add to containers and never write one
as a whole, so fields that are unknown here survive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
from msgspec import Struct, UnsetType, field

from cwii_webhook.admission.cluster_view import OwnerReference

MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
ContainerList = Literal["containers", "initContainers", "ephemeralContainers"]


class ApiObject(Struct, frozen=True, gc=False, rename="camel"):
    """Base of all decoded types: names in camel case, unknown fields ignored."""


class EnvVar(ApiObject, frozen=True):
    name: str = ""
    value: str | None = None


class VolumeMount(ApiObject, frozen=True):
    name: str = ""
    mount_path: str = ""
    read_only: bool | None = None


class SecurityContext(ApiObject, frozen=True):
    """The securityContext of a pod or of a container."""

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
    env: list[EnvVar] | None = None
    env_from: list[msgspec.Raw] | None = None
    volume_mounts: list[VolumeMount] | None = None
    security_context: SecurityContext | None = None
    resources: Resources | None = None


class Volume(ApiObject, frozen=True):
    """A volume, with the raw sources of the kinds that injections use."""

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
    owner_references: list[OwnerReference] | None = None


class Pod(ApiObject, frozen=True):
    """A pod. The API server always writes both fields, so a body without one of them is invalid."""

    metadata: Metadata
    spec: Spec


ContainerRefs = tuple[tuple[ContainerList, int], ...]  # list and index of each container


def init_and_main_containers(pod: Pod) -> Sequence[Container]:
    """Returns all containers that run from the beginning, in the order in which they start."""
    return [*(pod.spec.init_containers or ()), *(pod.spec.containers or ())]


def env_names(containers: Sequence[Container]) -> frozenset[str]:
    """Returns the names of all variables that the containers set."""
    return frozenset(
        [variable.name for container in containers if container.env for variable in container.env]
    )


class Kind(ApiObject, frozen=True):
    """The group and kind of the object under review."""

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
    """A request about an object that is not a pod."""

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
    patch: bytes | UnsetType = msgspec.UNSET  # msgspec writes bytes as base64
    warnings: tuple[str, ...] = ()
    audit_annotations: Mapping[str, str] = {}


class ResponseReview(Struct, frozen=True, gc=False, rename="camel"):
    api_version: str
    kind: str
    response: Response


class InvalidReview(Exception):
    """The body is not an AdmissionReview, so it does not come from an API server."""


_DECODER = msgspec.json.Decoder(Review)
_OTHER_DECODER = msgspec.json.Decoder(OtherReview)
_ENCODER = msgspec.json.Encoder()


def decode_review(body: bytes) -> Review:
    try:
        return _DECODER.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as e:
        if other := _decode_other(body):
            return other
        raise InvalidReview(str(e)) from e


def _decode_other(body: bytes) -> Review | None:
    """Decodes a review of an object that is not a pod. The object may have any form."""
    try:
        review = _OTHER_DECODER.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    request = review.request
    if request.kind.is_pod:
        return None
    return Review(
        Request(
            request.uid,
            request.kind,
            request.operation,
            namespace=request.namespace,
            name=request.name,
        ),
        review.api_version,
        review.kind,
    )


def encode(value: object) -> bytes:
    return _ENCODER.encode(value)


def encode_response(api_version: str, kind: str, response: Response) -> bytes:
    """Encodes the response. Its API version is the one of the review."""
    return _ENCODER.encode(ResponseReview(api_version, kind, response))
