"""Whether the clouds would believe the cluster's tokens; and with tokens at hand, whether they do. Nothing is written anywhere."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

from cwiictl.actions.exchange import Source, Tokens, exchanged
from cwiictl.actions.look import Look
from cwiictl.actions.order import Order
from cwiictl.actions.result import Result
from cwiictl.actions.stage import Stage, giving_back, staged
from cwiictl.actions.told import told
from cwiictl.engine.pace import Pace
from cwiictl.engine.resource import Report


def verify(order: Order, report: Report, source: Source | None = None) -> Result:
    stage = staged(order, Pace(order.width), report, writes=False)
    return giving_back(stage.sites, lambda: _verified(stage, report, source))


def _verified(stage: Stage, report: Report, source: Source | None) -> Result:
    result = Result(stage.callers, skipped=stage.skipped, judged=True)
    if stage.issuer is None:
        return result
    look = Look(stage, stage.issuer, report)
    hosted = look.host()
    with (
        source(stage, look.url) if source and hosted else nullcontext() as tokens
    ):  # bad input is found before anything is judged
        return judged(look, result, tokens, hosted=hosted)


def judged(look: Look, result: Result, tokens: Tokens | None = None, *, hosted: bool) -> Result:
    """With what was found beside what there is of a result."""
    if hosted:
        look.around()
        look.beyond()
    found = (*look.findings(), *(told(look) if hosted and not look.interrupted else ()))
    result = replace(result, findings=found).plus(
        (), look.failed.values(), interrupted=look.interrupted
    )
    if tokens is None or look.interrupted:
        return result
    proof = exchanged(look, tokens, {each.thing for each in found if each.severity == "failed"})
    return replace(result, findings=(*found, *proof.findings)).plus(
        (), proof.failed, interrupted=proof.interrupted
    )
