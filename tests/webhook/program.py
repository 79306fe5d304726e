"""A whole webhook that decides nothing: both doors, and as many workers as are asked for. It says its ports when it listens."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable
from pathlib import Path

from cwii_webhook import health, server, workers
from cwii_webhook.connections import Connections, Limits
from cwii_webhook.door import Door, bind
from cwii_webhook.exchange import Asked, Reply
from cwii_webhook.log import Log
from cwii_webhook.metrics import Metrics
from cwii_webhook.server import Drain, Server
from cwii_webhook.tally import Tally
from cwii_webhook.tls import Certificates, Files, Terms


def handle(asked: Asked) -> Reply | Awaitable[Reply]:
    if asked.path == b"/slow":
        return slow()
    if asked.path == b"/die":
        os._exit(3)
    return Reply(200, b"%d" % os.getpid())


async def slow() -> Reply:
    await asyncio.sleep(0.5)
    return Reply(200, b"slow")


def main(folder: Path, count: int, delay: float) -> int:
    workers.heed()
    metrics = Metrics()
    log = Log(2)
    tally = Tally(metrics, log)
    readiness = health.Readiness(metrics, "certificate")
    certificates = Certificates(Files(folder / "server.crt", folder / "server.key"), Terms())
    admissions, plains = (
        bind("127.0.0.1", 0, processes=count),
        bind("127.0.0.1", 0, processes=count),
    )

    def work(number: int, leash: int | None) -> int:
        async def serve() -> None:
            admission = Door(
                admissions[number],
                handle,
                Connections(Limits(), tally, time.monotonic),
                tally,
                certificates,
            )
            plain = Door(
                plains[number],
                health.answers(readiness, metrics),
                Connections(Limits(body=0), Tally(Metrics(), log), time.monotonic),
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
