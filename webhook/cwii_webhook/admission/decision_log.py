"""What is told of decisions: counted by dialect, by what was given, outcome and reason; and a line for each that changed something or said no,
or that changed nothing where somebody would want to know why.
"""

from __future__ import annotations

from typing import get_args

from msgspec import Struct

from cwii_webhook.admission.admit import Decision
from cwii_webhook.admission.injection import Reason
from cwii_webhook.admission.review import Request
from cwii_webhook.telemetry.log import Form, Log, Value, form
from cwii_webhook.telemetry.metrics import Metrics

OUTCOMES = ("injected", "nothing", "refused", "undecided", "unreadable")
GIVEN = ("aws", "az", "azure", "gcp", "")


Counts = tuple[tuple[str, str, str, str], ...]


class Lasting(Struct, frozen=True):
    """What is told of a decision, and can be told again of others like it."""

    counts: Counts
    form: Form


class DecisionLog:
    def __init__(self, metrics: Metrics, log: Log, dialects: tuple[str, ...]) -> None:
        self._log = log
        self._decisions = metrics.counter(
            "cwii_decisions_total",
            "Decisions on pods, for each thing that they could be given.",
            dialect=dialects,
            provider=GIVEN,
            outcome=OUTCOMES,
            reason=("", *get_args(Reason)),
        )
        self._repeated = metrics.counter(
            "cwii_repeated_decisions_total",
            "Decisions that were those on an earlier pod of the same workload.",
        )

    def log_decision(self, dialect: str, request: Request, decision: Decision) -> None:
        for labels in _counts(dialect, decision):
            self._decisions.add(*labels)
        level = _level(decision)
        if self._log.is_enabled(level):
            self._log.write(level, decision.outcome, _line(dialect, request, decision))

    def lasting(self, dialect: str, request: Request, decision: Decision) -> Lasting | None:
        """To be told of others like it."""
        told = form(
            _level(decision), decision.outcome, _line(dialect, request, decision), request.uid
        )
        return told and Lasting(_counts(dialect, decision), told)

    def again(self, told: Lasting, uid: bytes) -> None:
        self._repeated.add()
        for labels in told.counts:
            self._decisions.add(*labels)
        self._log.again(told.form, uid)

    def log_undecided(self, dialect: str, request: Request, why: str) -> None:
        self._decisions.add(dialect, "", "undecided", "")
        self._log.warning("undecided", why=why, **_pod(dialect, request))

    def count_invalid(self, dialect: str) -> None:
        self._decisions.add(dialect, "", "unreadable", "")


def _counts(dialect: str, decision: Decision) -> Counts:
    given = [(dialect, injection.provider, "injected", "") for injection in decision.injections]
    spared = [(dialect, nothing.provider, "nothing", nothing.reason) for nothing in decision.skips]
    return (
        *given,
        *spared,
        *([(dialect, "", "refused", "")] if decision.outcome == "refused" else ()),
    )


def _level(decision: Decision) -> str:
    return "debug" if decision.outcome == "nothing" and not decision.warnings else "info"


def _line(dialect: str, request: Request, decision: Decision) -> dict[str, Value]:
    pod = _pod(dialect, request)
    if decision.outcome == "injected":
        return {
            **decision.audit,
            "changes": sum([len(piece.ops) for piece in decision.pieces]),
            **pod,
        }
    if decision.outcome == "refused":
        return {"message": decision.message, **pod}
    return {
        "why": tuple([f"{nothing.provider}: {nothing.reason}" for nothing in decision.skips]),
        **pod,
    }


def _pod(dialect: str, request: Request) -> dict[str, Value]:
    meta = request.object.metadata if request.object else None
    name = (meta.name or meta.generate_name or "") if meta else ""
    return {
        "dialect": dialect,
        "namespace": request.namespace or "",
        "pod": name,
        "uid": request.uid,
        "dryRun": bool(request.dry_run),
    }
