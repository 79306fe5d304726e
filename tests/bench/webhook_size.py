"""Measures the memory of the webhook, idle and with a large cluster, and its startup time."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ratio import Ratio
from served import add_objects, cpu_time, run_webhook

from tests.webhook.apiserver.running import run_apiserver

TRIES = 3


def ratios() -> Iterator[Ratio]:
    idle, *_ = _measure(accounts=1, namespaces=1, owners=1)
    full, startup, cpu = _measure(accounts=10_000, namespaces=1_000, owners=20_000)
    yield Ratio("webhook: MiB, idle", "what it may have", idle, 64.0, "at most 1", scale=1.0)
    yield Ratio(
        "webhook: MiB, 31,000 objects in its picture",
        "what it may have",
        full,
        110.0,
        "at most 1",
        scale=1.0,
    )
    yield Ratio(
        "webhook: from its start until it is ready with them",
        "what it may take",
        startup,
        2.0,
        "at most 1",
    )
    yield Ratio("webhook: the processor's time for that", "what it may take", cpu, 2.0, "at most 1")


def _measure(*, accounts: int, namespaces: int, owners: int) -> tuple[float, float, float]:
    """Returns the most memory in MiB, and the least wall time and CPU time.

    Other processes of the machine make times longer, and never shorter.
    """
    memory, startup, cpu = zip(
        *(_measure_once(accounts, namespaces, owners) for _ in range(TRIES)), strict=True
    )
    return max(memory), min(startup), min(cpu)


def _measure_once(accounts: int, namespaces: int, owners: int) -> tuple[float, float, float]:
    with tempfile.TemporaryDirectory() as name, run_apiserver() as apiserver:
        signed = apiserver.authority.issue_server_certificate("127.0.0.1")
        pem = Path(name, "server.pem")
        pem.write_bytes(signed.key + signed.certificate)
        add_objects(apiserver, accounts=accounts, namespaces=namespaces, owners=owners)
        started_at = time.perf_counter()
        with run_webhook(apiserver, Path(name), pem) as (_, pid):
            startup, cpu = time.perf_counter() - started_at, cpu_time(pid)
            time.sleep(1.0)
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
            return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20), startup, cpu
