"""Two replicas behind one address under a steady load of pods, and all that happens to them: no creation fails, and every pod is injected."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cluster.calling import called
from tests.cluster.kube.cluster import free_port
from tests.cluster.kube.processes import Processes
from tests.cluster.kube.reach import Reach
from tests.cluster.load import Load
from tests.cluster.space import Space, first, plain, variables
from tests.cluster.webhook import Webhook, beside
from tests.webhook.harness import ACCOUNT_ANNOTATIONS

ROLE_ARN, NEW, OTHER = (
    "cwii.dev/aws-role-arn",
    "arn:aws:iam::123456789012:role/new",
    "arn:aws:iam::123456789012:role/other-",
)
RELAY = Path(__file__).parent / "kube" / "relay.py"
Record = Callable[[str, object], None]
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
        new.write_text(_lines(*replicas))
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
            self.processes.until(
                lambda: replica.number("cwii_certificate_loads_total") > count,  # noqa: B023
                "the new certificate",
                10,
            )


@contextmanager
def service(reach: Reach, folder: Path, *flags: str) -> Generator[Service]:
    api, door = free_port(), free_port()
    with beside(reach, folder, ("cwii", *flags), server=f"https://127.0.0.1:{api}") as one:
        two = Webhook(reach, one.processes, one.told)
        one.processes.start(
            API,
            [
                sys.executable,
                "-I",
                RELAY,
                f"127.0.0.1:{api}",
                reach.urls[0].removeprefix("https://"),
            ],
        )
        one.processes.start(
            DOOR, [sys.executable, "-I", RELAY, f"127.0.0.1:{door}", f"file:{folder / 'endpoints'}"]
        )
        for replica in (one, two):
            replica.start()
            replica.wait()
        (folder / "endpoints").write_text(_lines(one, two))
        with called(one, "cwii", port=door) as hook:
            yield Service(
                (one, two),
                folder / "endpoints",
                Space(reach, hook=hook).account(ACCOUNT_ANNOTATIONS["cwii"]),
            )


def _lines(*replicas: Webhook) -> str:
    return "\n".join(f"127.0.0.1:{replica.port}" for replica in replicas)


def test_no_creation_fails_while_replicas_certificates_and_watches_come_and_go(
    reach: Reach, tmp_path: Path
) -> None:
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
def test_nor_with_twenty_certificates_and_each_replica_replaced_five_times(
    reach: Reach, tmp_path: Path, record_property: Record
) -> None:
    with service(reach, tmp_path) as there, Load(there.space, 20) as load:
        for _ in range(5):
            for replica in there.replicas:
                there.replaced(replica)
            there.processes.signal(API, signal.SIGUSR2)
            for _ in range(4):
                there.renewed()

    record_property(
        "told", f"{load.created} pods, {len(load.failed)} failed, {len(load.bare)} bare"
    )
    assert (load.failed, load.bare) == ([], [])
    assert load.created > 1000


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_who_is_killed_without_a_word_loses_no_more_than_what_it_had_in_hand(
    reach: Reach, tmp_path: Path, record_property: Record
) -> None:
    with service(reach, tmp_path) as there, Load(there.space, 20, clients=4) as load:
        for _ in range(5):
            for replica in there.replicas:
                there.killed(replica)

    record_property(
        "told", f"{load.created} pods, {len(load.failed)} failed of 10 kills, {len(load.bare)} bare"
    )
    assert load.bare == []
    assert len(load.failed) <= 10, load.failed


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_when_its_watches_fall_silent_without_a_reset_it_has_the_new_role_within_three_minutes(
    reach: Reach, tmp_path: Path, record_property: Record
) -> None:
    """Whatever else it asks of the API server arrives."""
    with service(reach, tmp_path) as there:
        assert role(there.space) == ACCOUNT_ANNOTATIONS["cwii"][ROLE_ARN]
        there.processes.signal(API, signal.SIGUSR1)
        there.processes.until(lambda: deaf(there.space), "the relay to drop what is sent", 30)
        there.space.tell({ROLE_ARN: NEW})
        begun = time.monotonic()
        there.processes.until(lambda: role(there.space) == NEW, "the new role", 180)
        took = time.monotonic() - begun

    record_property("told", f"the new role was there after {took:.0f} s")
    assert took > 10, "it heard of it: nothing was dropped"


def deaf(space: Space) -> bool:
    """Whether what is changed is not heard of, as it is else in far less than a second."""
    before = role(space)
    space.tell({ROLE_ARN: f"{OTHER}{time.monotonic_ns()}"})
    time.sleep(1)
    return role(space) == before


def role(space: Space) -> str:
    return variables(first(space.tried(plain())))["AWS_ROLE_ARN"]
