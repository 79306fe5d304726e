"""The whole webhook under TLS, one dialect after the other, against an empty handler of uvicorn in the same run.

Two mixes of reviews, each from 40 workloads in 40 namespaces:
- `rollouts`: pods of the same workloads again and again. The API server writes a new uid, time and token volume into each review.
- `distinct`: as `rollouts`, and one environment value is new in each review, so no two pods are alike.

Eight kept connections. The servers run on one core, the client on the other. All answers of a server have the same length for one dialect, so the client
counts bytes and does not parse them. The CPU time per request is measured as well: it does not depend on how busy the machine is.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import decision
from cwii_webhook.dialects.registry import ALL
from cwii_webhook.server import lifecycle as server
from cwii_webhook.server.listener import bind
from ratio import Ratio
from served import fill, program, used
from uvicorn import Config, Server

from tests.webhook.apiserver.running import run_apiserver

CONNECTIONS = 8
ROUNDS = 5
SECONDS = 1.0
ANSWER = (
    b'{"kind":"AdmissionReview","response":{"uid":"0","allowed":true,"patch":"'
    + b"y" * 2000
    + b'"}}'
)
HEAD = (
    b"POST %s?timeout=10s HTTP/1.1\r\nHost: webhook\r\nUser-Agent: kube-apiserver-admission\r\nContent-Length: %d\r\n"
    b"Accept: application/json, */*\r\nContent-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n"
)
ENV_VARIABLES = 6  # per container: a review has 7.3 kB then
MIXES = ("rollouts", "distinct")
ROOT = Path(__file__).parents[2]

Message = dict[str, object]


# The server to compare with, as a process of its own.


async def empty(
    _scope: object,
    receive: Callable[[], Awaitable[Message]],
    send: Callable[[Message], Awaitable[None]],
) -> None:
    while (await receive()).get("more_body"):
        pass
    await send(
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", b"%d" % len(ANSWER)),
            ],
        }
    )
    await send({"type": "http.response.body", "body": ANSWER})


def serve_empty(pem: Path) -> None:
    (sock,) = bind("127.0.0.1", 0)
    print(sock.getsockname()[1], flush=True)
    config = Config(
        empty,
        http="httptools",
        loop="uvloop",
        lifespan="off",
        ssl_certfile=pem,
        log_level="error",
        access_log=False,
        timeout_keep_alive=120,
    )
    Server(config).run([sock])


# The client.


@dataclass(frozen=True)
class Round:
    seconds: float  # per request
    p99: float
    cpu: float  # seconds of the server per request


def requests(path: bytes, mix: str) -> Iterator[bytes]:
    """Requests without end. What is new in each review has a fixed width, so that Content-Length is the same."""
    uid, clock, volume, value = (
        text % 0
        for text in (
            b"0df28fbd-5f5f-11e8-bc74-%012d",
            b"10:00:%02d",
            b"kube-api-access-%05x",
            b"value-%08d",
        )
    )
    own = {"value": value.decode()} if mix == "distinct" else {}
    templates: list[bytes] = []
    for workload in range(decision.WORKLOADS):
        body = json.dumps(
            decision.review(
                workload, "00000", ENV_VARIABLES, uid=uid.decode(), time=clock.decode(), **own
            ),
            separators=(",", ":"),
        ).encode()
        templates.append(HEAD % (path, len(body)) + body)
    for number, template in enumerate(itertools.cycle(templates)):
        request = template.replace(uid, b"0df28fbd-5f5f-11e8-bc74-%012d" % number)
        request = request.replace(clock, b"10:%02d:%02d" % divmod(number // 100 % 3600, 60))
        request = request.replace(volume, b"kube-api-access-%05x" % (number % 0xFFFFF))
        yield request.replace(value, b"value-%08d" % number)


class Asker(asyncio.Protocol):
    def __init__(self, times: list[float], asking: Iterator[bytes]) -> None:
        self.times = times
        self.asking = asking
        self.length = self.come = 0
        self.over = False
        self.ended = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.write = cast("asyncio.WriteTransport", transport).write
        self.ask()

    def ask(self) -> None:
        self.since = time.perf_counter()
        self.write(next(self.asking))

    def data_received(self, data: bytes) -> None:
        if not self.length:
            head = data[: data.index(b"\r\n\r\n")].lower()
            assert head.startswith(b"http/1.1 200"), data
            self.length = (
                len(head) + 4 + int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
            )
        self.come += len(data)
        if self.come == self.length:
            self.come = 0
            self.times.append(time.perf_counter() - self.since)
            self.ended.set_result(None) if self.over else self.ask()


def measured(port: int, pid: int, context: ssl.SSLContext, asking: Iterator[bytes]) -> Round:
    rounds: list[Round] = []

    async def story() -> None:
        times: list[float] = []
        loop = asyncio.get_running_loop()
        made = [
            await loop.create_connection(
                lambda: Asker(times, asking), "127.0.0.1", port, ssl=context
            )
            for _ in range(CONNECTIONS)
        ]
        await asyncio.sleep(0.2)
        times.clear()
        start, before = time.perf_counter(), used(pid)
        await asyncio.sleep(SECONDS)
        count, took, spent = len(times), time.perf_counter() - start, used(pid) - before
        rounds.append(Round(took / count, sorted(times[:count])[count * 99 // 100], spent / count))
        for transport, asker in made:
            asker.over = True
            await asker.ended
            transport.close()
        await asyncio.sleep(0.05)

    server.run(story)
    return rounds[0]


def ratios() -> Iterator[Ratio]:
    with tempfile.TemporaryDirectory() as name, _apart(), run_apiserver() as apiserver:
        folder = Path(name)
        signed = apiserver.authority.issue_server_certificate("127.0.0.1")
        pem = folder / "server.pem"
        pem.write_bytes(signed.key + signed.certificate)
        context = ssl.create_default_context(cadata=apiserver.ca.decode())
        annotations = {
            key: text for _, said, _ in decision.ASKED.values() for key, text in said.items()
        }
        fill(
            apiserver,
            accounts=decision.WORKLOADS,
            spaces=decision.WORKLOADS,
            owners=2 * decision.WORKLOADS,
            says=annotations,
        )
        with _started(pem) as reference, program(apiserver, folder, pem) as webhook:
            cases = [
                (
                    f"{dialect}, {mix}",
                    *webhook,
                    requests(f"/{dialect}{ALL[dialect].path}".encode(), mix),
                )
                for dialect in decision.ASKED
                for mix in MIXES
            ]
            cases.append(("empty", *reference, requests(b"/", "rollouts")))
            for _, port, pid, asking in cases:
                measured(port, pid, context, asking)
            rounds = [
                [measured(port, pid, context, asking) for _, port, pid, asking in cases]
                for _ in range(ROUNDS)
            ]
    figures: dict[str, Callable[[Round], float]] = {
        "a request": lambda one: one.seconds,
        "CPU time of a request": lambda one: one.cpu,
        "p99 of a request": lambda one: one.p99,
    }
    for what, figure in figures.items():
        *ours, nothing = (
            min(figure(each[side]) for each in rounds) for side in range(len(cases))
        )  # others use this machine too: the best of each
        for (case, *_), best in zip(cases, ours, strict=False):
            yield Ratio(f"webhook: {what}, {case}", "uvicorn's, empty", best, nothing)


@contextlib.contextmanager
def _apart() -> Generator[None]:
    """On the last core; servers are on the first."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


@contextlib.contextmanager
def _started(pem: Path) -> Generator[tuple[int, int]]:
    command = [sys.executable, __file__, str(pem)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    ) as process:
        try:
            os.sched_setaffinity(process.pid, {0})
            assert process.stdout is not None
            yield int(process.stdout.readline()), process.pid
        finally:
            process.kill()


if __name__ == "__main__":
    serve_empty(Path(sys.argv[1]))
