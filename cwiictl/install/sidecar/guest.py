"""What the hosted cluster has of it: what it may read and write there, room for that, and when its API server asks. Nothing runs in it."""

from __future__ import annotations

from collections.abc import Iterator

from cwii_webhook.dialects.registry import ALL

from cwiictl.install.body import Object
from cwiictl.install.configuration import configuration
from cwiictl.install.flow import priority
from cwiictl.install.policies import policies
from cwiictl.install.rights import reading
from cwiictl.install.served import EVERYTHING, Served
from cwiictl.install.sidecar.sidecar import Sidecar

_PODS: Object = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE"],
    "resources": ["pods"],
    "scope": "Namespaced",
}


def guest(sidecar: Sidecar, authority: bytes, served: Served = EVERYTHING) -> tuple[Object, ...]:
    values = sidecar.guest(authority)
    return (
        *reading(values),
        *priority(values, served),
        *policies(values, served),
        asked(sidecar, authority),
    )


def asked(sidecar: Sidecar, authority: bytes) -> Object:
    """By the loopback of whichever API server has a pod before it, and of no use to any other. Pods go without where it cannot be asked."""
    made = configuration(sidecar.guest(authority))
    made["metadata"]["name"] = sidecar.flavour.configuration
    own = [entry for entry in made["webhooks"] if not entry["name"].startswith("required.")]
    return {**made, "webhooks": list(_entries(sidecar, own))}


def _entries(sidecar: Sidecar, entries: list[Object]) -> Iterator[Object]:
    kind = sidecar.flavour
    if kind.dialect is None:
        for entry in entries:
            served = entry["clientConfig"]
            yield {
                **entry,
                "clientConfig": {
                    "url": _url(sidecar, served["service"]["path"]),
                    "caBundle": served["caBundle"],
                },
                "failurePolicy": "Ignore",
            }
        return
    bundle = entries[0]["clientConfig"]["caBundle"]
    yield {
        "name": kind.entry,
        "clientConfig": {"url": _url(sidecar, ALL[kind.dialect].path), "caBundle": bundle},
        "failurePolicy": "Ignore",
        "rules": [_PODS],
        "sideEffects": "None",
        **(kind.further or {}),
    }


def _url(sidecar: Sidecar, path: str) -> str:
    return f"https://127.0.0.1:{sidecar.flavour.doors.https}{path}"
