"""What is counted of serving, and what of it is worth a line."""

from __future__ import annotations

import traceback

from cwii_webhook.server.connections import Connections, Stage
from cwii_webhook.server.http_format import REASONS
from cwii_webhook.telemetry.log import Log
from cwii_webhook.telemetry.metrics import Metrics, soonest


class HttpMetrics:
    def __init__(self, metrics: Metrics, log: Log) -> None:
        self._log = log
        self._codes = {status: str(status) for status in REASONS}
        self._answers = metrics.histogram(
            "cwii_http_request_duration_seconds",
            "How long answers took, from the last byte of a request.",
        )
        self._requests = metrics.counter(
            "cwii_http_requests_total",
            "Requests by the status of their answer.",
            code=tuple(self._codes.values()),
        )
        self._gone = metrics.counter(
            "cwii_http_gave_way_total",
            "Connections that gave way to others, by what they did.",
            stage=[stage.value for stage in Stage],
        )
        self._unfinished = metrics.counter(
            "cwii_http_unfinished_total", "Requests of which the rest did not come in time."
        )
        self._shaken = metrics.counter(
            "cwii_tls_handshakes_failed_total", "Connections that ended before they had spoken TLS."
        )
        self._connections = metrics.gauge(
            "cwii_http_connections",
            "Connections, by what they do.",
            stage=[stage.value for stage in Stage],
        )
        self._held = metrics.gauge("cwii_http_held_bytes", "Bytes of bodies that are held.")
        self._ends = metrics.gauge(
            "cwii_certificate_expiry_timestamp_seconds",
            "When the certificate that is served ends; 0 if there is none.",
            soonest,
        )
        self._stray = metrics.gauge(
            "cwii_certificate_ca_mismatch",
            "1 if the certificate that is served is not of the authority beside it.",
            max,
        )
        self._loads = metrics.counter(
            "cwii_certificate_loads_total", "How often a new certificate was taken up."
        )

    def answered(self, status: int, seconds: float) -> None:
        self._answers.observe(seconds)
        self._requests.add(self._codes.get(status, ""))

    def gave_way(self, stage: Stage) -> None:
        self._gone.add(stage.value)

    def unfinished(self) -> None:
        self._unfinished.add()

    def no_handshake(self) -> None:
        self._shaken.add()

    def broke(self, path: bytes, error: BaseException) -> None:
        where = "".join(traceback.format_tb(error.__traceback__, limit=-2))
        self._log.error(
            "a request could not be answered",
            path=path.decode(errors="replace"),
            error=f"{type(error).__name__}: {error}",
            at=where,
        )

    def certificate(self, ends: float, *, new: bool, stray: bool) -> None:
        self._ends.set(ends)
        self._stray.set(float(stray))
        if new:
            self._loads.add()

    def look(self, room: Connections) -> None:
        """Once a second: what is gauged need not be exact, and so costs requests nothing."""
        self._held.set(room.held)
        for stage in Stage:
            self._connections.set(room.count(stage), stage.value)
