"""Builds helper containers that fit into any pod and have no more rights than they need."""

from __future__ import annotations

from msgspec import Struct

from cwii_webhook.admission.injection import (
    NO_TOKEN_MOUNT,
    EnvVar,
    HelperContainer,
    Json,
    VolumeMount,
)
from cwii_webhook.admission.review import Pod, init_and_main_containers
from cwii_webhook.dialects.common.pod_traits import (
    common_user,
    declared_resources,
    helper_resources,
)

NON_ROOT_USER = 65532  # for pods that must not run as root and name no user


class HelperSpec(Struct, frozen=True, gc=False):
    """What a helper container runs, and what it needs."""

    name: str
    image: str
    script: str
    env: tuple[EnvVar, ...]
    volume_mounts: tuple[VolumeMount, ...]
    cpu: str
    memory: str
    runs_first: bool = False  # before the pod's init containers, which read what it writes


def build_helper(spec: HelperSpec, pod: Pod) -> HelperContainer:
    """Builds a container that meets the restricted Pod Security Standard if the pod does."""
    security = security_context(helper_user(pod))
    if spec.runs_first:
        security["readOnlyRootFilesystem"] = True
    manifest: Json = {
        "name": spec.name,
        "image": spec.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["sh", "-c"],
        "args": [spec.script],
        "env": spec.env,
        "volumeMounts": (*spec.volume_mounts, NO_TOKEN_MOUNT),
        "securityContext": security,
        "resources": helper_resources(declared_resources(pod), spec.cpu, spec.memory),
    }
    return HelperContainer(spec.name, manifest, runs_first=spec.runs_first)


def helper_user(pod: Pod) -> int | None:
    """Returns the user that a helper container runs as, or None if its image decides."""
    user = common_user(pod)
    return NON_ROOT_USER if user is None and _requires_non_root(pod) else user


def security_context(user: int | None) -> dict[str, object]:
    context: dict[str, object] = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    if user is not None:
        context["runAsUser"] = user
    if user is not None and user > 0:
        context["runAsNonRoot"] = True
    return context


def _requires_non_root(pod: Pod) -> bool:
    if pod.spec.security_context and pod.spec.security_context.run_as_non_root:
        return True
    contexts = [container.security_context for container in init_and_main_containers(pod)]
    return bool(contexts) and all(context and context.run_as_non_root for context in contexts)
