"""Azure behind the door: ARM, Entra, Graph and blob storage, in each of its three clouds."""

from __future__ import annotations

from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.faults import Fault
from cwiictl.sandbox.places import Ground, Part

from . import crowd
from .arm import Arm, locations
from .blob import BlobStorage
from .clouds import BY_AUTHORITY, BY_MANAGEMENT, CLOUDS, Cloud
from .entra import Entra, Tokens
from .graph import BY_GRAPH, Graph
from .graph import host as graph_host
from .standing import settle
from .world import World

_BY_HOST = {**BY_MANAGEMENT, **BY_AUTHORITY, **BY_GRAPH}


class Azure:
    """Its clouds know nothing of each other. That all three believe one key does no harm: tokens name whom they are for."""

    def __init__(self, ground: Ground) -> None:
        tokens = Tokens(ground.faults.clock)
        self._realms = {cloud.name: Realm(ground, cloud, tokens) for cloud in CLOUDS}

    def knows(self, host: str) -> bool:
        return host in _BY_HOST or any(realm.blobs.knows(host) for realm in self._realms.values())

    def action(self, request: Request) -> tuple[str, bool]:
        return self._part(request).action(request)

    def permissions(self, request: Request) -> tuple[str, ...]:
        return self._part(request).permissions(request)

    def handle(self, request: Request) -> Response:
        return self._part(request).handle(request)

    def fault(self, request: Request, fault: Fault) -> Response:
        return self._part(request).fault(request, fault)

    def expired(self, request: Request) -> Response | None:
        return self._part(request).expired(request)

    def crowd(self, count: int, partition: str) -> None:
        if partition in self._realms:
            self._realms[partition].crowd(count)

    def reset(self) -> None:
        for realm in self._realms.values():
            realm.reset()

    def _part(self, request: Request) -> Part:
        host = request.host.lower()
        cloud = _BY_HOST.get(host) or next(one for one in CLOUDS if host.endswith(f".{one.suffix}"))
        return self._realms[cloud.name].part(host)


class Realm:
    """One of the clouds."""

    def __init__(self, ground: Ground, cloud: Cloud, tokens: Tokens) -> None:
        self._cloud = cloud
        self._world = World(ground.faults.clock, lambda: ground.faults.lag)
        self.blobs = BlobStorage(self._world, tokens, ground.faults)
        entra = Entra(ground, self._world, tokens)
        self._parts: dict[str, Part] = {
            cloud.management: Arm(ground, self._world, tokens, cloud),
            graph_host(cloud): Graph(self._world, tokens, ground.faults, cloud),
            **dict.fromkeys(cloud.authorities, entra),
        }
        self.reset()

    def part(self, host: str) -> Part:
        return self._parts.get(host, self.blobs)

    def crowd(self, count: int) -> None:
        crowd.settle(self._world, count, locations.known(self._cloud)[0])

    def reset(self) -> None:
        settle(self._world)
        for part in (*self._parts.values(), self.blobs):
            part.reset()
