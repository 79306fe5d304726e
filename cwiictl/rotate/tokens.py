"""What tokens and pods tell of keys, without believing or showing any of them."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cwiictl.issuer.rotation import begin
from cwiictl.issuer.token import said
from cwiictl.rotate.waits import Volume

LIFE = 3600  # of a projected token that says nothing
EXTENDED = 3607  # of one that the admission of ServiceAccounts gives to every pod: the API server knows it by that
ENDED = frozenset({"Succeeded", "Failed"})


def volumes(pods: Iterable[Mapping[str, Any]], since: str) -> Iterator[Volume]:
    """Of pods that may run, and are from before then: who has ended uses none any more, and who was made later has had none of the old key."""
    for pod in pods:
        if (
            pod.get("status", {}).get("phase") not in ENDED
            and pod["metadata"].get("creationTimestamp", "") < since
        ):
            for name, source in _projected(pod):
                yield Volume(
                    _name(pod),
                    source.get("audience") or "",
                    int(source.get("expirationSeconds") or LIFE),
                    name,
                )


def requested(drivers: Iterable[Mapping[str, Any]]) -> Iterator[Volume]:
    """By CSI drivers, for pods that say nothing of it. Whose they are is not known of a driver, so since when is not, either."""
    for driver in drivers:
        for request in _each(driver.get("spec"), "tokenRequests"):
            yield Volume(
                f"the CSI driver {driver['metadata']['name']}",
                request.get("audience") or "",
                int(request.get("expirationSeconds") or LIFE),
            )


def lasting(pods: Iterable[Mapping[str, Any]], since: str) -> Iterator[str]:
    """Pods that were started before then with a token that the API server makes good for a year: of exactly this life, and its own audience."""
    for pod in pods:
        status = pod.get("status", {})
        before = status.get("phase") not in ENDED and (status.get("startTime") or since) < since
        if before and any(
            not source.get("audience") and source.get("expirationSeconds") == EXTENDED
            for _, source in _projected(pod)
        ):
            yield _name(pod)


def _name(object_: Mapping[str, Any]) -> str:
    return f"{object_['metadata'].get('namespace', 'default')}/{object_['metadata']['name']}"


def _projected(pod: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """With the name of its volume."""
    for volume in _each(pod.get("spec"), "volumes"):
        sources = _each(volume.get("projected"), "sources")
        yield from (
            (str(volume["name"]), source["serviceAccountToken"])
            for source in sources
            if source.get("serviceAccountToken")
        )


def _within(within: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return within.get(key) or {}


def _each(within: Mapping[str, Any] | None, key: str) -> Sequence[Mapping[str, Any]]:
    """What is empty, or not there, is nothing."""
    return (within or {}).get(key) or ()


def filled(secret: Mapping[str, Any]) -> str:
    """When its token was put into it, which may be long after it was made."""
    about = secret["metadata"]
    moments = (
        str(each.get("time", ""))
        for each in _each(about, "managedFields")
        if "f:token" in _within(_within(each, "fieldsV1"), "f:data")
    )
    return max(moments, default=str(about.get("creationTimestamp", "")))


def bearing(secrets: Iterable[Mapping[str, Any]], old: str) -> Iterator[str]:
    """The Secrets of type kubernetes.io/service-account-token whose token the old key has signed, or may have: before 1.16 they named no key."""
    for secret in secrets:
        data: Mapping[str, str] = secret.get("data", {})
        token = said(base64.b64decode(data.get("token", "")).decode(errors="replace"))
        if token and begin(token.kid) in {old, ""}:
            yield f"{_name(secret)}{'' if token.kid else ' (which names no key)'}"
