"""The whole webhook as a process, and a cluster for it of any size."""

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
def program(apiserver: RunningApiServer, folder: Path, pem: Path) -> Generator[tuple[int, int]]:
    """The whole webhook in all its dialects, once it is ready. Its log goes to a file, a line for each decision."""
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
    words = [
        "eks",
        "--port=0",
        "--metrics-port=-1",
        f"--kubeconfig={folder / 'kubeconfig'}",
        f"--tls-cert={pem}",
        f"--tls-key={pem}",
    ]
    others = ["+", "cwii", "+", "azwi", "--tenant-id=t", "+", "gcpwif"]
    log = folder / "log"
    with (
        log.open("wb") as file,
        subprocess.Popen(
            [sys.executable, "-m", "cwii_webhook", *words, *others], stderr=file
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
            _ready(port, ssl.create_default_context(cadata=apiserver.ca.decode()))
            yield port, process.pid
        finally:
            process.kill()


def _ready(port: int, context: ssl.SSLContext) -> None:
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


def fill(
    apiserver: RunningApiServer,
    *,
    accounts: int,
    spaces: int,
    owners: int,
    says: Mapping[str, str] = decision.ASKED["eks"][1],
) -> None:
    """Namespaces, and in them ServiceAccounts and Deployments with their ReplicaSets, as a cluster has them."""
    annotations = {**says, "kubectl.kubernetes.io/last-applied-configuration": "x" * 300}
    put = apiserver.fake.store.put
    above = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": "shop",
        "uid": "d",
        "controller": True,
    }

    def filled() -> None:
        for number in range(spaces):
            put("/api/v1/namespaces", {"metadata": {"name": f"team-{number:02}"}})
        for number in range(accounts):
            name = "shop" if number < spaces else f"account-{number}"
            put(
                "/api/v1/serviceaccounts",
                {
                    "metadata": {
                        "namespace": f"team-{number % spaces:02}",
                        "name": name,
                        "annotations": annotations,
                    }
                },
            )
        for number in range(owners):
            kind, name = (
                ("deployments", "shop") if number % 2 else ("replicasets", "shop-6b7f9c9d4")
            )
            where = {
                "namespace": f"team-{number // 2 % spaces:02}",
                "name": name if number < 2 * spaces else f"{name}-{number}",
            }
            own = {"uid": "d"} if number % 2 else {"uid": "r", "ownerReferences": [above]}
            put(f"/apis/apps/v1/{kind}", {"metadata": {**where, **own}})
        apiserver.fake.store.compact()

    apiserver.run_in_loop(filled)


def used(pid: int) -> float:
    """Seconds of the processor's time, so far: to the nanosecond, as the scheduler counts it."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
