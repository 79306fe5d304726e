"""What a user would want to know of a pod that is given an identity: said as warnings of the answer, whatever the dialect."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from cwii_webhook.admission.annotation_sources import PodContext
from cwii_webhook.admission.injection import Variable
from cwii_webhook.admission.review import Pod
from cwii_webhook.dialects.common.pod_traits import container_user
from cwii_webhook.dialects.common.typo_hints import nearest, printable
from cwii_webhook.settings.formats import MAX_TOKEN_SECONDS, MIN_TOKEN_SECONDS

NAMES = 4  # of a list that are told of
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)


def expiration(seconds: int, key: str) -> Iterator[str]:
    if not MIN_TOKEN_SECONDS <= seconds <= MAX_TOKEN_SECONDS:
        yield f"{key}: the API server refuses a token of {seconds} seconds; it takes {MIN_TOKEN_SECONDS} to {MAX_TOKEN_SECONDS}"


def client(told: str, value: str) -> Iterator[str]:
    """What has the form of an id, and yet is none that Entra ID gives. `told` is which annotation, and on what it is."""
    if not UUID.fullmatch(value):
        yield f"{told} is {printable(value)}, which is no UUID: Azure will not know it"


def tenant(told: str, value: str) -> Iterator[str]:
    if not UUID.fullmatch(value) and "." not in value:
        yield f"{told} is {printable(value)}, neither a UUID nor a domain: Azure will not know it"


def service_account(told: str, value: str) -> Iterator[str]:
    """Google takes its unique number too."""
    if "@" not in value and not value.isdecimal():
        yield f"{told} is {printable(value)}, which is no service account's address: Google Cloud will not know it"


def unreadable(pod: Pod, mode: int, token: str) -> Iterator[str]:
    """The kubelet gives a token to the pod's fsGroup, or to the one user that all containers run as; otherwise the volume's mode says who reads it."""
    base = pod.spec.security_context
    if mode & 0o004 or (base and base.fs_group is not None):
        return
    users = {
        c.name: container_user(c, base)
        for c in (*(pod.spec.init_containers or ()), *(pod.spec.containers or ()))
    }
    if len(set(users.values())) == 1 and None not in users.values():
        return
    for name, number in users.items():
        if number:
            yield f"container {name} runs as user {number} and will not be able to read {token}: set the pod's securityContext.fsGroup"


def skipped(
    subject: PodContext, key: str, names: Collection[str], ours: Collection[str] = ()
) -> Iterator[str]:
    """Whoever is to be skipped and is not there: misspelt perhaps, or of another webhook, and yet to come."""
    if not names or names is ours:
        return
    there = [container.name for container in subject.containers]
    strange = sorted({*names} - {*there, *ours, ""})
    for name in strange[:NAMES]:
        near = nearest(name, there)
        yield f"{key} of {subject.ref} skips {printable(name)}, and no container is called so{f': did you mean {printable(near)}?' if near else ''}"


def own_values(
    subject: PodContext,
    variables: Sequence[Variable],
    skipped: Collection[str],
    replaced: Collection[str] = (),
) -> Iterator[str]:
    """Theirs that win over ours, ours that win over theirs, and ours that win unseen. Of a pod that has all of ours nothing is said."""
    if subject.variables.isdisjoint([v.name for v in variables]) and not any(
        container.env_from for container in subject.containers
    ):
        return
    ours = {v.name: v.value for v in variables}
    for container in subject.containers:
        if container.name in skipped or not (container.env or container.env_from):
            continue
        own = [v for v in container.env or () if v.name in ours]
        other = [v.name for v in own if ours[v.name] and ours[v.name] != v.value]
        if other:
            yield from _told(
                container.name,
                [name for name in other if name not in replaced],
                "that is left as it is",
            )
            yield from _told(
                container.name, [name for name in other if name in replaced], "ours replaces it"
            )
        if container.env_from and len(own) < len(ours):
            yield f"container {container.name} takes variables from elsewhere (envFrom): where their names are ours, ours win"


def _told(container: str, names: Iterable[str], outcome: str) -> Iterator[str]:
    if together := ", ".join(names):
        yield f"container {container} sets {together} itself: {outcome}"
