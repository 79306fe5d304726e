"""Counts decisions, and writes a log line for each that changes, refuses or warns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, get_args

from msgspec import Struct

from cwii_webhook.admission.admit import Decision
from cwii_webhook.admission.injection import Reason
from cwii_webhook.telemetry.log import Log, Value
from cwii_webhook.telemetry.metrics import Metrics

OUTCOMES = ("injected", "nothing", "refused", "undecided", "unreadable")
PROVIDERS = ("aws", "az", "azure", "gcp", "")


class NamedObject(Protocol):
    @property
    def name(self) -> str | None: ...
    @property
    def generate_name(self) -> str | None: ...


class LoggedPod(Protocol):
    @property
    def metadata(self) -> NamedObject: ...


class LoggedRequest(Protocol):
    """The fields of a request that a log line shows."""

    @property
    def uid(self) -> str: ...
    @property
    def namespace(self) -> str | None: ...
    @property
    def dry_run(self) -> bool | None: ...
    @property
    def object(self) -> LoggedPod | None: ...


class DecisionSummary(Struct, frozen=True):
    """What the metrics and the log show of a decision, without the pod."""

    dialect: str
    outcome: str
    level: str
    counters: tuple[tuple[str, str, str, str], ...]  # labels of cwii_decisions_total
    fields: Mapping[str, Value]


def summarize(dialect: str, decision: Decision) -> DecisionSummary:
    counters = [(dialect, i.provider, "injected", "") for i in decision.injections]
    counters += [(dialect, skip.provider, "nothing", skip.reason) for skip in decision.skips]
    if decision.outcome == "refused":
        counters.append((dialect, "", "refused", ""))
    level = "debug" if decision.outcome == "nothing" and not decision.warnings else "info"
    return DecisionSummary(dialect, decision.outcome, level, tuple(counters), _fields(decision))


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

    def log_decision(self, request: LoggedRequest, summary: DecisionSummary) -> None:
        for labels in summary.counters:
            self._decisions.add(*labels)
        if self._log.is_enabled(summary.level):
            fields = {**summary.fields, **_pod_fields(summary.dialect, request)}
            self._log.write(summary.level, summary.outcome, fields)

    def log_undecided(self, dialect: str, request: LoggedRequest, reason: str) -> None:
        self._decisions.add(dialect, "", "undecided", "")
        self._log.warning("undecided", why=reason, **_pod_fields(dialect, request))

    def count_invalid(self, dialect: str) -> None:
        """Counts a body that is no review. It is not logged: strangers could fill the log."""
        self._decisions.add(dialect, "", "unreadable", "")


def _fields(decision: Decision) -> Mapping[str, Value]:
    if decision.outcome == "injected":
        return {**decision.audit, "changes": len(decision.ops)}
    if decision.outcome == "refused":
        return {"message": decision.message}
    return {"why": tuple([f"{skip.provider}: {skip.reason}" for skip in decision.skips])}


def _pod_fields(dialect: str, request: LoggedRequest) -> dict[str, Value]:
    meta = request.object.metadata if request.object else None
    name = (meta.name or meta.generate_name or "") if meta else ""
    return {
        "dialect": dialect,
        "namespace": request.namespace or "",
        "pod": name,
        "uid": request.uid,
        "dryRun": bool(request.dry_run),
    }
