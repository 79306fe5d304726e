"""A complete server with a trivial handler, which prints its ports when it listens."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable
from pathlib import Path

from cwii_webhook.server import health, lifecycle, workers
from cwii_webhook.server.connections import Connections, Limits
from cwii_webhook.server.http_metrics import HttpMetrics
from cwii_webhook.server.lifecycle import DrainTimes, WebhookServer
from cwii_webhook.server.listener import Listener, bind
from cwii_webhook.server.messages import HttpRequest, HttpResponse
from cwii_webhook.server.tls import CertificateFiles, Certificates, TlsSettings
from cwii_webhook.telemetry.log import Log
from cwii_webhook.telemetry.metrics import Metrics


def handle(request: HttpRequest) -> HttpResponse | Awaitable[HttpResponse]:
    if request.path == b"/slow":
        return respond_slowly()
    if request.path == b"/die":
        os._exit(3)
    return HttpResponse(200, b"%d" % os.getpid())


async def respond_slowly() -> HttpResponse:
    await asyncio.sleep(0.5)
    return HttpResponse(200, b"slow")


def main(folder: Path, count: int, shutdown_delay: float) -> int:
    workers.install_signal_handlers()
    metrics = Metrics()
    log = Log(2)
    http_metrics = HttpMetrics(metrics, log)
    readiness = health.Readiness(metrics, "certificate")
    certificates = Certificates(
        CertificateFiles(folder / "server.crt", folder / "server.key"), TlsSettings()
    )
    admission_sockets, plain_sockets = (
        bind("127.0.0.1", 0, processes=count),
        bind("127.0.0.1", 0, processes=count),
    )

    def run_worker(number: int, parent_pipe: int | None) -> int:
        async def serve() -> None:
            admission = Listener(
                admission_sockets[number],
                handle,
                Connections(Limits(), http_metrics, time.monotonic),
                http_metrics,
                certificates,
            )
            plain = Listener(
                plain_sockets[number],
                health.make_handler(readiness, metrics),
                Connections(Limits(max_body_bytes=0), HttpMetrics(Metrics(), log), time.monotonic),
                http_metrics,
            )
            drain_times = DrainTimes(shutdown_delay, 0.2, 60.0)
            await WebhookServer(admission, (plain,), readiness, log, drain_times).run(parent_pipe)

        lifecycle.run(serve)
        return 0

    print(admission_sockets[0].getsockname()[1], plain_sockets[0].getsockname()[1], flush=True)
    try:
        return workers.run(count, run_worker, metrics, log)
    finally:
        for sock in (*admission_sockets, *plain_sockets):
            sock.close()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
