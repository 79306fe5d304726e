"""Counts decisions, and writes a log line for each that changes, refuses or warns."""

from __future__ import annotations

from typing import get_args

from cwii_webhook.admission.admit import Decision
from cwii_webhook.admission.decision_cache import ComparedRequest
from cwii_webhook.admission.injection import Reason
from cwii_webhook.admission.review import Request
from cwii_webhook.telemetry.log import Log, Value
from cwii_webhook.telemetry.metrics import Metrics

OUTCOMES = ("injected", "nothing", "refused", "undecided", "unreadable")
PROVIDERS = ("aws", "az", "azure", "gcp", "")


class DecisionLog:
    """Writes decisions to the metrics and to the log."""

    def __init__(self, metrics: Metrics, log: Log, dialects: tuple[str, ...]) -> None:
        self._log = log
        self._decisions = metrics.counter(
            "cwii_decisions_total",
            "Decisions on pods, for each thing that they could be given.",
            dialect=dialects,
            provider=PROVIDERS,
            outcome=OUTCOMES,
            reason=("", *get_args(Reason)),
        )

    def log_decision(
        self, dialect: str, request: Request | ComparedRequest, decision: Decision
    ) -> None:
        for injection in decision.injections:
            self._decisions.add(dialect, injection.provider, "injected", "")
        for skip in decision.skips:
            self._decisions.add(dialect, skip.provider, "nothing", skip.reason)
        if decision.outcome == "refused":
            self._decisions.add(dialect, "", "refused", "")
        level = "debug" if decision.outcome == "nothing" and not decision.warnings else "info"
        if self._log.is_enabled(level):
            fields = {**_fields(decision), **_pod_fields(dialect, request)}
            self._log.write(level, decision.outcome, fields)

    def log_undecided(self, dialect: str, request: Request, reason: str) -> None:
        self._decisions.add(dialect, "", "undecided", "")
        self._log.warning("undecided", why=reason, **_pod_fields(dialect, request))

    def count_invalid(self, dialect: str) -> None:
        """Counts a body that is no review. It is not logged: strangers could fill the log."""
        self._decisions.add(dialect, "", "unreadable", "")


def _fields(decision: Decision) -> dict[str, Value]:
    if decision.outcome == "injected":
        return {**decision.audit, "changes": len(decision.ops)}
    if decision.outcome == "refused":
        return {"message": decision.message}
    return {"why": tuple([f"{skip.provider}: {skip.reason}" for skip in decision.skips])}


def _pod_fields(dialect: str, request: Request | ComparedRequest) -> dict[str, Value]:
    meta = request.object.metadata if request.object else None
    name = (meta.name or meta.generate_name or "") if meta else ""
    return {
        "dialect": dialect,
        "namespace": request.namespace or "",
        "pod": name,
        "uid": request.uid,
        "dryRun": bool(request.dry_run),
    }
