"""Two replicas behind one address under a steady load of pods, and all that happens to them: no creation fails, and every pod is injected."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cluster.calling import called
from tests.cluster.kube.cluster import free_port
from tests.cluster.kube.processes import Processes
from tests.cluster.kube.reach import Reach
from tests.cluster.load import Load
from tests.cluster.space import Space
from tests.cluster.webhook import Webhook, beside
from tests.webhook.answering import SENSIBLE

RELAY = Path(__file__).parent / "kube" / "relay.py"
API, DOOR = "relay-to-api", "relay-to-webhooks"


@dataclass(frozen=True)
class Service:
    """Two replicas, and what a cluster has before them; between them and the API server there is a relay, too."""

    replicas: tuple[Webhook, Webhook]
    endpoints: Path
    space: Space

    @property
    def processes(self) -> Processes:
        return self.replicas[0].processes

    def has(self, *replicas: Webhook) -> None:
        """As endpoints are: those that are ready."""
        new = self.endpoints.with_suffix(".new")
        new.write_text("\n".join(f"127.0.0.1:{replica.port}" for replica in replicas))
        new.rename(self.endpoints)

    def replaced(self, replica: Webhook) -> None:
        """As in a rollout. Those who send pods hear a moment later that it goes."""
        self.processes.signal(replica.name, signal.SIGTERM)
        time.sleep(0.3)
        self.has(*(other for other in self.replicas if other is not replica))
        self.processes.wait(replica.name)
        self._again(replica)

    def killed(self, replica: Webhook) -> None:
        self.processes.kill(replica.name)
        self._again(replica)

    def _again(self, replica: Webhook) -> None:
        replica.start()
        replica.wait()
        self.has(*self.replicas)

    def renewed(self) -> None:
        """And both serve it."""
        before = [replica.number("cwii_certificate_loads_total") for replica in self.replicas]
        self.replicas[0].told.certificate.renew()
        for replica, count in zip(self.replicas, before, strict=True):
            self.processes.until(lambda: replica.number("cwii_certificate_loads_total") > count, "the new certificate", 10)  # noqa: B023


@contextmanager
def service(reach: Reach, folder: Path, *flags: str) -> Generator[Service]:
    api, door = free_port(), free_port()
    with beside(reach, folder, ("cwii", *flags), server=f"https://127.0.0.1:{api}") as first:
        second = Webhook(reach, first.processes, first.told)
        first.processes.start(API, [sys.executable, "-I", RELAY, f"127.0.0.1:{api}", reach.urls[0].removeprefix("https://")])
        first.processes.start(DOOR, [sys.executable, "-I", RELAY, f"127.0.0.1:{door}", f"file:{folder / 'endpoints'}"])
        for replica in (first, second):
            replica.start()
            replica.wait()
        found = Service((first, second), folder / "endpoints", Space(reach).account(SENSIBLE["cwii"]))
        found.has(first, second)
        with called(first, "cwii", port=door) as hook:
            yield Service((first, second), folder / "endpoints", Space(reach, hook=hook).account(SENSIBLE["cwii"]))


def test_no_creation_fails_while_replicas_certificates_and_watches_come_and_go(reach: Reach, tmp_path: Path) -> None:
    with service(reach, tmp_path, "--shutdown-delay=1s") as there, Load(there.space, 20) as load:
        for replica in there.replicas:
            there.replaced(replica)
        for _ in range(2):
            there.renewed()
        there.processes.signal(API, signal.SIGUSR2)
        time.sleep(1)

    assert (load.failed, load.bare) == ([], [])
    assert load.created > 50


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_nor_with_twenty_certificates_and_each_replica_replaced_five_times(reach: Reach, tmp_path: Path) -> None:
    with service(reach, tmp_path) as there, Load(there.space, 20) as load:
        for _ in range(5):
            for replica in there.replicas:
                there.replaced(replica)
            there.processes.signal(API, signal.SIGUSR2)
            for _ in range(4):
                there.renewed()

    assert (load.failed, load.bare) == ([], [])
    assert load.created > 1000


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_who_is_killed_without_a_word_loses_no_more_than_what_it_had_in_hand(reach: Reach, tmp_path: Path) -> None:
    with service(reach, tmp_path) as there, Load(there.space, 20, clients=4) as load:
        for _ in range(5):
            for replica in there.replicas:
                there.killed(replica)

    assert load.bare == []
    assert len(load.failed) <= 10, load.failed
