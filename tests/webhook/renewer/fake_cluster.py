"""A cluster in memory for tests of the renewer.

A write is visible to the next read. Replicas and API servers receive it later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from cwii_webhook.certificates.checks import is_signed_by
from cwii_webhook.certificates.pki import Lifetime, first_der, service_spec
from cwii_webhook.kube.errors import StatusError
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
LIFETIME, CA_LIFETIME = Lifetime(90 * DAY, 30 * DAY), Lifetime(3650 * DAY, 1200 * DAY)
DESIRED = DesiredCertificates(service_spec("hook", "ns", LIFETIME), "hook", CA_LIFETIME)
START = datetime(2030, 1, 1, tzinfo=UTC)


@dataclass
class FakeCluster:
    """A cluster with a clock. API servers receive each write within SETTLE.

    `served`: the certificate of each replica, by address.
    `starting`: replicas that have read their certificate, but are in no EndpointSlice yet.
    `propagated`: the caBundles that the API servers use.
    """

    served: dict[str, bytes] = field(default_factory=dict[str, bytes])
    starting: dict[str, bytes] = field(default_factory=dict[str, bytes])
    unreachable: set[str] = field(default_factory=set[str])
    configurations: dict[str, dict[str, bytes]] = field(
        default_factory=lambda: {"one": {"pods": b"", "late": b""}, "two": {"pods": b""}}
    )
    secrets: dict[str, dict[str, bytes]] = field(default_factory=lambda: {"serving": {}, "ca": {}})
    propagated: dict[str, dict[str, bytes]] = field(default_factory=dict[str, dict[str, bytes]])
    time: float = 0.0
    written_objects: list[str] = field(default_factory=list[str])
    on_sleep: Callable[[], None] = lambda: None
    before_write: Callable[[], None] = lambda: None
    before_read: Callable[[], None] = lambda: None
    missing_configurations: tuple[str, ...] = ()
    _versions: dict[str, int] = field(default_factory=dict[str, int])
    _last_write: float = 0.0

    def now(self) -> float:
        return self.time

    def jitter(self, _low: float, high: float, /) -> float:
        return high

    async def sleep(self, seconds: float, /) -> None:
        self.advance(seconds)
        self.on_sleep()

    def utc_now(self) -> datetime:
        return START + timedelta(seconds=self.time)

    def advance(self, seconds: float) -> None:
        self.time += seconds
        if self.time - self._last_write >= SETTLE:
            self.propagate()

    def propagate(self) -> None:
        self.propagated = {name: dict(bundles) for name, bundles in self.configurations.items()}
        self.served |= self.starting
        self.starting.clear()

    def start_replica(self, address: str) -> None:
        """Starts a replica with the current files. No EndpointSlice contains it yet."""
        self.starting[address] = self.secrets["serving"][TLS_CRT]

    def reload_replica(self, address: str) -> None:
        """Makes a replica read its files."""
        if pem := self.secrets["serving"].get(TLS_CRT):
            self.served[address] = pem

    def snapshot(self) -> ClusterState:
        configurations = tuple(
            WebhookConfiguration(name, self._version(name), dict(bundles))
            for name, bundles in self.configurations.items()
        )
        secrets = {
            name: HeldSecret(name, self._version(name), dict(data))
            for name, data in self.secrets.items()
        }
        replicas = tuple(
            Replica(
                address,
                b"" if address in self.unreachable else first_der(pem),
                "does not answer" if address in self.unreachable else "",
            )
            for address, pem in self.served.items()
        )
        return ClusterState(
            secrets["ca"],
            secrets["serving"],
            configurations,
            self.missing_configurations,
            replicas,
        )

    async def read_state(self) -> ClusterState:
        self.before_read()
        return self.snapshot()

    async def write(self, write: Write, /) -> None:
        self.before_write()
        self.apply(write)

    def apply(self, write: Write) -> None:
        if write.resource_version != self._version(write.name):
            raise StatusError(409, "the object has been modified")
        objects = self.configurations if write.kind == WEBHOOK_CONFIGURATION else self.secrets
        content = {**objects[write.name], **write.content}
        objects[write.name] = {key: value for key, value in content.items() if value is not None}
        self.touch(write.name)
        self.written_objects.append(write.name)

    def touch(self, name: str) -> None:
        self._versions[name] = int(self._version(name)) + 1
        self._last_write = self.time

    def _version(self, name: str) -> str:
        return str(self._versions.get(name, 1))

    def trust_errors(self) -> list[str]:
        """Lists the replicas that an API server rejects, with the old or the new caBundles."""
        return [
            f"{name} does not trust {address} ({source})"
            for source, configurations in (
                ("propagated", self.propagated),
                ("written", self.configurations),
            )
            for name, bundles in configurations.items()
            for address, pem in {**self.served, **self.starting}.items()
            if not all(is_signed_by(pem, bundle) for bundle in bundles.values())
        ]

    def is_complete(self) -> bool:
        """Whether all objects have the desired content, and nothing else."""
        signer = self.secrets["ca"].get(TLS_CRT, b"")
        bundles = [bundle for each in self.configurations.values() for bundle in each.values()]
        pair = self.secrets["serving"]
        return (
            set(self.secrets["ca"]) == {"tls.crt", "tls.key"}
            and bundles == [signer] * 3
            and pair.get(CA_CRT) == signer
            and is_signed_by(pair[TLS_CRT], signer)
        )


@dataclass
class StepRenewer:
    """A renewer that decides at one moment, and writes at another."""

    cluster: FakeCluster
    state: ClusterState | None = None
    action: Action = Action.WAIT
    _versions: object = None
    _last_write: float = 0.0

    def decide(self) -> Action:
        self.state = self.cluster.snapshot()
        if self.state.resource_versions != self._versions:
            self._versions, self._last_write = self.state.resource_versions, self.cluster.time
        self.action = next_step(
            self.state,
            DESIRED,
            self.cluster.utc_now(),
            is_settled=self.cluster.time - self._last_write >= SETTLE,
        ).action
        return self.action

    def write(self) -> Iterator[Write]:
        """Applies the writes one after the other, and yields each."""
        if self.state:
            for write in plan_writes(self.action, self.state, DESIRED, self.cluster.utc_now()):
                self.cluster.apply(write)
                yield write


def run_to_completion(cluster: FakeCluster) -> None:
    """Runs a renewer and reloads the replicas until the renewer is done."""
    renewer = StepRenewer(cluster)
    for _ in range(60):
        if renewer.decide() is Action.DONE:
            return
        for _ in renewer.write():
            pass
        if renewer.action is Action.WAIT:
            cluster.advance(SETTLE)
            for address in cluster.served:
                cluster.reload_replica(address)
    raise AssertionError("the renewer did not finish")


def make_installed_cluster() -> FakeCluster:
    """Makes a cluster with valid certificates and two replicas that serve them."""
    cluster = FakeCluster()
    run_to_completion(cluster)
    for address in ("a", "b"):
        cluster.reload_replica(address)
    cluster.propagate()
    cluster.written_objects.clear()
    return cluster
