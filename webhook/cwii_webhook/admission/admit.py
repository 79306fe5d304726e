"""The straight line for one pod: ask each mutator of the route, and say what comes of it as a patch."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from cwii_webhook.admission import ephemeral, patch
from cwii_webhook.admission.annotation_sources import PodContext
from cwii_webhook.admission.cluster_view import ClusterView
from cwii_webhook.admission.injection import ConfigMap, Injection, PodRefused, Reason, Skip
from cwii_webhook.admission.memo import Memo
from cwii_webhook.admission.merge import Gift, gift_of, letters, made
from cwii_webhook.admission.pieces import Op, Piece
from cwii_webhook.admission.review import MIRROR_ANNOTATION, Pod, Request, variable_names
from cwii_webhook.dialects.cwii.annotations import GCP_CREDENTIALS, GCP_DELIVERY

MAX_ANNOTATION_BYTES = 256 * 1024  # bytes: as much as an object's annotations may have together
MAX_CONTAINERS = (
    500  # containers: nobody runs so many in a pod, and strangers may post what they like
)
WHY: Mapping[Reason, str] = {
    "mirror-pod": "it only shows what a node runs already, and is nobody's to change",
    "not-created": "of a pod that is there, the API server takes no other change than containers that join",
    "no-containers": "it has none, and the API server takes no pod without",
}
Outcome = Literal["injected", "nothing", "refused"]


class Mutator(Protocol):
    """One thing that a pod can be given. It decides; it does nothing, waits for nothing, and has no clock."""

    @property
    def provider(self) -> str: ...
    @property
    def volumes(self) -> frozenset[str]:
        """Names, or beginnings of names that end in a star, of the volumes it makes."""
        ...

    @property
    def variables(self) -> frozenset[str]:
        """Names of the variables it sets."""
        ...

    def skipped(self, pod: Pod, /) -> Collection[str]:
        """Names of containers that get nothing, as the pod says it."""
        ...

    def __call__(self, subject: PodContext, /) -> Injection | Skip: ...


class Route(Struct, frozen=True):
    """A path, and what is given there. A dialect is the peer whose words are understood."""

    dialect: str
    path: str
    mutators: tuple[Mutator, ...]
    marker: str = ""  # the annotation, if any, that lists what was given


class Decision(Struct, frozen=True):
    """What is answered, and all that a log, a metric or a person wants to know of it."""

    outcome: Outcome
    pieces: Sequence[Piece] = ()
    warnings: tuple[str, ...] = ()
    annotation_warnings: tuple[
        str, ...
    ] = ()  # of these, what nobody hears though somebody means something by it
    audit: Mapping[str, str] = {}
    injections: tuple[Injection, ...] = ()
    skips: tuple[Skip, ...] = ()
    message: str = ""
    code: int = 0

    @property
    def ops(self) -> list[Op]:
        return [op for piece in self.pieces for op in piece.ops]

    @property
    def prerequisites(self) -> tuple[ConfigMap, ...]:
        return tuple(thing for injection in self.injections for thing in injection.prerequisites)


def admit(route: Route, request: Request, picture: ClusterView) -> Decision:
    pod = request.object
    if pod is None or not request.kind.is_pod:
        return Decision("nothing", skips=(Skip(route.dialect, "not-a-pod"),))
    if (count := _containers(pod)) > MAX_CONTAINERS:
        return Decision(
            "refused",
            message=f"a pod of {count} containers is more than is looked at: {MAX_CONTAINERS} at most",
            code=400,
        )
    if reason := _left_alone(request, pod):
        return Decision("nothing", skips=(Skip(route.dialect, reason, WHY[reason]),))
    if request.sub_resource:
        return _late(route, request, pod)
    subject = PodContext(request, pod, picture)
    try:
        return _decided(route, subject, [mutator(subject) for mutator in route.mutators])
    except PodRefused as e:
        return Decision(
            "refused",
            warnings=(*e.warnings, *subject.annotation_warnings),
            message=e.message,
            code=e.code,
        )


def _left_alone(request: Request, pod: Pod) -> Reason | None:
    if MIRROR_ANNOTATION in (pod.metadata.annotations or ()):
        return "mirror-pod"
    if request.sub_resource == "ephemeralcontainers":
        return None
    if request.sub_resource or request.operation not in {"", "CREATE"}:
        return "not-created"
    return None if pod.spec.containers else "no-containers"


def _containers(pod: Pod) -> int:
    spec = pod.spec
    return (
        len(spec.containers or ())
        + len(spec.init_containers or ())
        + len(spec.ephemeral_containers or ())
    )


def _decided(route: Route, subject: PodContext, parts: Sequence[Injection | Skip]) -> Decision:
    injections = tuple([part for part in parts if isinstance(part, Injection)])
    nothing = tuple([part for part in parts if isinstance(part, Skip)])
    if not injections:
        return Decision(
            "nothing",
            skips=nothing,
            warnings=(*_warnings(parts), *subject.annotation_warnings),
            annotation_warnings=subject.annotation_warnings,
        )
    given, warnings = _fitting(route, subject, injections)
    patched = patch.build(subject.pod, given, subject.variables)
    warnings = (*_warnings(parts), *warnings, *subject.annotation_warnings, *patched.warnings)
    return Decision(
        "injected",
        patched.pieces,
        warnings=warnings,
        audit=given.audit,
        injections=injections,
        skips=nothing,
    )


def _fitting(
    route: Route, subject: PodContext, injections: tuple[Injection, ...]
) -> tuple[Gift, tuple[str, ...]]:
    """With the marker, if there is room for it. What there is no room for the API server would refuse: a peer lets it, and we say so first."""
    theirs = subject.pod.metadata.annotations or {}
    given = gift_of(
        (*injections, _mark(route.marker, subject.pod, injections)) if route.marker else injections
    )
    if 4 * (letters(theirs) + given.letters) <= MAX_ANNOTATION_BYTES:
        return given, ()  # no letter has more than four bytes: most pods need no nearer look
    if not _overfull(theirs, given.annotations):
        return given, ()
    ours = {key: text for injection in injections for key, text in injection.annotations.items()}
    size = _overfull(theirs, ours)
    if not size:
        return gift_of(injections), (
            f"{subject.ref} has no room for {route.marker} among its annotations: it is left out",
        )
    if not route.marker:
        return given, (
            f"the pod's annotations are over {MAX_ANNOTATION_BYTES} bytes with ours, and the API server refuses them",
        )
    way_out = f", or set {GCP_DELIVERY.key} to config-map" if GCP_CREDENTIALS.key in ours else ""
    raise PodRefused(
        f"{subject.ref} has no room for {' and '.join(ours)}: its annotations would have {size} bytes, and {MAX_ANNOTATION_BYTES} is all that they may have; "
        f"shorten them{way_out}"
    )


def _overfull(theirs: Mapping[str, str], ours: Mapping[str, str]) -> int:
    """How many bytes they would have together, or 0 where there is room."""
    size = sum([len(key.encode()) + len(text.encode()) for key, text in {**theirs, **ours}.items()])
    return size if size > MAX_ANNOTATION_BYTES else 0


_marks: Memo[tuple[str, str, tuple[str, ...]], Injection] = Memo(64)


def _mark(key: str, pod: Pod, injections: Sequence[Injection]) -> Injection:
    """What is listed there already stays listed."""
    asked = (
        key,
        (pod.metadata.annotations or {}).get(key, ""),
        tuple([injection.provider for injection in injections]),
    )
    return _marks.get(asked) or _marks.keep(asked, _marked(*asked), len(asked[1]))


def _marked(key: str, there: str, gives: tuple[str, ...]) -> Injection:
    names = {*gives, *[name for name in map(str.strip, there.split(",")) if name]}
    return Injection(provider="", annotations={key: ",".join(sorted(names))})


def _late(route: Route, request: Request, pod: Pod) -> Decision:
    """Containers that join a running pod get what its others have."""
    injections = ephemeral.ephemeral_injections(pod, request.old_object, route.mutators)
    if not injections:
        return Decision("nothing", skips=(Skip(route.dialect, "nothing-there"),))
    given = made(injections)
    patched = patch.build(pod, given, variable_names(pod.spec.ephemeral_containers or ()))
    return Decision(
        "injected",
        patched.pieces,
        warnings=(*_warnings(injections), *patched.warnings),
        audit=given.audit,
        injections=injections,
    )


def _warnings(parts: Sequence[Injection | Skip]) -> tuple[str, ...]:
    return tuple([warning for part in parts for warning in part.warnings])
