"""May we read what we must? Asked of the API server before we say that we are ready."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine, Iterable
from typing import Any, Final

import msgspec
from msgspec import Struct

from cwii_webhook.kube.client import Client
from cwii_webhook.kube.resources import CONFIG_MAPS, Kind

REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
READS: Final = ("get", "list", "watch")
WRITES: Final = ("get", "create", "patch")
AT_ONCE: Final = 4


class _Verdict(Struct):
    allowed: bool = False


class _Review(Struct):
    status: _Verdict


_review_of = msgspec.json.Decoder(_Review).decode


async def missing(api: Client, kinds: Collection[Kind], *, writes: bool = False) -> list[str]:
    """A sentence for each kind that we may not read, or write where we have to, in the words of a ClusterRole."""
    turn = asyncio.Semaphore(AT_ONCE)

    async def denied(kind: Kind, verb: str) -> bool:
        async with turn:
            return not await _allowed(api, kind, verb)

    told: list[str] = []
    for kind, needed in [
        *((kind, READS) for kind in kinds),
        *([(CONFIG_MAPS, WRITES)] if writes else []),
    ]:
        verdicts = await _all(denied(kind, verb) for verb in needed)
        if verbs := [verb for verb, no in zip(needed, verdicts, strict=True) if no]:
            what, role = (
                (f"the {kind.only}", f"a Role in namespace {kind.only.namespace}")
                if kind.only
                else (kind.resource, "a ClusterRole")
            )
            told.append(
                f"the ServiceAccount may not {' or '.join(verbs)} {what}: give it that in {role}"
            )
    return told


async def _allowed(api: Client, kind: Kind, verb: str) -> bool:
    one = {"namespace": kind.only.namespace, "name": kind.only.name} if kind.only else {}
    attributes = {
        "verb": verb,
        "group": kind.group,
        "version": kind.version,
        "resource": kind.plural,
        **one,
    }
    asked = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    return _review_of(await api.post(REVIEWS, msgspec.json.encode(asked))).status.allowed


async def _all(asking: Iterable[Coroutine[Any, Any, bool]]) -> list[bool]:
    """Where one fails, the others are ended: nobody would hear them."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in asking]
    except BaseExceptionGroup as e:
        raise e.exceptions[0] from None
    return [task.result() for task in tasks]
