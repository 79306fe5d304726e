"""Checks the ServiceAccount's permissions with access reviews, before the webhook is ready."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine, Iterable
from typing import Any, Final

import msgspec
from msgspec import Struct

from cwii_webhook.kube.client import Client
from cwii_webhook.kube.resources import CONFIG_MAPS, ApiResource

ACCESS_REVIEW_PATH: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
READ_VERBS: Final = ("get", "list", "watch")
WRITE_VERBS: Final = ("get", "create", "patch")
MAX_CONCURRENT_REQUESTS: Final = 4


class _ReviewStatus(Struct):
    allowed: bool = False


class _Review(Struct):
    status: _ReviewStatus


_decode_review = msgspec.json.Decoder(_Review).decode


async def find_missing_permissions(
    client: Client, resources: Collection[ApiResource], *, writes_config_maps: bool = False
) -> list[str]:
    """Returns a sentence for each resource that lacks a permission, with the verbs to grant."""
    slots = asyncio.Semaphore(MAX_CONCURRENT_REQUESTS)

    async def is_denied(resource: ApiResource, verb: str) -> bool:
        async with slots:
            return not await _is_allowed(client, resource, verb)

    problems: list[str] = []
    for resource, verbs in [
        *((resource, READ_VERBS) for resource in resources),
        *([(CONFIG_MAPS, WRITE_VERBS)] if writes_config_maps else []),
    ]:
        results = await _run_all(is_denied(resource, verb) for verb in verbs)
        missing = [verb for verb, denied in zip(verbs, results, strict=True) if denied]
        if missing:
            ref = resource.single_object
            target, role = (
                (f"the {ref}", f"a Role in namespace {ref.namespace}")
                if ref
                else (resource.group_resource, "a ClusterRole")
            )
            problems.append(
                f"the ServiceAccount may not {' or '.join(missing)} {target}:"
                f" give it that in {role}"
            )
    return problems


async def _is_allowed(client: Client, resource: ApiResource, verb: str) -> bool:
    single_object = (
        {"namespace": resource.single_object.namespace, "name": resource.single_object.name}
        if resource.single_object
        else {}
    )
    attributes = {
        "verb": verb,
        "group": resource.group,
        "version": resource.version,
        "resource": resource.plural,
        **single_object,
    }
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    return _decode_review(
        await client.post(ACCESS_REVIEW_PATH, msgspec.json.encode(review))
    ).status.allowed


async def _run_all(requests: Iterable[Coroutine[Any, Any, bool]]) -> list[bool]:
    """Runs requests concurrently. If one fails, the others are cancelled."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(request) for request in requests]
    except BaseExceptionGroup as e:
        raise e.exceptions[0] from None
    return [task.result() for task in tasks]
