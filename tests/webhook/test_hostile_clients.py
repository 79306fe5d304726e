"""Strangers at the door of the whole program: garbage, sloth, half of a conversation, and forged reviews without an end. Pods get what is theirs meanwhile."""

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
from tests.webhook.webhook_process import EKS, POD, Running, a_shop, pair, running

GARBAGE = 10_000_000  # bytes
MEMORY = 128 << 20  # that it may have at the most, whoever comes
EVERY = 0.05  # seconds between two pods
LONGEST = 30.0  # seconds until anybody comes anew


@dataclass
class Siege:
    webhook: Running
    until: float
    pods: list[bool] = field(default_factory=list[bool])  # whether each got what is its own
    asked: int = 0  # for how many
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
            client.writer.transport.abort()  # whose farewell is not waited for: the loop may end first

    async def again(self, doing: Callable[[], Awaitable[None]]) -> None:
        """Who is cut off comes back."""
        while not self.over:
            with contextlib.suppress(
                OSError, EOFError, ssl.SSLError, asyncio.IncompleteReadError, TimeoutError
            ):
                await asyncio.wait_for(doing(), LONGEST)
            await asyncio.sleep(0.05)

    async def forge(self) -> None:
        async with self.connected() as client:
            while not self.over:
                pod = {
                    **POD,
                    "spec": {
                        **POD["spec"],
                        "serviceAccountName": f"random-{random.getrandbits(64):x}",
                    },
                }
                client.send(build_post(self.webhook.asked(pod)))
                await client.read_response()
                self.forged += 1

    async def dawdle(self) -> None:
        async with self.connected() as client:
            for byte in build_post(b"x" * 1000):
                client.send(bytes([byte]))
                await client.writer.drain()
                await asyncio.sleep(0.2)
                if self.over:
                    return

    async def stop_half_way(self) -> None:
        async with self.connected(tls=False) as client:
            client.send(b"\x16\x03\x01\x00\xf4\x01")
            await client.reader.read()

    async def babble(self, size: int, *, tls: bool) -> None:
        with contextlib.suppress(OSError, ssl.SSLError):
            async with self.connected(tls=tls) as client:
                for _ in range(size // 10_000):
                    client.send(random.randbytes(10_000))
                    await client.writer.drain()

    async def live(self) -> None:
        """As an API server does: one connection that is kept, and another where that one is gone."""
        async with self.connected() as client:
            while not self.over:
                self.asked += 1
                client.send(build_post(self.webhook.asked(POD)))
                answer = await client.read_response()
                self.pods.append(
                    answer.status == 200 and "patch" in json.loads(answer.body)["response"]
                )
                await asyncio.sleep(EVERY)


def besieged(webhook: Running, seconds: float, hostile: int) -> Siege:
    siege = Siege(webhook, time.monotonic() + seconds)

    async def story() -> None:
        babbling = [siege.babble(GARBAGE // 20, tls=number % 2 == 0) for number in range(20)]
        strangers = [
            siege.again(doing)
            for doing in [siege.forge] * (hostile * 8 // 10)
            + [siege.dawdle, siege.stop_half_way] * (hostile // 10)
        ]
        await asyncio.gather(*babbling, *strangers)
        await asyncio.sleep(0.5)  # until who was hung up on is gone

    living = threading.Thread(
        target=lambda: asyncio.run(siege.again(siege.live))
    )  # in a loop that strangers do not fill
    living.start()
    asyncio.run(story())
    living.join()
    return siege


@pytest.fixture
def apiserver() -> Generator[RunningApiServer]:
    with a_shop() as ground:
        yield ground


@pytest.mark.parametrize(
    ("seconds", "hostile"), [(4.0, 60), pytest.param(60.0, 1000, marks=pytest.mark.soak)]
)
def test_strangers_cost_little_and_pods_get_what_is_theirs(
    apiserver: RunningApiServer,
    tmp_path: Path,
    seconds: float,
    hostile: int,
    record_property: Callable[[str, object], None],
) -> None:
    with running(apiserver, tmp_path, *EKS, *pair(tmp_path)) as webhook:
        webhook.ready()
        began = time.monotonic()
        siege = besieged(webhook, seconds, hostile)
        took = time.monotonic() - began
        used = int(Path(f"/proc/{webhook.process.pid}/statm").read_text().split()[1]) * os.sysconf(
            "SC_PAGE_SIZE"
        )
        reads = apiserver.run_in_loop(lambda: apiserver.fake.count_requests("get", token=ADMIN))[
            "serviceaccounts"
        ]  # who it is here

    record_property(
        "told",
        f"{siege.forged} forged, {len(siege.pods)} pods, {reads} reads in {took:.0f} s, {used >> 20} MiB",
    )
    assert siege.forged >= hostile
    assert all(siege.pods)
    assert len(siege.pods) >= seconds / 2
    assert (
        siege.asked - len(siege.pods) <= 1 + seconds / LONGEST
    )  # none is cut off but by ourselves
    assert used < MEMORY
    assert (
        0 < reads <= 2 * (LookupLimits().misses_burst + LookupLimits().misses_per_second * took)
    )  # each is looked for a second time
