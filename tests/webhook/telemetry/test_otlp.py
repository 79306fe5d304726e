"""Metrics that are pushed: to a collector of a few lines, which reads them as OTLP says that they are written."""

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
from cwii_webhook.telemetry.otlp import LEAVING, push
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from tests.webhook.apiserver.running import an_apiserver
from tests.webhook.webhook_process import EKS, POD, ROLE, run_webhook, tls_flags

Told = dict[str, dict[frozenset[tuple[str, str]], float]]  # by name and labels


class Collector(BaseHTTPRequestHandler):
    told: queue.SimpleQueue[Told]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.told.put(read(ExportMetricsServiceRequest.FromString(body)))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - its own word


def read(asked: ExportMetricsServiceRequest) -> Told:
    found: Told = {}
    for metric in (
        metric
        for resource in asked.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    ):
        for point in (*metric.sum.data_points, *metric.gauge.data_points):
            labels = frozenset((each.key, each.value.string_value) for each in point.attributes)
            found.setdefault(metric.name, {})[labels] = point.as_double or point.as_int
    return found


@pytest.fixture
def collector() -> Generator[tuple[str, queue.SimpleQueue[Told]]]:
    told: queue.SimpleQueue[Told] = queue.SimpleQueue()
    with ThreadingHTTPServer(
        ("127.0.0.1", 0), type("Heard", (Collector,), {"told": told})
    ) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1/metrics", told
        server.shutdown()
        thread.join()


def test_what_was_decided_is_pushed(
    collector: tuple[str, queue.SimpleQueue[Told]], tmp_path: Path
) -> None:
    endpoint, told = collector
    with an_apiserver() as apiserver:
        apiserver.hands.put(NAMESPACES, "", "shop")
        apiserver.hands.put(
            SERVICE_ACCOUNTS, "shop", "billing", {"eks.amazonaws.com/role-arn": ROLE}
        )
        words = (*EKS, *tls_flags(tmp_path), "--otlp-endpoint", endpoint)
        with run_webhook(apiserver, tmp_path, *words, OTEL_METRIC_EXPORT_INTERVAL="200") as webhook:
            webhook.wait_until_ready()
            webhook.review("/mutate", POD)
            decided = frozenset(
                {("dialect", "eks"), ("provider", "aws"), ("outcome", "injected"), ("reason", "")}
            )
            while (heard := told.get(timeout=60)).get("cwii_decisions_total", {}).get(decided) != 1:
                pass

    assert heard["cwii_ready"] == {frozenset(): 1}
    assert heard["cwii_http_request_duration_seconds_count"][frozenset()] >= 1


def test_a_collector_that_does_not_answer_keeps_nobody_from_ending() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        metrics = Metrics()
        metrics.counter("asked_total", "How often.").add()
        ended = push(f"http://127.0.0.1:{silent.getsockname()[1]}/v1/metrics", metrics)
        began = time.monotonic()
        ended()
    assert time.monotonic() - began < 2 * LEAVING / 1000
