"""Counts and logs the events of the HTTP server."""

from __future__ import annotations

import traceback

from cwii_webhook.server.connections import Connections, Stage
from cwii_webhook.server.http_format import REASON_PHRASES
from cwii_webhook.telemetry.log import Log
from cwii_webhook.telemetry.metrics import Metrics, earliest


class HttpMetrics:
    """Metrics of listeners, connections, responses and the served certificate."""

    def __init__(self, metrics: Metrics, log: Log) -> None:
        self._log = log
        self._status_labels = {status: str(status) for status in REASON_PHRASES}
        self._durations = metrics.histogram(
            "cwii_http_request_duration_seconds",
            "How long answers took, from the last byte of a request.",
        )
        self._requests = metrics.counter(
            "cwii_http_requests_total",
            "Requests by the status of their answer.",
            code=tuple(self._status_labels.values()),
        )
        self._evictions = metrics.counter(
            "cwii_http_gave_way_total",
            "Connections that gave way to others, by what they did.",
            stage=[stage.value for stage in Stage],
        )
        self._incomplete_requests = metrics.counter(
            "cwii_http_unfinished_total", "Requests of which the rest did not come in time."
        )
        self._failed_handshakes = metrics.counter(
            "cwii_tls_handshakes_failed_total", "Connections that ended before they had spoken TLS."
        )
        self._connections = metrics.gauge(
            "cwii_http_connections",
            "Connections, by what they do.",
            stage=[stage.value for stage in Stage],
        )
        self._buffered_bytes = metrics.gauge(
            "cwii_http_held_bytes", "Bytes of bodies that are held."
        )
        self._expires_at = metrics.gauge(
            "cwii_certificate_expiry_timestamp_seconds",
            "When the certificate that is served ends; 0 if there is none.",
            earliest,
        )
        self._ca_mismatch = metrics.gauge(
            "cwii_certificate_ca_mismatch",
            "1 if the certificate that is served is not of the authority beside it.",
            max,
        )
        self._loads = metrics.counter(
            "cwii_certificate_loads_total", "How often a new certificate was taken up."
        )

    def observe_response(self, status: int, seconds: float) -> None:
        self._durations.observe(seconds)
        self._requests.add(self._status_labels.get(status, ""))

    def count_eviction(self, stage: Stage) -> None:
        self._evictions.add(stage.value)

    def count_incomplete_request(self) -> None:
        self._incomplete_requests.add()

    def count_failed_handshake(self) -> None:
        self._failed_handshakes.add()

    def log_handler_error(self, path: bytes, error: BaseException) -> None:
        where = "".join(traceback.format_tb(error.__traceback__, limit=-2))
        self._log.error(
            "a request could not be answered",
            path=path.decode(errors="replace"),
            error=f"{type(error).__name__}: {error}",
            at=where,
        )

    def record_certificate(self, expires_at: float, *, is_new: bool, has_ca_mismatch: bool) -> None:
        self._expires_at.set(expires_at)
        self._ca_mismatch.set(float(has_ca_mismatch))
        if is_new:
            self._loads.add()

    def set_connection_gauges(self, connections: Connections) -> None:
        """Set the gauges of connections.

        The server calls this once per second. These gauges need not be exact, so requests do not
        pay for them.
        """
        self._buffered_bytes.set(connections.buffered_bytes)
        for stage in Stage:
            self._connections.set(connections.count(stage), stage.value)
