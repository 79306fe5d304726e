"""A cluster in memory, as renewers see it: what is written is there for those that read next, and replicas and API servers hear of it later."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from cwii_webhook.certificates.checks import is_signed_by
from cwii_webhook.certificates.pki import Lifetime, first_der, service_spec
from cwii_webhook.kube.errors import Refused
from cwii_webhook.renewer.state import (
    CA_CRT,
    TLS_CRT,
    WEBHOOK_CONFIGURATION,
    ClusterState,
    DesiredCertificates,
    HeldSecret,
    Replica,
    WebhookConfiguration,
    Write,
)
from cwii_webhook.renewer.steps import Action, next_step, plan_writes

DAY = timedelta(days=1)
SETTLE = 10.0  # seconds
LIFE, CA_LIFE = Lifetime(90 * DAY, 30 * DAY), Lifetime(3650 * DAY, 1200 * DAY)
TERMS = DesiredCertificates(service_spec("hook", "ns", LIFE), "hook", CA_LIFE)
BEGIN = datetime(2030, 1, 1, tzinfo=UTC)


class Cut(Exception):
    """The renewer is gone, in the middle of it."""


@dataclass
class World:
    """`serves`: by its address, what a replica has taken up. `heard`: what API servers go by. Everybody hears of everything within SETTLE."""

    serves: dict[str, bytes] = field(default_factory=dict[str, bytes])
    coming: dict[str, bytes] = field(
        default_factory=dict[str, bytes]
    )  # have what they will serve, and are in no EndpointSlice yet
    mute: set[str] = field(default_factory=set[str])
    hooks: dict[str, dict[str, bytes]] = field(
        default_factory=lambda: {"one": {"pods": b"", "late": b""}, "two": {"pods": b""}}
    )
    secrets: dict[str, dict[str, bytes]] = field(default_factory=lambda: {"serving": {}, "ca": {}})
    heard: dict[str, dict[str, bytes]] = field(default_factory=dict[str, dict[str, bytes]])
    time: float = 0.0
    written: list[str] = field(default_factory=list[str])
    each: Callable[[], None] = lambda: None  # while somebody sleeps
    before: Callable[[], None] = lambda: None  # a write
    reading: Callable[[], None] = lambda: None
    absent: tuple[str, ...] = ()
    _versions: dict[str, int] = field(default_factory=dict[str, int])
    _since: float = 0.0

    def now(self) -> float:
        return self.time

    def jitter(self, _low: float, high: float, /) -> float:
        return high

    async def sleep(self, seconds: float, /) -> None:
        self.passes(seconds)
        self.each()

    def today(self) -> datetime:
        return BEGIN + timedelta(seconds=self.time)

    def passes(self, seconds: float) -> None:
        self.time += seconds
        if self.time - self._since >= SETTLE:
            self.hear()

    def hear(self) -> None:
        self.heard = {name: dict(bundles) for name, bundles in self.hooks.items()}
        self.serves |= self.coming
        self.coming.clear()

    def start(self, address: str) -> None:
        """A replica has its files, and nobody knows of it."""
        self.coming[address] = self.secrets["serving"][TLS_CRT]

    def take(self, address: str) -> None:
        """A replica reads its files."""
        if pem := self.secrets["serving"].get(TLS_CRT):
            self.serves[address] = pem

    def read(self) -> ClusterState:
        hooks = tuple(
            WebhookConfiguration(name, self._version(name), dict(bundles))
            for name, bundles in self.hooks.items()
        )
        held = {
            name: HeldSecret(name, self._version(name), dict(data))
            for name, data in self.secrets.items()
        }
        shows = tuple(
            Replica(
                at,
                b"" if at in self.mute else first_der(pem),
                "does not answer" if at in self.mute else "",
            )
            for at, pem in self.serves.items()
        )
        return ClusterState(held["ca"], held["serving"], hooks, self.absent, shows)

    async def read_state(self) -> ClusterState:
        self.reading()
        return self.read()

    async def write(self, write: Write, /) -> None:
        self.before()
        self.put(write)

    def put(self, write: Write) -> None:
        if write.resource_version != self._version(write.name):
            raise Refused(409, "the object has been modified")
        home = self.hooks if write.kind == WEBHOOK_CONFIGURATION else self.secrets
        there = {**home[write.name], **write.content}
        home[write.name] = {key: value for key, value in there.items() if value is not None}
        self.touch(write.name)
        self.written.append(write.name)

    def touch(self, name: str) -> None:
        self._versions[name] = int(self._version(name)) + 1
        self._since = self.time

    def _version(self, name: str) -> str:
        return str(self._versions.get(name, 1))

    def torn(self) -> list[str]:
        """Whom an API server would not believe, by what it has heard and by what stands there."""
        return [
            f"{at} is not believed by {name} ({where})"
            for where, hooks in (("heard", self.heard), ("written", self.hooks))
            for name, bundles in hooks.items()
            for at, pem in {**self.serves, **self.coming}.items()
            if not all(is_signed_by(pem, bundle) for bundle in bundles.values())
        ]

    def whole(self) -> bool:
        """All is as it should be, and nothing more is there."""
        signer = self.secrets["ca"].get(TLS_CRT, b"")
        bundles = [bundle for each in self.hooks.values() for bundle in each.values()]
        pair = self.secrets["serving"]
        return (
            set(self.secrets["ca"]) == {"tls.crt", "tls.key"}
            and bundles == [signer] * 3
            and pair.get(CA_CRT) == signer
            and is_signed_by(pair[TLS_CRT], signer)
        )


@dataclass
class Mind:
    """A renewer that looks at one moment, and acts at another."""

    world: World
    seen: ClusterState | None = None
    next: Action = Action.WAIT
    _versions: object = None
    _since: float = 0.0

    def look(self) -> Action:
        self.seen = self.world.read()
        if self.seen.resource_versions != self._versions:
            self._versions, self._since = self.seen.resource_versions, self.world.time
        self.next = next_step(
            self.seen, TERMS, self.world.today(), is_settled=self.world.time - self._since >= SETTLE
        ).action
        return self.next

    def act(self) -> Iterator[Write]:
        """One write after the other."""
        if self.seen:
            for write in plan_writes(self.next, self.seen, TERMS, self.world.today()):
                self.world.put(write)
                yield write


def settled(world: World) -> None:
    """A renewer comes, and replicas take up what they are given, until nothing is left to do."""
    mind = Mind(world)
    for _ in range(60):
        if mind.look() is Action.DONE:
            return
        for _ in mind.act():
            pass
        if mind.next is Action.WAIT:
            world.passes(SETTLE)
            for address in world.serves:
                world.take(address)
    raise AssertionError("it never came to its end")


def established() -> World:
    """It has all begun well."""
    world = World()
    settled(world)
    for address in ("a", "b"):
        world.take(address)
    world.hear()
    world.written.clear()
    return world
