"""What a user would want to know of a pod that is given an identity: said as warnings of the answer, whatever the dialect."""

from __future__ import annotations

from collections.abc import Iterator

from cwii_webhook.review import Pod
from cwii_webhook.shape import user

LEAST, MOST = 600, 1 << 32  # seconds: what the API server takes


def expiration(seconds: int, key: str) -> Iterator[str]:
    if not LEAST <= seconds <= MOST:
        yield f"{key}: the API server refuses a token of {seconds} seconds; it takes {LEAST} to {MOST}"


def unreadable(pod: Pod, mode: int, token: str) -> Iterator[str]:
    """The kubelet gives a token to the pod's fsGroup, or to the one user that all containers run as; otherwise the volume's mode says who reads it."""
    base = pod.spec.security_context
    if mode & 0o004 or (base and base.fs_group is not None):
        return
    users = {c.name: user(c, base) for c in (*(pod.spec.init_containers or ()), *(pod.spec.containers or ()))}
    if len(set(users.values())) == 1 and None not in users.values():
        return
    for name, number in users.items():
        if number:
            yield f"container {name} runs as user {number} and will not be able to read {token}: set the pod's securityContext.fsGroup"
