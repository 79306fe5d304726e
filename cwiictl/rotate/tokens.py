"""What tokens and pods tell of keys, without believing or showing any of them."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from cwiictl.issuer.rotation import begin
from cwiictl.rotate.waits import Volume

LIFE = 3600  # of a projected token that says nothing
EXTENDED = 3607  # of one that the admission of ServiceAccounts gives to every pod: the API server knows it by that
ENDED = frozenset({"Succeeded", "Failed"})


def kid(token: str) -> str:
    """Of its header; nothing if it is none of ours."""
    head = token.partition(".")[0]
    try:
        header: object = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    except (ValueError, binascii.Error):
        return ""
    return str(cast("Mapping[str, object]", header).get("kid", "")) if isinstance(header, dict) else ""


def volumes(pods: Iterable[Mapping[str, Any]]) -> Iterator[Volume]:
    """Of pods that may run: who has ended uses none any more."""
    for pod in pods:
        if pod.get("status", {}).get("phase") not in ENDED:
            yield from (Volume(_name(pod), source.get("audience") or "", int(source.get("expirationSeconds") or LIFE)) for source in _projected(pod))


def lasting(pods: Iterable[Mapping[str, Any]], since: str) -> Iterator[str]:
    """Pods that were started before then with a token that the API server makes good for a year: of exactly this life, and its own audience."""
    for pod in pods:
        status = pod.get("status", {})
        before = status.get("phase") not in ENDED and (status.get("startTime") or since) < since
        if before and any(not source.get("audience") and source.get("expirationSeconds") == EXTENDED for source in _projected(pod)):
            yield _name(pod)


def _name(object_: Mapping[str, Any]) -> str:
    return f"{object_['metadata'].get('namespace', 'default')}/{object_['metadata']['name']}"


def _projected(pod: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for volume in _each(pod.get("spec"), "volumes"):
        yield from (source["serviceAccountToken"] for source in _each(volume.get("projected"), "sources") if source.get("serviceAccountToken"))


def _each(within: Mapping[str, Any] | None, key: str) -> Sequence[Mapping[str, Any]]:
    """What is empty, or not there, is nothing."""
    return (within or {}).get(key) or ()


def bearing(secrets: Iterable[Mapping[str, Any]], old: str) -> Iterator[str]:
    """The Secrets of type kubernetes.io/service-account-token whose token the old key has signed."""
    for secret in secrets:
        data: Mapping[str, str] = secret.get("data", {})
        token = base64.b64decode(data.get("token", "")).decode(errors="replace")
        if begin(kid(token)) == old:
            yield _name(secret)
