"""Metrics by OTLP, for who collects them so: pushed by opentelemetry's own exporter, in a thread of its own. Imported only where it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource

from cwii_webhook.telemetry.metrics import Metrics

LEAVING = 2000  # milliseconds that the last numbers may take: who is told to end has little time


def push(endpoint: str, metrics: Metrics) -> Callable[[], None]:
    """Every minute, or as OTEL_METRIC_EXPORT_INTERVAL says, until what it gives is called."""
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=endpoint))
    provider = MeterProvider(
        [reader], resource=Resource.create({"service.name": "cwii-webhook"}), shutdown_on_exit=False
    )
    meter = provider.get_meter("cwii_webhook")
    for name, kind, meaning in metrics.names():
        observe = (
            meter.create_observable_gauge if kind == "gauge" else meter.create_observable_counter
        )
        observe(name, [_observer(metrics, name)], description=meaning)
    return lambda: provider.shutdown(timeout_millis=LEAVING)


def _observer(metrics: Metrics, name: str) -> Callable[[CallbackOptions], Iterable[Observation]]:
    return lambda _options: [Observation(value, labels) for labels, value in metrics.of(name)]
