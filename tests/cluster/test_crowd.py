"""Where everybody waits for the API server, the webhook does not: what it reads has a priority level of its own."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from cwiictl.install.flow import priority
from cwiictl.install.served import EVERYTHING
from tests.cluster.conftest import started
from tests.cluster.kube.client import Client, Refused
from tests.cluster.kube.cluster import Cluster, Settings
from tests.cluster.objects import named, path
from tests.cluster.traces import seen_within
from tests.cluster.webhook import SYSTEM, beside
from tests.cwiictl.install.installed import some

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]

FEW = ("--max-requests-inflight=30", "--max-mutating-requests-inflight=20")
NOISE = "/api/v1/namespaces/noise/configmaps"
CROWD = 40  # at each of the two levels for workloads
SOON = 5.0  # seconds


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with started(Settings(flags=FEW)) as cluster:
        yield cluster


def test_it_is_ready_at_once_though_every_level_for_workloads_is_full(
    cluster: Cluster, tmp_path: Path
) -> None:
    with beside(cluster.reach, tmp_path, ("cwii",)) as webhook, crowd(cluster):
        webhook.start()
        assert not seen_within(SOON, webhook.ready), (
            "without it, it waits as all others do: else this shows nothing"
        )

        for body in priority(some(name=webhook.told.who.name, namespace=SYSTEM), EVERYTHING):
            cluster.admin.create(path(cluster.admin, body), body)
        webhook.processes.stop(webhook.name)
        webhook.start()

        assert seen_within(SOON, webhook.ready), webhook.lacks()


@contextmanager
def crowd(cluster: Cluster) -> Generator[None]:
    """Workloads of the system and others, each of which holds its place for as long as a webhook that never answers is waited for."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0), backlog=1000) as mute:
        _slow(cluster.admin, mute.getsockname()[1])
        users = [
            (f"system:serviceaccount:{namespace}:noisy-{number}", namespace)
            for number in range(CROWD)
            for namespace in (SYSTEM, "noise")
        ]
        clients = [
            cluster.reach.client(
                user, "system:serviceaccounts", f"system:serviceaccounts:{namespace}"
            )
            for user, namespace in users
        ]
        threads = [
            threading.Thread(target=_noise, args=(client, over), daemon=True) for client in clients
        ]
        for thread in threads:
            thread.start()
        time.sleep(3)  # until they stand in each other's way
        try:
            yield
        finally:
            over.set()
            cluster.admin.delete(
                "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/mute"
            )


def _slow(admin: Client, port: int) -> None:
    admin.create("/api/v1/namespaces", named("noise"))
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["configmaps"],
    }
    entry = {
        "name": "mute.example.com",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Ignore",
        "timeoutSeconds": 30,
        "clientConfig": {"url": f"https://127.0.0.1:{port}/"},
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "noise"}},
        "rules": [rule],
    }
    admin.create(
        "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
        named("mute", webhooks=[entry]),
    )
    rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/noise"
    admin.create(
        f"{rbac}/roles",
        named(
            "noise", rules=[{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}]
        ),
    )
    everybody = {
        "kind": "Group",
        "apiGroup": "rbac.authorization.k8s.io",
        "name": "system:serviceaccounts",
    }
    role = {"kind": "Role", "apiGroup": "rbac.authorization.k8s.io", "name": "noise"}
    admin.create(f"{rbac}/rolebindings", named("noise", roleRef=role, subjects=[everybody]))


def _noise(client: Client, over: threading.Event) -> None:
    while not over.is_set():
        with suppress(Refused, OSError):
            client.create(f"{NOISE}?dryRun=All", {"metadata": {"generateName": "n-"}})
