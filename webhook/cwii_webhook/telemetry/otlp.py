"""Pushes the metrics over OTLP. Imported only if the optional exporter is configured."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource

from cwii_webhook.telemetry.metrics import Metrics

# Milliseconds for the last push. After a termination signal, little time is left.
SHUTDOWN_TIMEOUT_MS = 2000


def start_push(endpoint: str, metrics: Metrics) -> Callable[[], None]:
    """Push every minute, or at OTEL_METRIC_EXPORT_INTERVAL. Return a function that stops it.

    The exporter of opentelemetry pushes in its own thread.
    """
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=endpoint))
    provider = MeterProvider(
        [reader], resource=Resource.create({"service.name": "cwii-webhook"}), shutdown_on_exit=False
    )
    meter = provider.get_meter("cwii_webhook")
    for name, kind, description in metrics.series():
        create_instrument = (
            meter.create_observable_gauge if kind == "gauge" else meter.create_observable_counter
        )
        create_instrument(name, [_observer(metrics, name)], description=description)
    return lambda: provider.shutdown(timeout_millis=SHUTDOWN_TIMEOUT_MS)


def _observer(metrics: Metrics, name: str) -> Callable[[CallbackOptions], Iterable[Observation]]:
    return lambda _options: [Observation(value, labels) for labels, value in metrics.samples(name)]
