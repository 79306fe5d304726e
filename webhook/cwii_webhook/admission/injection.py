"""What a pod is given: volumes, and in each container variables and mounts; containers of our own; annotations and labels.

Plain data between the mutators, who decide, and `patch`, which alone knows how to say it to the API server.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from cwii_webhook.admission.annotation_sources import AnnotationSource
from cwii_webhook.admission.memo import Memo
from cwii_webhook.admission.review import ContainerList, encode

PLACE = 256  # weight of what one container is given
Json = Mapping[str, object]


class Variable(Struct, frozen=True, gc=False, cache_hash=True):
    """An entry of a container's env, in its wire form. `variable` makes them."""

    name: str
    value: str


class Mount(Struct, frozen=True, gc=False, cache_hash=True, rename="camel", omit_defaults=True):
    """An entry of a container's volumeMounts, in its wire form."""

    name: str
    mount_path: str
    read_only: bool = False


class Volume(Struct, frozen=True, gc=False):
    """A volume: its name, and all the rest of it."""

    name: str
    source: Json


# The API server would mount a token of its own into each container that has nothing at this path. Ours need none.
NO_TOKEN = Volume("cwii-no-token", {"emptyDir": {}})
NO_TOKEN_MOUNT = Mount(
    NO_TOKEN.name, "/var/run/secrets/kubernetes.io/serviceaccount", read_only=True
)


class ContainerInjection(Struct, frozen=True, gc=False):
    """What one container of the pod's is given."""

    container_list: ContainerList
    index: int
    variables: tuple[Variable, ...] = ()
    mounts: tuple[Mount, ...] = ()


class HelperContainer(Struct, frozen=True, gc=False, eq=False):
    """A container of our own, in its wire form. One of its name that is there already is left, or else `renewed`.

    It is like no other but itself: pods that are given the same are given the very same.
    """

    name: str
    body: Json
    container_list: ContainerList = "initContainers"
    first: bool = False
    replaces_existing: bool = False


class ConfigMap(Struct, frozen=True, gc=False):
    """An object that must be there before the pod is."""

    namespace: str
    name: str
    data: Mapping[str, str]
    labels: Mapping[str, str] = {}


class Origin(Struct, frozen=True, gc=False):
    """Where a value comes from: the annotation and who bears it, or, with neither, the server's own settings."""

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


class Injection(Struct, frozen=True, gc=False, kw_only=True, eq=False):
    """What one mutator gives. Names in `ours` (volumes with their mounts, and variables) are set whatever is there; others only where nothing is.

    It is like no other but itself: whatever follows from it is worked out once for all pods that are given the very same.
    """

    provider: str  # the short name of what it is, such as aws
    volumes: tuple[Volume, ...] = ()
    containers: tuple[ContainerInjection, ...] = ()
    helpers: tuple[HelperContainer, ...] = ()
    replaces: frozenset[str] = frozenset()
    annotations: Mapping[str, str] = {}
    labels: Mapping[str, str] = {}
    prerequisites: tuple[ConfigMap, ...] = ()
    warnings: tuple[str, ...] = ()
    origins: tuple[Origin, ...] = ()
    summary: str = ""  # the origins as one line, where a mutator has it at hand


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
    """Why a mutator gives nothing. What somebody asked for and does not get is a warning to him."""

    provider: str
    reason: Reason
    text: str = ""
    warnings: tuple[str, ...] = ()


class PodRefused(Exception):
    """Policy says no: this pod must not run so. The message names the annotation, who bears it, and what to do.

    Where it has to be a peer's own message, which says less, warnings say the rest.
    """

    def __init__(self, message: str, code: int = 400, warnings: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.warnings = warnings


def variable(name: str, value: str) -> Variable:
    """The kubelet expands $(OTHER) in what it is given, and makes one $ of two: a value of ours comes out as it went in."""
    if "$(" in value or "$$" in value:
        value = value.replace("$", "$$")
    return Variable(name, value)


def weight(injection: Injection, places: Collection[object] = ()) -> int:
    """Of one that is remembered, with what was said of so many containers."""
    return len(encode(injection)) + PLACE * len(places)


_more: Memo[tuple[Injection, tuple[HelperContainer, ...], tuple[str, ...]], Injection] = Memo()


def more(
    injection: Injection, joining: tuple[HelperContainer, ...], warnings: tuple[str, ...]
) -> Injection:
    """With what goes with one pod and not with another."""
    if not joining and not warnings:
        return injection
    key = injection, joining, warnings
    known = _more.get(key)
    if known is None:
        known = replace(injection, helpers=joining, warnings=(*injection.warnings, *warnings))
        _more.keep(key, known, weight(known))
    return known
