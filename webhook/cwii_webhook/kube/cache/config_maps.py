"""The webhook's only write: the ConfigMap with Google's credentials, where they are delivered so, before the pod that mounts it.

A review may be forged, so little is written on its word: in namespaces that are there and not the system's, and few names in each.
"""

from __future__ import annotations

import asyncio

import msgspec
from msgspec import Struct

from cwii_webhook.admission.cluster_view import (
    ClusterView,
    LookupFailed,
    LookupRefused,
    NotCached,
    namespace_ref,
)
from cwii_webhook.admission.injection import ConfigMap, PodRefused
from cwii_webhook.kube.access import Server
from cwii_webhook.kube.client import Client
from cwii_webhook.kube.clock import Clock, TimedOut, within
from cwii_webhook.kube.errors import BadAccess, Unreachable
from cwii_webhook.kube.errors import Refused as NotTaken

MANAGER = "cwii"
PATIENCE = 3.0  # seconds that one write may take
SYSTEM = frozenset({"kube-system", "kube-public", "kube-node-lease"})
MOST = 20  # names in a namespace
KEPT = 60.0  # seconds in which what was written is taken to be there
AT_ONCE = 4  # writes
CONFLICT = 409


class Content(Struct):
    data: dict[str, str] | None = None


_content = msgspec.json.Decoder(Content).decode


class Written(Struct, frozen=True):
    """What stands under a name, and until when that is believed."""

    thing: ConfigMap
    until: float


class Name:
    """One at a time writes under it; who waits finds it written."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.written: Written | None = None


class Place(Struct, frozen=True):
    """One of the namespaces that were called so, of one cluster, and the names in it."""

    uid: str
    server: Server
    names: dict[str, Name]


class ConfigMapWriter:
    def __init__(self, api: Client, clock: Clock, own: str = "") -> None:
        self._api = api
        self._clock = clock
        self._closed = SYSTEM | {own}  # what a stranger makes us write shall not stand beside us
        self._places: dict[str, Place] = {}
        self._turn = asyncio.Semaphore(AT_ONCE)

    def __len__(self) -> int:
        """Namespaces of which something is remembered."""
        return len(self._places)

    async def write(self, thing: ConfigMap, picture: ClusterView) -> None:
        """Its name is taken before it is written, so that many at once are no more than one after the other."""
        names = self._names(thing, picture)
        name = names.setdefault(thing.name, Name())
        async with name.lock:
            if self._stands(name.written, thing):
                return
            try:
                async with self._turn:
                    await within(self._clock, PATIENCE, self._apply(thing))
            except (NotTaken, Unreachable, BadAccess, TimedOut) as e:
                if name.written is None:
                    names.pop(thing.name, None)
                lasting = isinstance(e, NotTaken) and not e.passes
                why = f"the ConfigMap {thing.namespace}/{thing.name} could not be written: {str(e) or 'the API server has not answered'}"
                raise (LookupRefused if lasting else LookupFailed)(why) from e
            name.written = Written(thing, self._clock.now() + KEPT)

    async def _apply(self, thing: ConfigMap) -> None:
        """Who holds it against us may have written just what we would."""
        try:
            await self._api.apply(f"{_target(thing)}?fieldManager={MANAGER}", _body(thing))
        except NotTaken as e:
            if (
                e.status != CONFLICT
                or _content(await self._api.get(_target(thing))).data != thing.data
            ):
                raise

    def _stands(self, written: Written | None, thing: ConfigMap) -> bool:
        return written is not None and written.thing == thing and self._clock.now() < written.until

    def _names(self, thing: ConfigMap, picture: ClusterView) -> dict[str, Name]:
        """Those that are written in its namespace, among which it may be one."""
        seen = picture.get(namespace_ref(thing.namespace))
        if thing.namespace in self._closed or seen is None:
            raise PodRefused(
                f"no credentials are written into namespace {thing.namespace}: set cwii.dev/gcp-delivery to annotation",
                403,
            )
        names = self._place(thing.namespace, seen.uid, picture).names
        if thing.name not in names and len(names) >= MOST:
            raise PodRefused(
                f"namespace {thing.namespace} has {MOST} ConfigMaps of credentials already: set cwii.dev/gcp-delivery to annotation",
                403,
            )
        return names

    def _place(self, namespace: str, uid: str, picture: ClusterView) -> Place:
        place, server = self._places.get(namespace), self._api.server
        if place is None or (place.uid, place.server) != (uid, server):
            self._places = {
                name: old for name, old in self._places.items() if _there(name, picture)
            }  # namespaces come and go, and we stay
            place = self._places[namespace] = Place(uid, server, {})
        return place


def _there(namespace: str, picture: ClusterView) -> bool:
    try:
        return picture.get(namespace_ref(namespace)) is not None
    except NotCached:
        return False


def _target(thing: ConfigMap) -> str:
    return f"/api/v1/namespaces/{thing.namespace}/configmaps/{thing.name}"


def _body(thing: ConfigMap) -> bytes:
    meta = {"name": thing.name, "namespace": thing.namespace, "labels": thing.labels}
    return msgspec.json.encode(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": thing.data}
    )
