"""Builds the mutator of one cloud, and decides whether a pod asks for that cloud."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from cwii_webhook.admission.already_injected import has_same_source
from cwii_webhook.admission.annotation_sources import PodContext
from cwii_webhook.admission.injection import (
    NO_TOKEN,
    ConfigMap,
    ContainerInjection,
    EnvVar,
    Injection,
    Origin,
    Skip,
    Volume,
    VolumeMount,
)
from cwii_webhook.admission.review import Pod
from cwii_webhook.dialects.common.annotations import Annotation
from cwii_webhook.dialects.common.helper_container import HelperSpec, build_helper
from cwii_webhook.dialects.cwii.annotations import CloudAnnotations
from cwii_webhook.dialects.cwii.precedence import AnnotationResolver, describe

# Containers that cwii injects. A second pass finds them among the pod's own; they have all that
# they need.
HELPER_NAMES = frozenset(
    {"cwii-gcp-creds-writer", "cwii-gcp-verify", "cwii-aws-verify", "cwii-az-verify"}
)
TOKEN_FILE = "token"  # noqa: S105 - a file's name


class Identity(Struct, frozen=True, kw_only=True):
    """What a pod needs to use its identity in one cloud."""

    volumes: tuple[Volume, ...]
    env: tuple[EnvVar, ...]
    volume_mounts: tuple[VolumeMount, ...]
    helpers: tuple[HelperSpec, ...] = ()
    annotations: Mapping[str, str] = {}
    prerequisites: tuple[ConfigMap, ...] = ()
    overflow_hint: str = ""


class CloudMutator:
    """Injects the identity of one cloud into all containers of a pod."""

    def __init__(
        self,
        provider: str,
        volume_names: frozenset[str],
        env_names: frozenset[str],
        resolve: Callable[[AnnotationResolver], Identity | Skip],
    ) -> None:
        self.provider = provider
        self.volume_names = volume_names
        self.env_names = env_names
        self._resolve = resolve

    def skipped_containers(self, pod: Pod) -> frozenset[str]:  # noqa: ARG002 - cwii has no skip list
        return frozenset()

    def __call__(self, context: PodContext) -> Injection | Skip:
        annotations = AnnotationResolver(context)
        identity = self._resolve(annotations)
        if isinstance(identity, Skip):
            return identity
        volumes = (*identity.volumes, NO_TOKEN) if identity.helpers else identity.volumes
        return Injection(
            provider=self.provider,
            volumes=volumes,
            containers=tuple(
                [
                    ContainerInjection(*ref, identity.env, identity.volume_mounts)
                    for ref in context.container_refs(HELPER_NAMES)
                ]
            ),
            helpers=tuple([build_helper(helper, context.pod) for helper in identity.helpers]),
            annotations=identity.annotations,
            prerequisites=identity.prerequisites,
            warnings=(*annotations.warnings, *_conflict_warnings(context, identity.env, volumes)),
            origins=tuple(annotations.origins),
            overflow_hint=identity.overflow_hint,
        )


def _conflict_warnings(
    context: PodContext, env: Sequence[EnvVar], volumes: Sequence[Volume]
) -> Iterator[str]:
    """Warns of variables and volumes of the pod that take the place of injected ones."""
    values = {variable.name: variable.value for variable in env}
    containers = [c for c in context.containers if c.name not in HELPER_NAMES]
    for container in containers:
        for own in container.env or ():
            if own.name in values and own.value != values[own.name]:
                yield (
                    f"container {container.name} sets {own.name} itself: "
                    "that is used, not what is injected"
                )
    for container in containers:
        if container.env_from:
            yield (
                f"container {container.name} takes variables from elsewhere (envFrom): "
                f"should {', '.join(values)} be among them, ours are used"
            )
    existing = {volume.name: volume for volume in context.pod.spec.volumes or ()}
    for volume in volumes:
        own = existing.get(volume.name)
        if own and not has_same_source(own, volume):
            yield (
                f"volume {volume.name} is the pod's own and is left as it is: "
                "rename it, for what is injected belongs there"
            )


class TokenVolume:
    """The volume of one cloud's token. Clouds share none, because each needs its own audience."""

    def __init__(self, provider: str, mount_root: str) -> None:
        self.name = f"cwii-{provider}-token"
        self.mount = VolumeMount(self.name, f"{mount_root}/{provider}", read_only=True)
        self.path = f"{mount_root}/{provider}/{TOKEN_FILE}"

    def volume(self, audience: str, seconds: int) -> Volume:
        token = {"audience": audience, "expirationSeconds": seconds, "path": TOKEN_FILE}
        return Volume(self.name, {"projected": {"sources": [{"serviceAccountToken": token}]}})


def container_path(path: str, *, is_windows: bool) -> str:
    """Returns the path as processes in the container see it."""
    return "C:" + path.replace("/", "\\") if is_windows else path


class NativeAnnotation(Struct, frozen=True):
    """An annotation of another webhook that asks for a cloud.

    `dialect` is the dialect of this webhook that reads it, if any. `is_used` is None if no flag
    makes cwii read it.
    """

    annotation: Annotation
    dialect: str = ""
    is_used: bool | None = None

    def unused_warning(self, origin: Origin) -> str:
        flag = "with --native-annotations=true" if self.is_used is not None else ""
        dialect = f"in the dialect {self.dialect}" if self.dialect else ""
        ways = " or ".join(filter(None, (flag, dialect)))
        return f"{describe(origin)} is not heeded by this webhook: it would be {ways}"


def skip_unless_requested(
    provider: str,
    cloud: CloudAnnotations,
    annotations: AnnotationResolver,
    significant: Sequence[Annotation],
    *natives: NativeAnnotation,
) -> Skip | None:
    """Returns why there is nothing to inject, or None if the pod asks for the cloud.

    `significant` are annotations that show a wish for the cloud. On a namespace they do not: there
    they are defaults for the pods that ask.
    """
    inject = annotations.use_flag(cloud.inject)
    if inject:
        if inject.value == "true":
            return None
        detail = f"{describe(inject)} is false"
        return Skip(provider, "switched-off", detail, tuple(annotations.warnings))
    found = [
        (native, origin)
        for native in natives
        if (origin := annotations.peek(native.annotation, "inject"))
    ]
    if any(native.is_used for native, _ in found):
        return None
    peeked = [annotations.peek(annotation, "inject") for annotation in significant]
    alone = [o for o in peeked if o and o.source and o.source.scope != "namespace"]
    if alone:
        hints = [
            f'{describe(alone[0])} alone gives nothing: set {cloud.inject.key} to "true" beside it'
        ]
    else:
        hints = [native.unused_warning(origin) for native, origin in found]
    detail = f"nobody says {cloud.inject.key}"
    return Skip(provider, "not-asked", detail, (*annotations.warnings, *hints))


def skip_incomplete(provider: str, annotations: AnnotationResolver, *missing: str) -> Skip:
    """Returns a skip for a pod that asks for a cloud and lacks required annotations."""
    origins = annotations.origins
    request = describe(origins[0]) if origins else "an annotation of another webhook"
    text = (
        f"{request} asks for an identity, but nobody says {' and '.join(missing)}: "
        "set it on the pod, its owner, its ServiceAccount or its namespace"
    )
    return Skip(provider, "incomplete", text, (*annotations.warnings, text))
