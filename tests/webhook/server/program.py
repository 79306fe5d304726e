"""A whole webhook that decides nothing: both doors, and as many workers as are asked for. It says its ports when it listens."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable
from pathlib import Path

from cwii_webhook.server import health, workers
from cwii_webhook.server import lifecycle as server
from cwii_webhook.server.connections import Connections, Limits
from cwii_webhook.server.http_metrics import HttpMetrics
from cwii_webhook.server.lifecycle import Drain, Server
from cwii_webhook.server.listener import Listener, bind
from cwii_webhook.server.messages import HttpRequest, HttpResponse
from cwii_webhook.server.tls import Certificates, Files, Terms
from cwii_webhook.telemetry.log import Log
from cwii_webhook.telemetry.metrics import Metrics


def handle(asked: HttpRequest) -> HttpResponse | Awaitable[HttpResponse]:
    if asked.path == b"/slow":
        return slow()
    if asked.path == b"/die":
        os._exit(3)
    return HttpResponse(200, b"%d" % os.getpid())


async def slow() -> HttpResponse:
    await asyncio.sleep(0.5)
    return HttpResponse(200, b"slow")


def main(folder: Path, count: int, delay: float) -> int:
    workers.heed()
    metrics = Metrics()
    log = Log(2)
    tally = HttpMetrics(metrics, log)
    readiness = health.Readiness(metrics, "certificate")
    certificates = Certificates(Files(folder / "server.crt", folder / "server.key"), Terms())
    admissions, plains = (
        bind("127.0.0.1", 0, processes=count),
        bind("127.0.0.1", 0, processes=count),
    )

    def work(number: int, leash: int | None) -> int:
        async def serve() -> None:
            admission = Listener(
                admissions[number],
                handle,
                Connections(Limits(), tally, time.monotonic),
                tally,
                certificates,
            )
            plain = Listener(
                plains[number],
                health.answers(readiness, metrics),
                Connections(Limits(body=0), HttpMetrics(Metrics(), log), time.monotonic),
                tally,
            )
            await Server(admission, (plain,), readiness, log, Drain(delay, 0.2, 60.0)).run(leash)

        server.run(serve)
        return 0

    print(admissions[0].getsockname()[1], plains[0].getsockname()[1], flush=True)
    try:
        return workers.run(count, work, metrics, log)
    finally:
        for sock in (*admissions, *plains):
            sock.close()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
