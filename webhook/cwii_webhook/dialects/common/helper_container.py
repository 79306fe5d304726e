"""A container of ours among a pod's own: it changes nothing of what they are, and can do no more than it must."""

from __future__ import annotations

from msgspec import Struct

from cwii_webhook.admission.injection import NO_TOKEN_MOUNT, HelperContainer, Json, Mount, Variable
from cwii_webhook.admission.memo import Memo
from cwii_webhook.admission.review import Pod
from cwii_webhook.dialects.common.pod_traits import (
    DeclaredResources,
    common_user,
    declared_resources,
    helper_resources,
)

WEIGHT = 2048  # of one, without its script
NOBODY = 65532  # for a pod that says that it is not root, but not who it is


class HelperSpec(Struct, frozen=True, gc=False, cache_hash=True):
    """What is to run, and what it needs."""

    name: str
    image: str
    script: str
    variables: tuple[Variable, ...]
    mounts: tuple[Mount, ...]
    cpu: str
    memory: str
    runs_first: bool = False  # of what the pod's own read: it goes before them


_known: Memo[tuple[HelperSpec, int | None, DeclaredResources], HelperContainer] = Memo()


def build_helper(guest: HelperSpec, pod: Pod) -> HelperContainer:
    """It fits the restricted standard wherever the pod's own containers do, and requests nothing of what a pod has for all of them."""
    key = guest, helper_user(pod), declared_resources(pod)
    return _known.get(key) or _known.keep(key, _joining(*key), WEIGHT + len(guest.script))


def _joining(guest: HelperSpec, user: int | None, asking: DeclaredResources) -> HelperContainer:
    body: Json = {
        "name": guest.name,
        "image": guest.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["sh", "-c"],
        "args": [guest.script],
        "env": guest.variables,
        "volumeMounts": (*guest.mounts, NO_TOKEN_MOUNT),
        "securityContext": {**security_context(user), "readOnlyRootFilesystem": True}
        if guest.runs_first
        else security_context(user),
        "resources": helper_resources(asking, guest.cpu, guest.memory),
    }
    return HelperContainer(guest.name, body, first=guest.runs_first)


def helper_user(pod: Pod) -> int | None:
    """Whom it runs as; None where its image decides."""
    common = common_user(pod)
    return NOBODY if common is None and _never_root(pod) else common


def security_context(user: int | None) -> dict[str, object]:
    least: dict[str, object] = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    if user is not None:
        least["runAsUser"] = user
    if user is not None and user > 0:
        least["runAsNonRoot"] = True
    return least


def _never_root(pod: Pod) -> bool:
    base = pod.spec.security_context
    if base and base.run_as_non_root:
        return True
    own = [
        c.security_context
        for c in (*(pod.spec.init_containers or ()), *(pod.spec.containers or ()))
    ]
    return bool(own) and all(said and said.run_as_non_root for said in own)
