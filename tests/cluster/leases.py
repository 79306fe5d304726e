"""Leases by which API servers say that they run. Those that are started here have one name, this machine's, and so one Lease."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from tests.cluster.kube.client import Client

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"


@contextmanager
def leased(admin: Client, machine: str, ago: float = 0) -> Generator[None]:
    """As another API server would have renewed it so many seconds ago."""
    about = {
        "name": f"apiserver-{machine}",
        "labels": {
            "apiserver.kubernetes.io/identity": "kube-apiserver",
            "kubernetes.io/hostname": machine,
        },
    }
    moment = datetime.now(UTC) - timedelta(seconds=ago)
    admin.create(
        LEASES,
        {
            "metadata": about,
            "spec": {"leaseDurationSeconds": 3600, "renewTime": f"{moment:%Y-%m-%dT%H:%M:%S.%fZ}"},
        },
    )
    try:
        yield
    finally:
        admin.delete(f"{LEASES}/{about['name']}")
