"""The API server is asked for too much by others: what the webhook has to read it is given all the same."""

from __future__ import annotations

import contextlib
import socket
import statistics
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

import pytest

from tests.cluster.kube.client import Client, Object
from tests.cluster.life.calling import REQUIRED, ROLE
from tests.cluster.life.user import User, space
from tests.cluster.space import Space, plain, volumes
from tests.cluster.traces import seen_within

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]

SMALL = ("--max-requests-inflight=20", "--max-mutating-requests-inflight=20")
AT_ONCE = 40  # of each sort of user
CROWD = "crowd"
ACCOUNTS = (
    "default",
    "kube-system",
)  # whose reads are of the levels workload-low and workload-high; people's are of global-default
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"


def restarted(user: User, flags: tuple[str, ...]) -> None:
    server = user.cluster.servers[0]
    server.stop()
    server.start(flags)
    server.wait()
    assert seen_within(60, user.ready), user.pods()


@pytest.fixture
def narrow(user: User) -> Generator[User]:
    """An API server that does little at once."""
    user.has()
    flags = user.cluster.settings.flags
    restarted(user, (*flags, *SMALL))
    yield user
    restarted(user, flags)


@pytest.fixture
def clients(narrow: User) -> Generator[list[Client]]:
    """A sort of user for each level."""
    reach, admin = narrow.cluster.reach, narrow.admin
    found = [reach.client(CROWD)]
    subjects: list[Object] = [
        {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": CROWD}
    ]
    for namespace in ACCOUNTS:
        accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
        admin.create(accounts, {"metadata": {"name": CROWD}})
        found.append(
            reach.bearer(
                admin.create(f"{accounts}/{CROWD}/token", {"spec": {"expirationSeconds": 3600}})[
                    "status"
                ]["token"]
            )
        )
        subjects.append({"kind": "ServiceAccount", "namespace": namespace, "name": CROWD})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    admin.create(BINDINGS, {"metadata": {"name": CROWD}, "roleRef": role, "subjects": subjects})
    yield found
    admin.delete(f"{BINDINGS}/{CROWD}")
    for namespace in ACCOUNTS:
        admin.delete(f"/api/v1/namespaces/{namespace}/serviceaccounts/{CROWD}")


@contextmanager
def slow(user: User) -> Generator[str]:
    """Where ConfigMaps are made only after somebody has been asked who never answers: all that time the API server is at it."""
    here = space(user, CROWD)
    with socket.create_server(("127.0.0.1", 0), backlog=512) as deaf:
        hook: Object = {
            "name": "deaf.cwii.dev",
            "admissionReviewVersions": ["v1"],
            "clientConfig": {"url": f"https://{user.cluster.node.lend(deaf.getsockname()[1])}/"},
            "failurePolicy": "Ignore",
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": CROWD}},
            "rules": [
                {
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE"],
                    "resources": ["configmaps"],
                }
            ],
            "sideEffects": "None",
            "timeoutSeconds": 8,
        }
        user.admin.create(CONFIGURATIONS, {"metadata": {"name": CROWD}, "webhooks": [hook]})
        yield f"{here}/configmaps?dryRun=All"
        user.admin.delete(f"{CONFIGURATIONS}/{CROWD}")
    user.admin.delete(here)


@contextmanager
def crowded(clients: Sequence[Client], path: str) -> Generator[None]:
    over = threading.Event()

    def ask(client: Client) -> None:
        while not over.is_set():
            with contextlib.suppress(Exception):  # it is sent away
                client.create(path, {"metadata": {"generateName": "c-"}})

    threads = [
        threading.Thread(target=ask, args=(client,), daemon=True)
        for client in clients
        for _ in range(AT_ONCE)
    ]
    for thread in threads:
        thread.start()
    yield
    over.set()
    for thread in threads:
        thread.join()


def waits(client: Client) -> bool:
    """Whether somebody like that gets no answer for a while, or is sent away."""
    begun = time.monotonic()
    with contextlib.suppress(Exception):
        client.get("/api/v1/namespaces/default/configmaps")
    return time.monotonic() - begun > 1


def test_where_every_level_for_workloads_is_full_a_new_service_account_is_read_in_time(
    narrow: User, clients: list[Client], record_property: Callable[[str, object], None]
) -> None:
    here, took = Space(narrow.cluster.reach, labels=REQUIRED), list[float]()

    with slow(narrow) as path, crowded(clients, path):
        for client in clients:
            assert seen_within(30, lambda: waits(client))  # noqa: B023  # it is asked at once
        for number in range(20):
            name = f"new-{number}"
            here.account(ROLE, name)
            begun = time.monotonic()
            pod = here.tried(plain(serviceAccountName=name))
            took.append(time.monotonic() - begun)
            assert volumes(pod), f"after {number}"
        full = [waits(client) for client in clients]

    record_property(
        "told",
        f"a pod of a new ServiceAccount was answered in {statistics.median(took):.3f} s, and {max(took):.3f} s at most",
    )
    assert all(full), "there was room again before the end"
    assert max(took) < 2
