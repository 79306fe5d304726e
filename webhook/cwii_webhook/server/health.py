"""Liveness, readiness and metrics for the kubelet and Prometheus, on a plain HTTP port."""

from __future__ import annotations

from cwii_webhook.server.messages import TEXT, Handler, HttpRequest, HttpResponse, text_response
from cwii_webhook.telemetry.metrics import Metrics

PROMETHEUS_TEXT = b"text/plain; version=0.0.4; charset=utf-8"


def package_version() -> str:
    from importlib import metadata  # noqa: PLC0415 - slow to import, and few commands need it

    return metadata.version("cwii-webhook")


class BuildInfo:
    """The metric cwii_build_info. Each worker process publishes it."""

    def __init__(self, metrics: Metrics) -> None:
        self._version = package_version()
        self._gauge = metrics.gauge(
            "cwii_build_info",
            "Always 1: the version of what answers is its label.",
            max,
            version=(self._version,),
        )

    def publish(self) -> None:
        self._gauge.set(1.0, self._version)


class Readiness:
    """Named reasons why this process is not ready.

    The webhook is ready when no process that serves the port has a reason.
    """

    def __init__(self, metrics: Metrics, *initial: str) -> None:
        self._metrics = metrics
        self._gauge = metrics.gauge("cwii_ready", "1 if all processes are ready to decide.", min)
        self._reasons = dict.fromkeys(initial, "not yet there")

    def set_reason(self, name: str, reason: str) -> None:
        """Set the reason of this name. An empty reason removes it."""
        if reason:
            self._reasons[name] = reason
        else:
            self._reasons.pop(name, None)
        self._gauge.set(float(not self._reasons))

    def reasons(self) -> list[str]:
        local = [f"{name}: {reason}" for name, reason in self._reasons.items()]
        values = self._metrics.values_by_process(self._gauge)
        return local or [
            f"worker {number}: not ready" for number, value in enumerate(values) if not value
        ]


def make_handler(readiness: Readiness, metrics: Metrics) -> Handler:
    def handle(request: HttpRequest) -> HttpResponse:
        if request.method not in {b"GET", b"HEAD"}:
            return text_response(405, "only GET is answered here")
        match request.path:
            case b"/healthz":
                return text_response(200, "ok")
            case b"/readyz":
                reasons = readiness.reasons()
                return (
                    text_response(503, "\n".join(reasons)) if reasons else text_response(200, "ok")
                )
            case b"/metrics":
                return HttpResponse(200, metrics.exposition(), PROMETHEUS_TEXT)
            case _:
                return HttpResponse(404, b"there is /healthz, /readyz and /metrics\n", TEXT)

    return handle
