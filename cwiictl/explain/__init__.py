"""What a pod would be given, and why: the webhook's own deciding, on objects that are at hand instead of a cluster's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from cwii_webhook.admission.admit import Decision, Route
from cwii_webhook.admission.cluster_view import ClusterView
from cwii_webhook.admission.dry_run import dry_run
from cwii_webhook.admission.injection import Injection
from cwii_webhook.admission.review import InvalidReview

from cwiictl.errors import BadInput
from cwiictl.explain.objects import Pod


@dataclass(frozen=True)
class Value:
    """One thing that the pod is given, and whose word it is: an annotation's, or with neither a setting's of the webhook."""

    gives: str
    what: str
    value: str
    key: str = ""
    whose: str = ""


@dataclass(frozen=True)
class Absence:
    """Something that the pod is not given, and why."""

    gives: str
    reason: str
    text: str


class Unasked(Enum):
    """Why API servers do not ask about a pod."""

    NOT_CONFIGURED = (
        "the webhook has no MutatingWebhookConfiguration; run cwiictl install-webhook again"
    )
    NOT_SELECTED = (
        "its labels, or those of its namespace, are none that the webhook's configuration selects"
    )


@dataclass(frozen=True)
class Explanation:
    pod: str
    dialect: str
    outcome: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    values: tuple[Value, ...] = ()
    absences: tuple[Absence, ...] = ()
    warnings: tuple[str, ...] = ()
    odd: tuple[str, ...] = ()  # of these, what nobody hears
    refusal: str = ""

    @property
    def unheard(self) -> tuple[str, ...]:
        """Where nothing is given: what was asked for without all that it takes, or in words that are none."""
        reasons = {each.reason for each in self.absences}
        halves = tuple(each.text for each in self.absences if each.reason == "incomplete")
        return halves + (() if "switched-off" in reasons else self.odd)


def explained(pod: Pod, route: Route, picture: ClusterView) -> Explanation:
    """Decides for the pod as the webhook would in a cluster."""
    try:
        result = dry_run(route, pod.body, pod.namespace, picture)
    except InvalidReview as e:
        raise BadInput(
            f"{pod} is none that Kubernetes would take: {e}", remedy="give it as kubectl shows it"
        ) from e
    decision = result.decision
    return Explanation(
        pod=str(pod),
        dialect=route.dialect,
        outcome=decision.outcome,
        before=pod.body,
        after=result.pod,
        values=tuple(value for injection in decision.injections for value in _values(injection)),
        absences=_absences(decision),
        warnings=decision.warnings,
        odd=decision.typo_hints,
        refusal=decision.message,
    )


def passed_over(pod: Pod, dialect: str, why: Unasked) -> Explanation:
    """By the API server, which does not ask about it."""
    absence = Absence(
        dialect, why.name.lower().replace("_", "-"), f"API servers do not ask about it: {why.value}"
    )
    return Explanation(str(pod), dialect, "nothing", pod.body, pod.body, absences=(absence,))


def _values(injection: Injection) -> Sequence[Value]:
    return [
        Value(injection.provider, o.name, o.value, o.key, str(o.source.ref) if o.source else "")
        for o in injection.origins
    ]


def _absences(decision: Decision) -> tuple[Absence, ...]:
    return tuple(
        Absence(nothing.provider, nothing.reason, nothing.detail) for nothing in decision.skips
    )
