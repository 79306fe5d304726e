"""Decides for one pod: asks each mutator of a route, and turns the injections into a patch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from cwii_webhook.admission.annotation_sources import PodContext
from cwii_webhook.admission.cluster_view import ClusterView
from cwii_webhook.admission.ephemeral import Injector, ephemeral_injections
from cwii_webhook.admission.injection import (
    ConfigMap,
    Injection,
    PodRefused,
    Reason,
    Skip,
    describe_origins,
)
from cwii_webhook.admission.patch import Op, Patch, build_patch
from cwii_webhook.admission.review import MIRROR_ANNOTATION, Pod, Request

MAX_ANNOTATION_BYTES = 256 * 1024  # the API server's limit for all annotations of an object
MAX_CONTAINERS = 500  # more than any real pod has; a forged review may have any number
SKIP_DETAILS: Mapping[Reason, str] = {
    "mirror-pod": "it only shows what a node runs already, and is nobody's to change",
    "not-created": (
        "of a pod that is there, the API server takes no other change than containers that join"
    ),
    "no-containers": "it has none, and the API server takes no pod without",
}
Outcome = Literal["injected", "nothing", "refused"]


class Mutator(Injector, Protocol):
    """Decides on one identity. It is pure: no I/O, no clock, no state.

    `DecisionCache` relies on what a mutator reads. It must not read the UID of the request, unless
    it has external configuration. Of variables it reads the values of those in `env_names` only,
    and of volumes and mounts the content of those in `volume_names` only.
    """

    def __call__(self, context: PodContext, /) -> Injection | Skip: ...


def no_hints(_context: PodContext) -> tuple[str, ...]:
    return ()


class Route(Struct, frozen=True):
    """A path and the mutators that answer there."""

    dialect: str
    path: str
    mutators: tuple[Mutator, ...]
    marker: str = ""  # the annotation, if any, that lists what was injected
    typo_hints: Callable[[PodContext], tuple[str, ...]] = no_hints
    has_external_config: bool = False


class Decision(Struct, frozen=True):
    """The outcome for one pod, with all that the response, the log and `explain` show of it."""

    outcome: Outcome
    ops: Sequence[Op] = ()
    warnings: tuple[str, ...] = ()  # includes the typo hints
    typo_hints: tuple[str, ...] = ()  # only if nothing is injected
    audit: Mapping[str, str] = {}
    injections: tuple[Injection, ...] = ()
    skips: tuple[Skip, ...] = ()
    message: str = ""
    code: int = 0

    @property
    def prerequisites(self) -> tuple[ConfigMap, ...]:
        return tuple(
            [config_map for injection in self.injections for config_map in injection.prerequisites]
        )


def admit(route: Route, request: Request, view: ClusterView) -> Decision:
    """Decides on a request.

    Raises NotCached if the view lacks an object that the decision needs.
    """
    pod = request.object
    if pod is None or not request.kind.is_pod:
        return _skipped(route, "not-a-pod")
    if (count := _container_count(pod)) > MAX_CONTAINERS:
        message = f"a pod of {count} containers is more than is looked at: {MAX_CONTAINERS} at most"
        return Decision("refused", message=message, code=400)
    if reason := _skip_reason(request, pod):
        return _skipped(route, reason)
    if request.sub_resource:
        return _admit_ephemeral(route, request, pod)
    return _admit_new(route, PodContext(request, pod, view))


def _skipped(route: Route, reason: Reason) -> Decision:
    return Decision("nothing", skips=(Skip(route.dialect, reason, SKIP_DETAILS.get(reason, "")),))


def _skip_reason(request: Request, pod: Pod) -> Reason | None:
    if MIRROR_ANNOTATION in (pod.metadata.annotations or ()):
        return "mirror-pod"
    if request.sub_resource == "ephemeralcontainers":
        return None
    if request.sub_resource or request.operation not in {"", "CREATE"}:
        return "not-created"
    return None if pod.spec.containers else "no-containers"


def _container_count(pod: Pod) -> int:
    spec = pod.spec
    lists = (spec.containers, spec.init_containers, spec.ephemeral_containers)
    return sum([len(containers or ()) for containers in lists])


def _admit_new(route: Route, context: PodContext) -> Decision:
    hints = route.typo_hints(context)
    try:
        results = [mutator(context) for mutator in route.mutators]
        injections = tuple([result for result in results if isinstance(result, Injection)])
        skips = tuple([result for result in results if isinstance(result, Skip)])
        warnings = tuple([warning for result in results for warning in result.warnings])
        if not injections:
            return Decision("nothing", skips=skips, warnings=(*warnings, *hints), typo_hints=hints)
        marked, overflow_warnings = _with_marker(route, context, injections)
    except PodRefused as e:
        warnings = (*e.warnings, *hints)
        return Decision("refused", warnings=warnings, message=e.message, code=e.code)
    patch = build_patch(context.pod, marked)
    warnings = (*warnings, *overflow_warnings, *hints, *patch.warnings)
    return _injected(patch, injections, warnings, skips=skips)


def _injected(
    patch: Patch,
    injections: tuple[Injection, ...],
    warnings: tuple[str, ...],
    *,
    skips: tuple[Skip, ...] = (),
) -> Decision:
    return Decision(
        "injected",
        patch.ops,
        warnings=warnings,
        audit=_audit_annotations(injections),
        injections=injections,
        skips=skips,
    )


def _audit_annotations(injections: Sequence[Injection]) -> Mapping[str, str]:
    """The API server drops audit annotations whose keys have a slash."""
    by_provider = {i.provider: i.summary or describe_origins(i.origins) for i in injections}
    return {"injected": ",".join([i.provider for i in injections]), **by_provider}


def _with_marker(
    route: Route, context: PodContext, injections: tuple[Injection, ...]
) -> tuple[tuple[Injection, ...], tuple[str, ...]]:
    """Adds the marker annotation if there is room, and checks the size of all annotations.

    The API server refuses a pod whose annotations are too large. Peers let it do so; this webhook
    refuses first and names the remedy.
    """
    if not route.marker:
        if _size_over_limit(context.annotations, injections):
            text = f"the pod's annotations are over {MAX_ANNOTATION_BYTES} bytes with ours, "
            return injections, (text + "and the API server refuses them",)
        return injections, ()
    marked = (*injections, _marker(route.marker, context, injections))
    if not _size_over_limit(context.annotations, marked):
        return marked, ()
    size = _size_over_limit(context.annotations, injections)
    if not size:
        text = f"{context.ref} has no room for {route.marker} among its annotations: it is left out"
        return injections, (text,)
    keys = " and ".join([key for injection in injections for key in injection.annotations])
    hints = "".join([injection.overflow_hint for injection in injections])
    raise PodRefused(
        f"{context.ref} has no room for {keys}: its annotations would have {size} bytes, and "
        f"{MAX_ANNOTATION_BYTES} is all that they may have; shorten them{hints}"
    )


def _size_over_limit(annotations: Mapping[str, str], injections: Sequence[Injection]) -> int:
    """Returns the size of all annotations in bytes, or 0 if it is within the limit."""
    merged = {**annotations}
    for injection in injections:
        merged.update(injection.annotations)
    characters = len("".join(merged)) + len("".join(merged.values()))
    if 4 * characters <= MAX_ANNOTATION_BYTES:  # UTF-8 needs at most four bytes for a character
        return 0
    size = sum([len(key.encode()) + len(text.encode()) for key, text in merged.items()])
    return size if size > MAX_ANNOTATION_BYTES else 0


def _marker(key: str, context: PodContext, injections: Sequence[Injection]) -> Injection:
    """Lists the injected providers, in addition to those that the annotation lists already."""
    existing = map(str.strip, context.annotations.get(key, "").split(","))
    providers = {*[injection.provider for injection in injections], *filter(None, existing)}
    return Injection(provider="", annotations={key: ",".join(sorted(providers))})


def _admit_ephemeral(route: Route, request: Request, pod: Pod) -> Decision:
    injections = ephemeral_injections(pod, request.old_object, route.mutators)
    if not injections:
        return _skipped(route, "nothing-there")
    patch = build_patch(pod, injections)
    warnings = (*[text for i in injections for text in i.warnings], *patch.warnings)
    return _injected(patch, injections, warnings)
