"""How much memory the whole webhook has, idle and with a large cluster in its picture, and how soon after its start it is ready with that."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ratio import Ratio
from served import fill, program, used

from tests.webhook.apiserver.running import run_apiserver

TRIES = 3


def ratios() -> Iterator[Ratio]:
    idle, *_ = _tried(accounts=1, spaces=1, owners=1)
    full, soon, spent = _tried(accounts=10_000, spaces=1_000, owners=20_000)
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
        soon,
        2.0,
        "at most 1",
    )
    yield Ratio(
        "webhook: the processor's time for that", "what it may take", spent, 2.0, "at most 1"
    )


def _tried(*, accounts: int, spaces: int, owners: int) -> tuple[float, float, float]:
    """The most memory, and the least time: only others make it longer."""
    memory, soon, spent = zip(*(_once(accounts, spaces, owners) for _ in range(TRIES)), strict=True)
    return max(memory), min(soon), min(spent)


def _once(accounts: int, spaces: int, owners: int) -> tuple[float, float, float]:
    with tempfile.TemporaryDirectory() as name, run_apiserver() as apiserver:
        signed = apiserver.authority.issue_server_certificate("127.0.0.1")
        pem = Path(name, "server.pem")
        pem.write_bytes(signed.key + signed.certificate)
        fill(apiserver, accounts=accounts, spaces=spaces, owners=owners)
        began = time.perf_counter()
        with program(apiserver, Path(name), pem) as (_, pid):
            soon, spent = time.perf_counter() - began, used(pid)
            time.sleep(1.0)
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
            return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20), soon, spent
