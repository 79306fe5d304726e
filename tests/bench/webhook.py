"""The whole webhook under TLS, deciding, against its own server that only echoes the uid, and that one against uvicorn with an empty handler.

Goals are from where compiled webhooks were measured beside uvicorn: the fastest of four answered 2,486 reviews of 7.3 kB in a second at a p99 of 9.3 ms,
and uvicorn, empty, 28,800 at 0.33 ms. Ten times as many are 1.16 of its time for each, and a tenth of that p99 is 2.8 of its.

Eight connections that are kept, one core for the server. What asks runs on the other core, and does nothing but ask: answers of one server have one
length, so they are counted and not parsed. The processor's time for each request is told too: it says the same on a machine that is busy.
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
import msgspec
from cwii_webhook import server
from cwii_webhook.connections import Connections, Limits
from cwii_webhook.door import Door, bind
from cwii_webhook.exchange import Asked, Reply
from cwii_webhook.log import Log
from cwii_webhook.metrics import Metrics
from cwii_webhook.tally import Tally
from cwii_webhook.tls import Certificates, Files, Terms
from msgspec import Struct
from ratio import Ratio
from served import fill, program, used
from uvicorn import Config, Server

from tests.webhook.apiserver.ground import an_apiserver

CONNECTIONS = 8
ROUNDS = 5
SECONDS = 1.0
ANSWER = b'{"kind":"AdmissionReview","response":{"uid":"0","allowed":true,"patch":"' + b"y" * 2000 + b'"}}'
HEAD = b"POST /mutate?timeout=10s HTTP/1.1\r\nHost: webhook\r\nUser-Agent: kube-apiserver-admission\r\nContent-Length: %d\r\nAccept: application/json, */*\r\n"
REST = b"Content-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n"
REVIEWS = 256  # that differ as pods of a workload do
SETTINGS = 6  # variables of each container: a review has 7.3 kB then
ROOT = Path(__file__).parents[2]


class Uid(Struct):
    uid: str


class Review(Struct):
    request: Uid


_read = msgspec.json.Decoder(Review).decode


# What is measured, as a process of its own.


def ours(pem: Path) -> None:
    async def serve() -> None:
        certificates = Certificates(Files(pem, pem), Terms())
        certificates.refresh()
        tally = Tally(Metrics(), Log(2))
        (sock,) = bind("127.0.0.1", 0)
        Door(sock, echo, Connections(Limits(), tally, time.monotonic), tally, certificates).open()
        print(sock.getsockname()[1], flush=True)
        await asyncio.Event().wait()

    server.run(serve)


def echo(asked: Asked) -> Reply:
    return Reply(
        200, b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"%s","allowed":true}}' % _read(asked.body).request.uid.encode()
    )


Message = dict[str, object]


async def empty(_scope: object, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(ANSWER))]})
    await send({"type": "http.response.body", "body": ANSWER})


def theirs(pem: Path) -> None:
    (sock,) = bind("127.0.0.1", 0)
    print(sock.getsockname()[1], flush=True)
    config = Config(empty, http="httptools", loop="uvloop", lifespan="off", ssl_certfile=pem, log_level="error", access_log=False, timeout_keep_alive=120)
    Server(config).run([sock])


# Who asks.


@dataclass(frozen=True)
class Round:
    each: float  # seconds
    p99: float
    processor: float  # seconds of the server's, for each


def workloads() -> Iterator[bytes]:
    """Of pods that come one after the other, those of several Deployments: no two have the same uid, time, or name of the volume with their token."""
    return itertools.cycle(map(_asked, _bodies()))


def strangers() -> Iterator[bytes]:
    """Of pods of which each is the only one of its kind."""
    label, number = b'"pod-template-hash":"6b7f9c9d4"', itertools.count()
    asked = [_asked(body).split(label) for body in _bodies()]
    return ((b'"pod-template-hash":"%09d"' % next(number)).join(parts) for parts in itertools.cycle(asked))


def _bodies() -> Iterator[bytes]:
    for number in range(REVIEWS):
        yield json.dumps(decision.review(number % decision.WORKLOADS, f"{number:05x}", SETTINGS), separators=(",", ":")).encode()


def _asked(body: bytes) -> bytes:
    return (HEAD + REST) % len(body) + body


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
            self.length = len(head) + 4 + int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
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
        made = [await loop.create_connection(lambda: Asker(times, asking), "127.0.0.1", port, ssl=context) for _ in range(CONNECTIONS)]
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
    with tempfile.TemporaryDirectory() as name, _apart(), an_apiserver() as apiserver:
        folder = Path(name)
        signed = apiserver.authority.server("127.0.0.1")
        pem = folder / "server.pem"
        pem.write_bytes(signed.key + signed.certificate)
        context = ssl.create_default_context(cadata=apiserver.ca.decode())
        fill(apiserver, accounts=10, spaces=10, owners=10)
        with _started("ours", pem) as echoing, _started("theirs", pem) as empty, program(apiserver, folder, pem) as deciding:
            servers = ((*deciding, workloads()), (*echoing, workloads()), (*empty, workloads()), (*deciding, strangers()))
            for port, pid, asking in servers:
                measured(port, pid, context, asking)
            rounds = [[measured(port, pid, context, asking) for port, pid, asking in servers] for _ in range(ROUNDS)]
    figures: dict[str, tuple[str, str, Callable[[Round], float]]] = {
        "a request": ("at most 1.43", "at most 1.16", lambda one: one.each),
        "the processor's time for a request": ("at most 1.43", "at most 1.16", lambda one: one.processor),
        "p99 of a request": ("", "at most 2.8", lambda one: one.p99),
    }
    for what, (against_echo, against_empty, figure) in figures.items():
        decides, echoes, nothing, anew = (min(figure(each[side]) for each in rounds) for side in range(4))  # others use this machine too: the best of each
        yield Ratio(f"webhook: {what}, decided", "echoed", decides, echoes, against_echo)
        yield Ratio(f"webhook: {what}, decided", "uvicorn's, empty", decides, nothing, against_empty)
        yield Ratio(f"webhook: {what}, of a pod unlike all before", "uvicorn's, empty", anew, nothing, "")
        yield Ratio(f"webhook: {what}, echoed", "uvicorn's, empty", echoes, nothing, "at most 0.83")


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
def _started(name: str, pem: Path) -> Generator[tuple[int, int]]:
    command = [sys.executable, __file__, name, str(pem)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}) as process:
        try:
            os.sched_setaffinity(process.pid, {0})
            assert process.stdout is not None
            yield int(process.stdout.readline()), process.pid
        finally:
            process.kill()


if __name__ == "__main__":
    {"ours": ours, "theirs": theirs}[sys.argv[1]](Path(sys.argv[2]))
