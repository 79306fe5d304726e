"""The webhook's only write: the ConfigMap with Google's credentials, where they are delivered so, before the pod that mounts it.

A review may be forged, so little is written on its word: in namespaces that are there and not the system's, and few names in each.
"""

from __future__ import annotations

import msgspec

from cwii_webhook.cluster.api import Api
from cwii_webhook.cluster.clock import Clock
from cwii_webhook.cluster.errors import BadAccess, Undecided, Unreachable
from cwii_webhook.cluster.errors import Refused as NotTaken
from cwii_webhook.injection import ConfigMap, Refused
from cwii_webhook.picture import Picture, space

MANAGER = "cwii"
SYSTEM = frozenset({"kube-system", "kube-public", "kube-node-lease"})
MOST = 20  # names in a namespace
KEPT = 600.0  # seconds in which what was written is taken to be there


class ConfigMaps:
    def __init__(self, api: Api, clock: Clock) -> None:
        self._api = api
        self._clock = clock
        self._written: dict[str, dict[str, tuple[float, ConfigMap]]] = {}

    async def make(self, thing: ConfigMap, picture: Picture) -> None:
        there = self._written.get(thing.namespace, {}).get(thing.name)
        if there and there[1] == thing and self._clock.now() < there[0]:
            return
        self._check(thing, picture)
        try:
            await self._api.apply(f"/api/v1/namespaces/{thing.namespace}/configmaps/{thing.name}?fieldManager={MANAGER}", _body(thing))
        except (NotTaken, Unreachable, BadAccess) as e:
            raise Undecided(f"the ConfigMap {thing.namespace}/{thing.name} could not be written: {e}") from e
        self._written.setdefault(thing.namespace, {})[thing.name] = (self._clock.now() + KEPT, thing)

    def _check(self, thing: ConfigMap, picture: Picture) -> None:
        if thing.namespace in SYSTEM or picture.seen(space(thing.namespace)) is None:
            raise Refused(f"no credentials are written into namespace {thing.namespace}: set cwii.dev/gcp-delivery to annotation", 403)
        names = self._written.get(thing.namespace, {})
        if thing.name not in names and len(names) >= MOST:
            raise Refused(f"namespace {thing.namespace} has {MOST} ConfigMaps of credentials already: set cwii.dev/gcp-delivery to annotation", 403)


def _body(thing: ConfigMap) -> bytes:
    labels = {"app.kubernetes.io/managed-by": MANAGER}
    meta = {"name": thing.name, "namespace": thing.namespace, "labels": labels}
    return msgspec.json.encode({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": thing.data})
