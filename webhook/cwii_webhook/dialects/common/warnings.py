"""Builds the warnings that several dialects share."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from cwii_webhook.admission.annotation_sources import PodContext
from cwii_webhook.admission.injection import EnvVar
from cwii_webhook.admission.review import Container, Pod, init_and_main_containers
from cwii_webhook.dialects.common.pod_traits import container_user
from cwii_webhook.dialects.common.typo_hints import nearest_match, printable
from cwii_webhook.settings.formats import MAX_TOKEN_SECONDS, MIN_TOKEN_SECONDS

MAX_NAMES = 4  # of a list, to bound the answer
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)


def expiration_warnings(seconds: int, key: str) -> Iterator[str]:
    if not MIN_TOKEN_SECONDS <= seconds <= MAX_TOKEN_SECONDS:
        yield (
            f"{key}: the API server refuses a token of {seconds} seconds; "
            f"it takes {MIN_TOKEN_SECONDS} to {MAX_TOKEN_SECONDS}"
        )


def client_id_warnings(location: str, value: str) -> Iterator[str]:
    """`location` names the annotation and the object that has it."""
    if not UUID.fullmatch(value):
        yield f"{location} is {printable(value)}, which is no UUID: Azure will not know it"


def tenant_id_warnings(location: str, value: str) -> Iterator[str]:
    if not UUID.fullmatch(value) and "." not in value:
        text = f"{location} is {printable(value)}, neither a UUID nor a domain: "
        yield text + "Azure will not know it"


def service_account_warnings(location: str, value: str) -> Iterator[str]:
    """Google Cloud accepts an email address or a unique number."""
    if "@" not in value and not value.isdecimal():
        yield (
            f"{location} is {printable(value)}, which is no service account's address: "
            "Google Cloud will not know it"
        )


def unreadable_token_warnings(pod: Pod, mode: int, token: str) -> Iterator[str]:
    """Warns of containers that cannot read the token.

    The kubelet gives the file to the pod's fsGroup, or to the one user that all containers run as.
    Otherwise the volume's mode decides.
    """
    pod_context = pod.spec.security_context
    if mode & 0o004 or (pod_context and pod_context.fs_group is not None):
        return
    users = {c.name: container_user(c, pod_context) for c in init_and_main_containers(pod)}
    if len(set(users.values())) == 1 and None not in users.values():
        return
    for name, user in users.items():
        if user:
            yield (
                f"container {name} runs as user {user} and will not be able to read {token}: "
                "set the pod's securityContext.fsGroup"
            )


def unknown_container_warnings(
    context: PodContext, key: str, names: Collection[str], helpers: Collection[str] = ()
) -> Iterator[str]:
    """Warns of names in a skip list that no container has.

    Another webhook may still add the container.
    """
    existing = [container.name for container in context.containers]
    for name in sorted({*names} - {*existing, *helpers, ""})[:MAX_NAMES]:
        match = nearest_match(name, existing)
        hint = f": did you mean {printable(match)}?" if match else ""
        yield f"{key} of {context.ref} skips {printable(name)}, and no container is called so{hint}"


def env_conflict_warnings(
    context: PodContext,
    env: Sequence[EnvVar],
    skipped: Collection[str],
    replaced: Collection[str] = (),
) -> Iterator[str]:
    """Warns of variables that a container sets itself, and of envFrom, which may set them."""
    injected = {variable.name: variable.value for variable in env}
    for container in context.containers:
        if container.name not in skipped:
            yield from _env_conflicts(container, injected, replaced)


def _env_conflicts(
    container: Container, injected: dict[str, str], replaced: Collection[str]
) -> Iterator[str]:
    own = [variable for variable in container.env or () if variable.name in injected]
    differing = [v.name for v in own if injected[v.name] and injected[v.name] != v.value]
    kept = [name for name in differing if name not in replaced]
    yield from _conflict(container.name, kept, "that is left as it is")
    lost = [name for name in differing if name in replaced]
    yield from _conflict(container.name, lost, "ours replaces it")
    if container.env_from and len(own) < len(injected):
        yield (
            f"container {container.name} takes variables from elsewhere (envFrom): "
            "where their names are ours, ours win"
        )


def _conflict(container: str, names: Iterable[str], outcome: str) -> Iterator[str]:
    if text := ", ".join(names):
        yield f"container {container} sets {text} itself: {outcome}"
