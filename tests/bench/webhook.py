"""Measures the whole webhook under TLS, each dialect, against an empty handler of uvicorn.

Each run measures both servers. There are two mixes of reviews, each from 40 workloads in 40
namespaces:
- `rollouts`: pods of the same workloads. The API server generates the uid, the time and the name of
  the token volume of each review.
- `distinct`: as `rollouts`, and one environment value differs in each review, so no two pods are
  alike.

The client keeps eight connections open. The servers run on one core, the client on another. All
responses to one dialect have the same length, so the client counts bytes and does not parse them.
The CPU time per request is measured as well: it does not depend on how busy the machine is.
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
from served import add_objects, cpu_time, run_webhook
from uvicorn import Config, Server

from tests.webhook.apiserver.running import run_apiserver

CONNECTIONS = 8
ROUNDS = 5
SECONDS = 1.0
RESPONSE_BODY = (
    b'{"kind":"AdmissionReview","response":{"uid":"0","allowed":true,"patch":"'
    + b"y" * 2000
    + b'"}}'
)
REQUEST_HEAD = (
    b"POST %s?timeout=10s HTTP/1.1\r\nHost: webhook\r\n"
    b"User-Agent: kube-apiserver-admission\r\nContent-Length: %d\r\n"
    b"Accept: application/json, */*\r\nContent-Type: application/json\r\n"
    b"Accept-Encoding: gzip\r\n\r\n"
)
ENV_VARIABLES = 6  # per container; a review has 7.3 kB then
MIXES = ("rollouts", "distinct")
ROOT = Path(__file__).parents[2]

Message = dict[str, object]


async def empty_app(
    _scope: object,
    receive: Callable[[], Awaitable[Message]],
    send: Callable[[Message], Awaitable[None]],
) -> None:
    """Reads a request and answers with a constant. It is the ASGI application of the reference."""
    while (await receive()).get("more_body"):
        pass
    await send(
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", b"%d" % len(RESPONSE_BODY)),
            ],
        }
    )
    await send({"type": "http.response.body", "body": RESPONSE_BODY})


def serve_reference(pem: Path) -> None:
    """Runs the reference server. It prints its port."""
    (sock,) = bind("127.0.0.1", 0)
    print(sock.getsockname()[1], flush=True)
    config = Config(
        empty_app,
        http="httptools",
        loop="uvloop",
        lifespan="off",
        ssl_certfile=pem,
        log_level="error",
        access_log=False,
        timeout_keep_alive=120,
    )
    Server(config).run([sock])


@dataclass(frozen=True)
class Round:
    """The figures of one measurement."""

    seconds: float  # per request
    p99: float
    cpu: float  # seconds of the server, per request


def generate_requests(path: bytes, mix: str) -> Iterator[bytes]:
    """Yields requests without end.

    The values that differ between reviews have a fixed width, so that Content-Length is the same.
    """
    uid, clock, volume, value = (
        text % 0
        for text in (
            b"0df28fbd-5f5f-11e8-bc74-%012d",
            b"10:00:%02d",
            b"kube-api-access-%05x",
            b"value-%08d",
        )
    )
    distinct = {"value": value.decode()} if mix == "distinct" else {}
    templates: list[bytes] = []
    for workload in range(decision.WORKLOADS):
        body = json.dumps(
            decision.make_review(
                workload,
                "00000",
                ENV_VARIABLES,
                uid=uid.decode(),
                time=clock.decode(),
                **distinct,
            ),
            separators=(",", ":"),
        ).encode()
        templates.append(REQUEST_HEAD % (path, len(body)) + body)
    for number, template in enumerate(itertools.cycle(templates)):
        request = template.replace(uid, b"0df28fbd-5f5f-11e8-bc74-%012d" % number)
        request = request.replace(clock, b"10:%02d:%02d" % divmod(number // 100 % 3600, 60))
        request = request.replace(volume, b"kube-api-access-%05x" % (number % 0xFFFFF))
        yield request.replace(value, b"value-%08d" % number)


class ClientConnection(asyncio.Protocol):
    """Sends one request after the other, and appends the time of each to `times`."""

    def __init__(self, times: list[float], requests: Iterator[bytes]) -> None:
        self.times = times
        self.requests = requests
        self.response_size = self.received = 0  # bytes
        self.is_stopping = False
        self.stopped = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.write = cast("asyncio.WriteTransport", transport).write
        self.send()

    def send(self) -> None:
        self.sent_at = time.perf_counter()
        self.write(next(self.requests))

    def data_received(self, data: bytes) -> None:
        if not self.response_size:
            head = data[: data.index(b"\r\n\r\n")].lower()
            assert head.startswith(b"http/1.1 200"), data
            self.response_size = (
                len(head) + 4 + int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
            )
        self.received += len(data)
        if self.received == self.response_size:
            self.received = 0
            self.times.append(time.perf_counter() - self.sent_at)
            self.stopped.set_result(None) if self.is_stopping else self.send()


def measure_round(port: int, pid: int, context: ssl.SSLContext, requests: Iterator[bytes]) -> Round:
    rounds: list[Round] = []

    async def run() -> None:
        times: list[float] = []
        loop = asyncio.get_running_loop()
        connections = [
            await loop.create_connection(
                lambda: ClientConnection(times, requests), "127.0.0.1", port, ssl=context
            )
            for _ in range(CONNECTIONS)
        ]
        await asyncio.sleep(0.2)
        times.clear()
        start, cpu_before = time.perf_counter(), cpu_time(pid)
        await asyncio.sleep(SECONDS)
        count = len(times)
        elapsed, cpu = time.perf_counter() - start, cpu_time(pid) - cpu_before
        rounds.append(Round(elapsed / count, sorted(times[:count])[count * 99 // 100], cpu / count))
        for transport, connection in connections:
            connection.is_stopping = True
            await connection.stopped
            transport.close()
        await asyncio.sleep(0.05)

    server.run(run)
    return rounds[0]


def ratios() -> Iterator[Ratio]:
    with tempfile.TemporaryDirectory() as name, _pin_to_last_core(), run_apiserver() as apiserver:
        folder = Path(name)
        signed = apiserver.authority.issue_server_certificate("127.0.0.1")
        pem = folder / "server.pem"
        pem.write_bytes(signed.key + signed.certificate)
        context = ssl.create_default_context(cadata=apiserver.ca.decode())
        add_objects(
            apiserver,
            accounts=decision.WORKLOADS,
            namespaces=decision.WORKLOADS,
            owners=2 * decision.WORKLOADS,
            annotations={
                key: text
                for _, annotations, _ in decision.CASES.values()
                for key, text in annotations.items()
            },
        )
        with _run_reference(pem) as reference, run_webhook(apiserver, folder, pem) as webhook:
            cases = [
                (
                    f"{dialect}, {mix}",
                    *webhook,
                    generate_requests(f"/{dialect}{ALL[dialect].path}".encode(), mix),
                )
                for dialect in decision.CASES
                for mix in MIXES
            ]
            cases.append(("empty", *reference, generate_requests(b"/", "rollouts")))
            for _, port, pid, requests in cases:
                measure_round(port, pid, context, requests)
            rounds = [
                [measure_round(port, pid, context, requests) for _, port, pid, requests in cases]
                for _ in range(ROUNDS)
            ]
    figures: dict[str, Callable[[Round], float]] = {
        "a request": lambda each: each.seconds,
        "CPU time of a request": lambda each: each.cpu,
        "p99 of a request": lambda each: each.p99,
    }
    for title, figure in figures.items():
        # Other processes use this machine too, so the best round of each case counts.
        *webhook_figures, reference_figure = (
            min(figure(each[index]) for each in rounds) for index in range(len(cases))
        )
        for (case, *_), best in zip(cases, webhook_figures, strict=False):
            yield Ratio(f"webhook: {title}, {case}", "uvicorn's, empty", best, reference_figure)


@contextlib.contextmanager
def _pin_to_last_core() -> Generator[None]:
    """Pins this process to the last core. The servers run on the first one."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


@contextlib.contextmanager
def _run_reference(pem: Path) -> Generator[tuple[int, int]]:
    """Yields the port and the pid of the reference server."""
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
    serve_reference(Path(sys.argv[1]))
