"""Google Cloud behind the door: IAM, Resource Manager, Service Usage, Cloud Storage and the token services, in each of its universes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.faults import Fault
from cwiictl.sandbox.places import Ground, Part

from . import credentials, oauth, projects, services, sts
from .grpc import INTERPRETERS, Interpreter
from .iam import HOST as IAM
from .iam import iam
from .standing import settle
from .storage import Storage
from .tokens import Tokens
from .world import World

GOOGLE = "googleapis.com"
UNIVERSES = (GOOGLE, "apis-sandbox.goog")


class Gcp:
    """Its universes know nothing of each other. Within one, every part thinks that it is Google's own."""

    def __init__(self, ground: Ground) -> None:
        self._realms = {universe: Realm(ground) for universe in UNIVERSES}

    def knows(self, host: str) -> bool:
        universe = _universe(host)
        return self._realms[universe].part(_home(host, universe)) is not None

    def action(self, request: Request) -> tuple[str, bool]:
        part, own = self._part(request)
        return part.action(own)

    def permissions(self, request: Request) -> tuple[str, ...]:
        part, own = self._part(request)
        return part.permissions(own)

    def handle(self, request: Request) -> Response:
        part, own = self._part(request)
        return part.handle(own)

    def fault(self, request: Request, fault: Fault) -> Response:
        part, own = self._part(request)
        return part.fault(own, fault)

    def expired(self, request: Request) -> Response | None:
        part, own = self._part(request)
        return part.expired(own)

    def interpreter(self, host: str) -> Interpreter | None:
        return INTERPRETERS.get(_home(host, _universe(host)))

    def furnish(self, home: Path) -> None:
        self._realms[GOOGLE].tokens.keys.furnish(home)

    def reset(self) -> None:
        for realm in self._realms.values():
            realm.reset()

    def _part(self, request: Request) -> tuple[Part, Request]:
        host = request.host.lower()
        universe = _universe(host)
        own = dataclasses.replace(request, host=_home(host, universe))
        part = self._realms[universe].part(own.host)
        assert part is not None, host  # noqa: S101 - `knows` was asked first
        return part, own


class Realm:
    """One of the universes."""

    def __init__(self, ground: Ground) -> None:
        self.world = World(ground.faults.clock, lambda: ground.faults.lag)
        self.tokens = Tokens(self.world)
        self.storage = Storage(ground, self.world, self.tokens)
        self._parts: dict[str, Part] = {
            IAM: iam(ground, self.world, self.tokens),
            projects.HOST: projects.resource_manager(ground, self.world, self.tokens),
            services.HOST: services.service_usage(ground, self.world, self.tokens),
            oauth.HOST: oauth.OAuth(ground, self.world, self.tokens),
            sts.HOST: sts.Sts(ground, self.world, self.tokens),
            credentials.HOST: credentials.Credentials(ground, self.world, self.tokens),
        }
        self.reset()

    def part(self, host: str) -> Part | None:
        return self._parts.get(host) or (self.storage if self.storage.knows(host) else None)

    def reset(self) -> None:
        settle(self.world)
        for part in (*self._parts.values(), self.storage):
            part.reset()


def _universe(host: str) -> str:
    return next(universe for universe in UNIVERSES if host.endswith(f".{universe}"))


def _home(host: str, universe: str) -> str:
    """The host's name in Google's own universe, by which all parts know it."""
    return host.removesuffix(universe) + GOOGLE
