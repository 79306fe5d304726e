"""Defines what a mutator adds to a pod, as plain data. `patch` turns it into a JSON patch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct

from cwii_webhook.admission.annotation_sources import AnnotationSource
from cwii_webhook.admission.review import ContainerList

Json = Mapping[str, object]


class EnvVar(Struct, frozen=True, gc=False):
    """An entry of a container's env. `env_var` makes one from a literal value."""

    name: str
    value: str


class VolumeMount(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """An entry of a container's volumeMounts."""

    name: str
    mount_path: str
    read_only: bool = False


class Volume(Struct, frozen=True, gc=False):
    """A volume: its name and its source, as in the pod spec."""

    name: str
    source: Json

    @property
    def manifest(self) -> Json:
        return {"name": self.name, **self.source}


# The API server mounts the pod's own token into every container that mounts nothing at this path.
# Injected containers do not need that token.
NO_TOKEN = Volume("cwii-no-token", {"emptyDir": {}})
NO_TOKEN_MOUNT = VolumeMount(
    NO_TOKEN.name, "/var/run/secrets/kubernetes.io/serviceaccount", read_only=True
)


class ContainerInjection(Struct, frozen=True, gc=False):
    """What one of the pod's containers gets."""

    container_list: ContainerList
    index: int
    env: tuple[EnvVar, ...] = ()
    volume_mounts: tuple[VolumeMount, ...] = ()


class HelperContainer(Struct, frozen=True, gc=False):
    """A container that is added to the pod.

    A container of this name that exists already stays, unless `replaces_existing` is set.
    """

    name: str
    manifest: Json
    container_list: ContainerList = "initContainers"
    runs_first: bool = False
    replaces_existing: bool = False


class ConfigMap(Struct, frozen=True, gc=False):
    """A ConfigMap that must exist before the pod is created."""

    namespace: str
    name: str
    data: Mapping[str, str]
    labels: Mapping[str, str] = {}


class Origin(Struct, frozen=True, gc=False):
    """Where a value comes from: an annotation of a source, or a default if `source` is None."""

    name: str
    value: str
    key: str = ""
    source: AnnotationSource | None = None


def describe_origins(origins: Iterable[Origin]) -> str:
    return "; ".join(
        [
            f"{origin.name} from {origin.source.ref}"
            if origin.source
            else f"{origin.name} by default"
            for origin in origins
        ]
    )


class Injection(Struct, frozen=True, gc=False, kw_only=True):
    """What one mutator adds to a pod.

    Volumes, their mounts and variables whose names are in `replaces` overwrite what exists. All
    others are added only if the name is free.
    """

    provider: str  # as in metrics and in the marker: aws, az, azure or gcp
    volumes: tuple[Volume, ...] = ()
    containers: tuple[ContainerInjection, ...] = ()
    helpers: tuple[HelperContainer, ...] = ()
    replaced_names: frozenset[str] = frozenset()
    annotations: Mapping[str, str] = {}
    labels: Mapping[str, str] = {}
    prerequisites: tuple[ConfigMap, ...] = ()
    warnings: tuple[str, ...] = ()
    origins: tuple[Origin, ...] = ()
    summary: str = ""  # replaces the description of the origins in the audit annotation
    overflow_hint: str = ""  # how to avoid the annotations if the pod has no room for them


Reason = Literal[
    "not-asked",
    "incomplete",
    "no-account",
    "mirror-pod",
    "switched-off",
    "not-a-pod",
    "not-created",
    "no-containers",
    "nothing-there",
]


class Skip(Struct, frozen=True, gc=False):
    """Why a mutator adds nothing. A request that cannot be met is a warning to the user."""

    provider: str
    reason: Reason
    detail: str = ""
    warnings: tuple[str, ...] = ()


class PodRefused(Exception):
    """The pod must not run. The message names the annotation, the object and the remedy.

    If the message has to be a peer's, which says less, the warnings carry the remedy.
    """

    def __init__(self, message: str, code: int = 400, warnings: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.warnings = warnings


def env_var(name: str, value: str) -> EnvVar:
    """Makes a variable whose value reaches the process unchanged.

    The kubelet expands $(NAME) in values and turns $$ into $.
    """
    if "$(" in value or "$$" in value:
        value = value.replace("$", "$$")
    return EnvVar(name, value)
