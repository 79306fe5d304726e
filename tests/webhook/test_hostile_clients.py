"""Hostile clients do not affect reviews of the API server.

They send garbage, slow requests, incomplete handshakes and forged reviews.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import ssl
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cwii_webhook.kube.cache.lookups import LookupLimits

from tests.webhook.apiserver.fake import ADMIN
from tests.webhook.apiserver.running import RunningApiServer
from tests.webhook.server.local_server import Client, build_post
from tests.webhook.webhook_process import (
    EKS,
    POD,
    RunningWebhook,
    run_shop_apiserver,
    run_webhook,
    tls_flags,
)

GARBAGE_BYTES = 10_000_000  # bytes
MAX_MEMORY = 128 << 20  # bytes
POD_INTERVAL = 0.05  # seconds between two reviews
MAX_ATTEMPT = 30.0  # seconds until a client connects again


@dataclass
class Attack:
    """Hostile clients, and one API server that sends reviews meanwhile."""

    webhook: RunningWebhook
    until: float
    injected: list[bool] = field(default_factory=list[bool])  # one entry per answered review
    reviews: int = 0
    forged: int = 0

    @property
    def over(self) -> bool:
        return time.monotonic() >= self.until

    @contextlib.asynccontextmanager
    async def connected(self, *, tls: bool = True) -> AsyncGenerator[Client]:
        client = Client(
            *await asyncio.open_connection(
                "127.0.0.1", self.webhook.ports[0], ssl=self.webhook.trust if tls else None
            )
        )
        try:
            yield client
        finally:
            # Does not wait for the end of the TLS session, because the event loop may end first.
            client.writer.transport.abort()

    async def repeat(self, action: Callable[[], Awaitable[None]]) -> None:
        """Repeats the action until the end, also after the webhook closes the connection."""
        while not self.over:
            with contextlib.suppress(
                OSError, EOFError, ssl.SSLError, asyncio.IncompleteReadError, TimeoutError
            ):
                await asyncio.wait_for(action(), MAX_ATTEMPT)
            await asyncio.sleep(0.05)

    async def send_forged_reviews(self) -> None:
        async with self.connected() as client:
            while not self.over:
                pod = {
                    **POD,
                    "spec": {
                        **POD["spec"],
                        "serviceAccountName": f"random-{random.getrandbits(64):x}",
                    },
                }
                client.send(build_post(self.webhook.encode_review(pod)))
                await client.read_response()
                self.forged += 1

    async def send_slowly(self) -> None:
        async with self.connected() as client:
            for byte in build_post(b"x" * 1000):
                client.send(bytes([byte]))
                await client.writer.drain()
                await asyncio.sleep(0.2)
                if self.over:
                    return

    async def stop_in_handshake(self) -> None:
        async with self.connected(tls=False) as client:
            client.send(b"\x16\x03\x01\x00\xf4\x01")
            await client.reader.read()

    async def send_garbage(self, size: int, *, tls: bool) -> None:
        with contextlib.suppress(OSError, ssl.SSLError):
            async with self.connected(tls=tls) as client:
                for _ in range(size // 10_000):
                    client.send(random.randbytes(10_000))
                    await client.writer.drain()

    async def send_reviews(self) -> None:
        """Sends reviews like an API server, over one connection that is replaced when it closes."""
        async with self.connected() as client:
            while not self.over:
                self.reviews += 1
                client.send(build_post(self.webhook.encode_review(POD)))
                answer = await client.read_response()
                self.injected.append(
                    answer.status == 200 and "patch" in json.loads(answer.body)["response"]
                )
                await asyncio.sleep(POD_INTERVAL)


def run_attack(webhook: RunningWebhook, seconds: float, hostile: int) -> Attack:
    attack = Attack(webhook, time.monotonic() + seconds)

    async def run_clients() -> None:
        garbage = [
            attack.send_garbage(GARBAGE_BYTES // 20, tls=number % 2 == 0) for number in range(20)
        ]
        clients = [
            attack.repeat(action)
            for action in [attack.send_forged_reviews] * (hostile * 8 // 10)
            + [attack.send_slowly, attack.stop_in_handshake] * (hostile // 10)
        ]
        await asyncio.gather(*garbage, *clients)
        await asyncio.sleep(0.5)  # until the connections are closed

    # A separate event loop, which the hostile clients do not load.
    api_server = threading.Thread(target=lambda: asyncio.run(attack.repeat(attack.send_reviews)))
    api_server.start()
    asyncio.run(run_clients())
    api_server.join()
    return attack


@pytest.fixture
def apiserver() -> Generator[RunningApiServer]:
    with run_shop_apiserver() as ground:
        yield ground


@pytest.mark.parametrize(
    ("seconds", "hostile"), [(4.0, 60), pytest.param(60.0, 1000, marks=pytest.mark.soak)]
)
def test_hostile_clients_use_bounded_resources_and_pods_are_injected(
    apiserver: RunningApiServer,
    tmp_path: Path,
    seconds: float,
    hostile: int,
    record_property: Callable[[str, object], None],
) -> None:
    with run_webhook(apiserver, tmp_path, *EKS, *tls_flags(tmp_path)) as webhook:
        webhook.wait_until_ready()
        start = time.monotonic()
        attack = run_attack(webhook, seconds, hostile)
        duration = time.monotonic() - start
        used_memory = int(
            Path(f"/proc/{webhook.process.pid}/statm").read_text().split()[1]
        ) * os.sysconf("SC_PAGE_SIZE")
        reads = apiserver.run_in_loop(lambda: apiserver.fake.count_requests("get", token=ADMIN))[
            "serviceaccounts"
        ]  # the webhook connects as admin

    record_property(
        "told",
        (
            f"{attack.forged} forged, {len(attack.injected)} pods, {reads} reads in "
            f"{duration:.0f} s, {used_memory >> 20} MiB"
        ),
    )
    assert attack.forged >= hostile
    assert all(attack.injected)
    assert len(attack.injected) >= seconds / 2
    assert (
        attack.reviews - len(attack.injected) <= 1 + seconds / MAX_ATTEMPT
    )  # the webhook closes none of these connections
    assert used_memory < MAX_MEMORY
    assert (
        0 < reads <= 2 * (LookupLimits().misses_burst + LookupLimits().misses_per_second * duration)
    )  # the webhook looks up each account twice
