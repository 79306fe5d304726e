"""Runs the whole webhook as a process, with a fake cluster of any size."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import ssl
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from pathlib import Path

import decision

from tests.webhook.apiserver.fake import ADMIN
from tests.webhook.apiserver.running import RunningApiServer


@contextlib.contextmanager
def run_webhook(apiserver: RunningApiServer, folder: Path, pem: Path) -> Generator[tuple[int, int]]:
    """Runs the webhook with all dialects, and yields its port and its pid once it is ready.

    The log goes to a file, with a line for each decision.
    """
    cluster = {
        "name": "c",
        "cluster": {
            "server": apiserver.url,
            "certificate-authority-data": base64.b64encode(apiserver.ca).decode(),
        },
    }
    config = {
        "current-context": "k",
        "clusters": [cluster],
        "users": [{"name": "u", "user": {"token": ADMIN}}],
    }
    (folder / "kubeconfig").write_text(
        json.dumps(
            {**config, "contexts": [{"name": "k", "context": {"cluster": "c", "user": "u"}}]}
        )
    )
    arguments = [
        "eks",
        "--port=0",
        "--metrics-port=-1",
        f"--kubeconfig={folder / 'kubeconfig'}",
        f"--tls-cert={pem}",
        f"--tls-key={pem}",
    ]
    other_dialects = ["+", "cwii", "+", "azwi", "--tenant-id=t", "+", "gcpwif"]
    log = folder / "log"
    with (
        log.open("wb") as file,
        subprocess.Popen(
            [sys.executable, "-m", "cwii_webhook", *arguments, *other_dialects], stderr=file
        ) as process,
    ):
        try:
            os.sched_setaffinity(process.pid, {0})
            while not (
                listening := [
                    line
                    for line in map(json.loads, log.read_text().splitlines())
                    if line["what"] == "listening"
                ]
            ):
                time.sleep(0.01)
            port = int(listening[0]["ports"][0])
            _wait_until_ready(port, ssl.create_default_context(cadata=apiserver.ca.decode()))
            yield port, process.pid
        finally:
            process.kill()


def _wait_until_ready(port: int, context: ssl.SSLContext) -> None:
    while True:
        with (
            contextlib.suppress(OSError),
            contextlib.closing(
                http.client.HTTPSConnection("127.0.0.1", port, context=context)
            ) as connection,
        ):
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        time.sleep(0.01)


def add_objects(
    apiserver: RunningApiServer,
    *,
    accounts: int,
    namespaces: int,
    owners: int,
    annotations: Mapping[str, str] = decision.CASES["eks"][1],
) -> None:
    """Adds namespaces with ServiceAccounts, Deployments and their ReplicaSets.

    `owners` is the number of Deployments and ReplicaSets together.
    """
    account_annotations = {
        **annotations,
        "kubectl.kubernetes.io/last-applied-configuration": "x" * 300,
    }
    put = apiserver.fake.store.put
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": "shop",
        "uid": "d",
        "controller": True,
    }

    def add() -> None:
        for number in range(namespaces):
            put("/api/v1/namespaces", {"metadata": {"name": f"team-{number:02}"}})
        for number in range(accounts):
            name = "shop" if number < namespaces else f"account-{number}"
            put(
                "/api/v1/serviceaccounts",
                {
                    "metadata": {
                        "namespace": f"team-{number % namespaces:02}",
                        "name": name,
                        "annotations": account_annotations,
                    }
                },
            )
        for number in range(owners):
            resource, name = (
                ("deployments", "shop") if number % 2 else ("replicasets", "shop-6b7f9c9d4")
            )
            address = {
                "namespace": f"team-{number // 2 % namespaces:02}",
                "name": name if number < 2 * namespaces else f"{name}-{number}",
            }
            relations = (
                {"uid": "d"} if number % 2 else {"uid": "r", "ownerReferences": [deployment]}
            )
            put(f"/apis/apps/v1/{resource}", {"metadata": {**address, **relations}})
        apiserver.fake.store.compact()

    apiserver.run_in_loop(add)


def cpu_time(pid: int) -> float:
    """Returns the CPU time of a process in seconds. The scheduler counts it in nanoseconds."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
