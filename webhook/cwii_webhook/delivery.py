"""The webhook's only write: the ConfigMap with Google's credentials, where they are delivered so, before the pod that mounts it.

A review may be forged, so little is written on its word: in namespaces that are there and not the system's, and few names in each.
"""

from __future__ import annotations

import asyncio

import msgspec
from msgspec import Struct

from cwii_webhook.cluster.api import Api
from cwii_webhook.cluster.clock import Clock, TimedOut, within
from cwii_webhook.cluster.errors import BadAccess, Hopeless, Undecided, Unreachable
from cwii_webhook.cluster.errors import Refused as NotTaken
from cwii_webhook.injection import ConfigMap, Refused
from cwii_webhook.picture import Picture, space

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
    """What stands under a name, in which of the namespaces that were called so, and until when that is believed."""

    thing: ConfigMap
    space: str
    until: float


class Name:
    """One at a time writes under it; who waits finds it written."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.written: Written | None = None


class ConfigMaps:
    def __init__(self, api: Api, clock: Clock, own: str = "") -> None:
        self._api = api
        self._clock = clock
        self._closed = SYSTEM | {own}  # what a stranger makes us write shall not stand beside us
        self._names: dict[str, dict[str, Name]] = {}  # by namespace
        self._turn = asyncio.Semaphore(AT_ONCE)

    async def make(self, thing: ConfigMap, picture: Picture) -> None:
        """Its name is taken before it is written, so that many at once are no more than one after the other."""
        seen = picture.seen(space(thing.namespace))
        names = self._names.setdefault(thing.namespace, {}) if seen else {}
        self._check(thing, names, there=seen is not None)
        name, uid = names.setdefault(thing.name, Name()), seen.uid if seen else ""
        async with name.lock:
            if self._stands(name.written, thing, uid):
                return
            try:
                async with self._turn:
                    await within(self._clock, PATIENCE, self._apply(thing))
            except (NotTaken, Unreachable, BadAccess, TimedOut) as e:
                if name.written is None:
                    names.pop(thing.name, None)
                lasting = isinstance(e, NotTaken) and not e.passes
                why = f"the ConfigMap {thing.namespace}/{thing.name} could not be written: {str(e) or 'the API server has not answered'}"
                raise (Hopeless if lasting else Undecided)(why) from e
            name.written = Written(thing, uid, self._clock.now() + KEPT)

    async def _apply(self, thing: ConfigMap) -> None:
        """Who holds it against us may have written just what we would."""
        try:
            await self._api.apply(f"{_target(thing)}?fieldManager={MANAGER}", _body(thing))
        except NotTaken as e:
            if e.status != CONFLICT or _content(await self._api.get(_target(thing))).data != thing.data:
                raise

    def _stands(self, written: Written | None, thing: ConfigMap, uid: str) -> bool:
        return written is not None and (written.thing, written.space) == (thing, uid) and self._clock.now() < written.until

    def _check(self, thing: ConfigMap, names: dict[str, Name], *, there: bool) -> None:
        if thing.namespace in self._closed or not there:
            raise Refused(f"no credentials are written into namespace {thing.namespace}: set cwii.dev/gcp-delivery to annotation", 403)
        if thing.name not in names and len(names) >= MOST:
            raise Refused(f"namespace {thing.namespace} has {MOST} ConfigMaps of credentials already: set cwii.dev/gcp-delivery to annotation", 403)


def _target(thing: ConfigMap) -> str:
    return f"/api/v1/namespaces/{thing.namespace}/configmaps/{thing.name}"


def _body(thing: ConfigMap) -> bytes:
    labels = {"app.kubernetes.io/managed-by": MANAGER}
    meta = {"name": thing.name, "namespace": thing.namespace, "labels": labels}
    return msgspec.json.encode({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": thing.data})
