"""Tests the push of metrics to a minimal OTLP collector."""

from __future__ import annotations

import gzip
import queue
import socket
import threading
import time
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cwii_webhook.kube.resources import NAMESPACES, SERVICE_ACCOUNTS
from cwii_webhook.telemetry.metrics import Metrics
from cwii_webhook.telemetry.otlp import SHUTDOWN_TIMEOUT_MS, start_push
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from tests.webhook.apiserver.running import run_apiserver
from tests.webhook.webhook_process import EKS, POD, ROLE, run_webhook, tls_flags

Samples = dict[str, dict[frozenset[tuple[str, str]], float]]  # values by name and labels


class Collector(BaseHTTPRequestHandler):
    pushes: queue.SimpleQueue[Samples]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.pushes.put(read_samples(ExportMetricsServiceRequest.FromString(body)))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - the name in the base class


def read_samples(request: ExportMetricsServiceRequest) -> Samples:
    samples: Samples = {}
    for metric in (
        metric
        for resource in request.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    ):
        for point in (*metric.sum.data_points, *metric.gauge.data_points):
            labels = frozenset((each.key, each.value.string_value) for each in point.attributes)
            samples.setdefault(metric.name, {})[labels] = point.as_double or point.as_int
    return samples


@pytest.fixture
def collector() -> Generator[tuple[str, queue.SimpleQueue[Samples]]]:
    pushes: queue.SimpleQueue[Samples] = queue.SimpleQueue()
    with ThreadingHTTPServer(
        ("127.0.0.1", 0), type("CollectorWithQueue", (Collector,), {"pushes": pushes})
    ) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1/metrics", pushes
        server.shutdown()
        thread.join()


def test_decisions_are_pushed(
    collector: tuple[str, queue.SimpleQueue[Samples]], tmp_path: Path
) -> None:
    endpoint, pushes = collector
    with run_apiserver() as apiserver:
        apiserver.user.apply(NAMESPACES, "", "shop")
        apiserver.user.apply(
            SERVICE_ACCOUNTS, "shop", "billing", {"eks.amazonaws.com/role-arn": ROLE}
        )
        arguments = (*EKS, *tls_flags(tmp_path), "--otlp-endpoint", endpoint)
        with run_webhook(
            apiserver, tmp_path, *arguments, OTEL_METRIC_EXPORT_INTERVAL="200"
        ) as webhook:
            webhook.wait_until_ready()
            webhook.review("/mutate", POD)
            labels = frozenset(
                {("dialect", "eks"), ("provider", "aws"), ("outcome", "injected"), ("reason", "")}
            )
            samples: Samples = {}
            while samples.get("cwii_decisions_total", {}).get(labels) != 1:
                samples = pushes.get(timeout=60)

    assert samples["cwii_ready"] == {frozenset(): 1}
    assert samples["cwii_http_request_duration_seconds_count"][frozenset()] >= 1


def test_silent_collector_does_not_delay_the_shutdown() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        metrics = Metrics()
        metrics.counter("asked_total", "How often.").add()
        stop = start_push(f"http://127.0.0.1:{silent.getsockname()[1]}/v1/metrics", metrics)
        started = time.monotonic()
        stop()
    assert time.monotonic() - started < 2 * SHUTDOWN_TIMEOUT_MS / 1000
