"""A container of ours among a pod's own: it changes nothing of what they are, and can do no more than it must."""

from __future__ import annotations

from msgspec import Struct

from cwii_webhook.injection import NO_TOKEN_MOUNT, Joining, Json, Mount, Variable
from cwii_webhook.review import Pod
from cwii_webhook.shape import common_user, resources

NOBODY = 65532  # for a pod that says that it is not root, but not who it is


class Guest(Struct, frozen=True, gc=False):
    """What is to run, and what it needs."""

    name: str
    image: str
    script: str
    variables: tuple[Variable, ...]
    mounts: tuple[Mount, ...]
    cpu: str
    memory: str
    writer: bool = False  # of what the pod's own read: it goes before them


def joining(guest: Guest, pod: Pod) -> Joining:
    """It fits the restricted standard wherever the pod's own containers do."""
    body: Json = {
        "name": guest.name,
        "image": guest.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["sh", "-c"],
        "args": [guest.script],
        "env": guest.variables,
        "volumeMounts": (*guest.mounts, NO_TOKEN_MOUNT),
        "securityContext": {**security(pod), "readOnlyRootFilesystem": True} if guest.writer else security(pod),
        "resources": resources(pod, guest.cpu, guest.memory),
    }
    return Joining(guest.name, body, first=guest.writer)


def security(pod: Pod) -> dict[str, object]:
    least: dict[str, object] = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}}
    user = common_user(pod)
    if user is None and _never_root(pod):
        user = NOBODY
    if user is not None:
        least["runAsUser"] = user
    if user:
        least["runAsNonRoot"] = True
    return least


def _never_root(pod: Pod) -> bool:
    base = pod.spec.security_context
    if base and base.run_as_non_root:
        return True
    own = [c.security_context for c in (*(pod.spec.init_containers or ()), *(pod.spec.containers or ()))]
    return bool(own) and all(said and said.run_as_non_root for said in own)
