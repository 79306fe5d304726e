"""What a kubelet and Prometheus ask, on a plain port: alive, ready, and the numbers."""

from __future__ import annotations

from cwii_webhook.server.messages import TEXT, Handler, HttpRequest, HttpResponse, text_response
from cwii_webhook.telemetry.metrics import Metrics

EXPOSITION = b"text/plain; version=0.0.4; charset=utf-8"


def version() -> str:
    from importlib import metadata  # noqa: PLC0415 - weighs much for who asks something else

    return metadata.version("cwii-webhook")


class Build:
    """Told by each process that serves, of itself."""

    def __init__(self, metrics: Metrics) -> None:
        self._version = version()
        self._info = metrics.gauge(
            "cwii_build_info",
            "Always 1: the version of what answers is its label.",
            max,
            version=(self._version,),
        )

    def tell(self) -> None:
        self._info.set(1.0, self._version)


class Readiness:
    """Named reasons why this process cannot answer rightly. Ready is having none, in every process that serves the port."""

    def __init__(self, metrics: Metrics, *waiting_for: str) -> None:
        self._metrics = metrics
        self._ready = metrics.gauge("cwii_ready", "1 if all processes are ready to decide.", min)
        self._reasons = dict.fromkeys(waiting_for, "not yet there")

    def say(self, name: str, reason: str) -> None:
        """No reason is good news."""
        if reason:
            self._reasons[name] = reason
        else:
            self._reasons.pop(name, None)
        self._ready.set(float(not self._reasons))

    def reasons(self) -> list[str]:
        own = [f"{name}: {reason}" for name, reason in self._reasons.items()]
        values = self._metrics.values(self._ready)
        return own or [
            f"worker {number}: not ready" for number, value in enumerate(values) if not value
        ]


def answers(readiness: Readiness, metrics: Metrics) -> Handler:
    def handle(asked: HttpRequest) -> HttpResponse:
        if asked.method not in {b"GET", b"HEAD"}:
            return text_response(405, "only GET is answered here")
        match asked.path:
            case b"/healthz":
                return text_response(200, "ok")
            case b"/readyz":
                reasons = readiness.reasons()
                return (
                    text_response(503, "\n".join(reasons)) if reasons else text_response(200, "ok")
                )
            case b"/metrics":
                return HttpResponse(200, metrics.exposition(), EXPOSITION)
            case _:
                return HttpResponse(404, b"there is /healthz, /readyz and /metrics\n", TEXT)

    return handle
