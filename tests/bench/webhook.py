"""The webhook's server under TLS against uvicorn, both with a handler that decides nothing: eight connections that are kept, one core for the server.

What asks runs on the other core, and does nothing but ask: answers of one server have one length, so they are counted and not parsed. The processor's
time for each request is told too: it says the same on a machine that is busy.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from cwii_webhook import server
from cwii_webhook.connections import Connections, Limits
from cwii_webhook.door import Door, bind
from cwii_webhook.exchange import Reply
from cwii_webhook.log import Log
from cwii_webhook.metrics import Metrics
from cwii_webhook.tally import Tally
from cwii_webhook.tls import Certificates, Files, Terms
from ratio import Ratio
from uvicorn import Config, Server

from cwiictl.sandbox.ca import Authority

CONNECTIONS = 8
ROUNDS = 5
SECONDS = 1.0
BODY = b'{"kind":"AdmissionReview","request":{"uid":"0"},"more":"' + b"x" * 7200 + b'"}'
ANSWER = b'{"kind":"AdmissionReview","response":{"uid":"0","allowed":true,"patch":"' + b"y" * 2000 + b'"}}'
HEAD = b"POST /mutate?timeout=10s HTTP/1.1\r\nHost: webhook\r\nUser-Agent: kube-apiserver-admission\r\nContent-Length: %d\r\nAccept: application/json, */*\r\n"
ASKED = (HEAD + b"Content-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n") % len(BODY) + BODY


# What is measured, as a process of its own.


def ours(pem: Path) -> None:
    async def serve() -> None:
        certificates = Certificates(Files(pem, pem), Terms())
        certificates.refresh()
        tally = Tally(Metrics(), Log(2))
        (sock,) = bind("127.0.0.1", 0)
        Door(sock, lambda _: Reply(200, ANSWER), Connections(Limits(), tally, time.monotonic), tally, certificates).open()
        print(sock.getsockname()[1], flush=True)
        await asyncio.Event().wait()

    server.run(serve)


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


class Asker(asyncio.Protocol):
    def __init__(self, times: list[float]) -> None:
        self.times = times
        self.length = self.come = 0
        self.over = False
        self.ended = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.write = cast("asyncio.WriteTransport", transport).write
        self.ask()

    def ask(self) -> None:
        self.since = time.perf_counter()
        self.write(ASKED)

    def data_received(self, data: bytes) -> None:
        if not self.length:
            self.length = data.index(b"\r\n\r\n") + 4 + len(ANSWER)
        self.come += len(data)
        if self.come == self.length:
            self.come = 0
            self.times.append(time.perf_counter() - self.since)
            self.ended.set_result(None) if self.over else self.ask()


def measured(port: int, pid: int, context: ssl.SSLContext) -> Round:
    rounds: list[Round] = []

    async def story() -> None:
        times: list[float] = []
        loop = asyncio.get_running_loop()
        made = [await loop.create_connection(lambda: Asker(times), "127.0.0.1", port, ssl=context) for _ in range(CONNECTIONS)]
        await asyncio.sleep(0.2)
        times.clear()
        start, used = time.perf_counter(), _used(pid)
        await asyncio.sleep(SECONDS)
        count, took, spent = len(times), time.perf_counter() - start, _used(pid) - used
        rounds.append(Round(took / count, sorted(times[:count])[count * 99 // 100], spent / count))
        for transport, asker in made:
            asker.over = True
            await asker.ended
            transport.close()
        await asyncio.sleep(0.05)

    server.run(story)
    return rounds[0]


def ratios() -> Iterator[Ratio]:

    authority = Authority()
    context = ssl.create_default_context(cadata=authority.pem.decode())
    with tempfile.TemporaryDirectory() as folder, _apart():
        pem = Path(folder) / "server.pem"
        pem.write_bytes(authority._chain("127.0.0.1"))  # pyright: ignore[reportPrivateUsage]
        with _started("ours", pem) as (port, pid), _started("theirs", pem) as (other, other_pid):
            measured(port, pid, context)
            measured(other, other_pid, context)
            pairs = [(measured(port, pid, context), measured(other, other_pid, context)) for _ in range(ROUNDS)]
    figures: dict[str, tuple[str, Callable[[Round], float]]] = {
        "a request": ("at most 0.83", lambda one: one.each),
        "the processor's time for a request": ("at most 0.83", lambda one: one.processor),
        "p99 of a request": ("at most 1", lambda one: one.p99),
    }
    for what, (goal, figure) in figures.items():
        mine, other_s = (statistics.median(figure(pair[side]) for pair in pairs) for side in (0, 1))
        yield Ratio(f"webhook: {what}", "uvicorn's", mine, other_s, goal)


def _used(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            os.sched_setaffinity(process.pid, {0})
            assert process.stdout is not None
            yield int(process.stdout.readline()), process.pid
        finally:
            process.kill()


if __name__ == "__main__":
    {"ours": ours, "theirs": theirs}[sys.argv[1]](Path(sys.argv[2]))
