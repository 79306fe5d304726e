"""What is told of decisions: counted by dialect, by what was given, outcome and reason; and a line for each that changed something or said no,
or that changed nothing where somebody would want to know why.
"""

from __future__ import annotations

from typing import get_args

from cwii_webhook.admit import Decision
from cwii_webhook.injection import Reason
from cwii_webhook.log import Log, Value
from cwii_webhook.metrics import Metrics
from cwii_webhook.review import Request

OUTCOMES = ("injected", "nothing", "refused", "undecided", "unreadable")
GIVEN = ("aws", "az", "azure", "gcp", "")


class Diary:
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

    def decided(self, dialect: str, request: Request, decision: Decision) -> None:
        count = self._decisions.add
        for injection in decision.injections:
            count(dialect, injection.gives, "injected", "")
        for nothing in decision.nothing:
            count(dialect, nothing.gives, "nothing", nothing.reason)
        if decision.outcome == "injected":
            changes = sum([len(piece.ops) for piece in decision.pieces])
            self._log.say("info", "injected", {**decision.audit, "changes": changes, **_pod(dialect, request)})
        elif decision.outcome == "refused":
            count(dialect, "", "refused", "")
            self._log.info("refused", message=decision.message, **_pod(dialect, request))
        elif self._log.says(level := "info" if decision.warnings else "debug"):
            self._log.say(level, "nothing", {"why": tuple(f"{n.gives}: {n.reason}" for n in decision.nothing), **_pod(dialect, request)})

    def undecided(self, dialect: str, request: Request, why: str) -> None:
        self._decisions.add(dialect, "", "undecided", "")
        self._log.warning("undecided", why=why, **_pod(dialect, request))

    def unreadable(self, dialect: str) -> None:
        self._decisions.add(dialect, "", "unreadable", "")


def _pod(dialect: str, request: Request) -> dict[str, Value]:
    meta = request.object.metadata if request.object else None
    name = (meta.name or meta.generate_name or "") if meta else ""
    return {"dialect": dialect, "namespace": request.namespace or "", "pod": name, "uid": request.uid, "dryRun": bool(request.dry_run)}
