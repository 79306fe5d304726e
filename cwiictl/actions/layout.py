"""Objects for one cluster or two, on their way there: foreseen, made step by step, and tidied of what an earlier run had."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

from cwiictl.actions.cluster import ORIGIN, Installation, mark
from cwiictl.actions.result import (
    DONE,
    FOUND,
    Caller,
    Result,
    doomed,
    failure,
    left_over,
    ran,
    removed,
)
from cwiictl.engine.holdings import Holdings, remove
from cwiictl.engine.pace import Pace
from cwiictl.engine.plain import checksum
from cwiictl.engine.resource import Plan, Report
from cwiictl.engine.run import Outcome, apply, foretold, preview
from cwiictl.errors import BadInput, Problem

Agreed = Callable[[Result], bool]
Step = tuple[
    Sequence[Any], Callable[[], tuple[str, ...]]
]  # what is to be written, and what to wait for then, which may leave something to be told


class Layout(Protocol):
    """All that is to be there, and how it comes there."""

    @property
    def order(self) -> Installation: ...
    @property
    def name(self) -> str: ...  # that all of it is found by
    @property
    def callers(self) -> tuple[Caller, ...]: ...
    @property
    def pace(self) -> Pace: ...
    @property
    def bodies(self) -> tuple[Any, ...]: ...
    @property
    def manifest(self) -> bytes: ...  # what may be shown of them

    def plan(self, bodies: Sequence[Any]) -> Plan: ...


def foreseen(layout: Layout, report: Report) -> Result:
    """What stands against it, and what would be done. Nothing is written."""
    outcome = preview(
        layout.plan(layout.bodies), mark(layout.name), layout.pace, layout.order.adopt, report
    )
    rows = (
        replace(row, want=None) for row in ran(outcome, layout.plan(layout.bodies), FOUND)
    )  # whole objects are for who asks for them as such
    result = Result(
        layout.callers, _checksum(layout), tuple(rows), manifest=layout.manifest, maker=ORIGIN
    )
    left = _left(layout, outcome.held)
    return result.plus(
        (*left_over(left),),
        [*outcome.failed.values(), *left.failed.values()],
        interrupted=outcome.interrupted,
    )


def carried_out(
    layout: Layout, steps: Callable[[], Iterable[Step]], what: str, report: Report, agreed: Agreed
) -> Result:
    """If nothing stands against it. `what` is the thing that is waited for."""
    seen, order = foreseen(layout, report), layout.order
    if seen.failures or seen.interrupted:
        return replace(seen, manifest=b"")  # for kubectl is only what somebody has asked to see
    if order.expect and order.expect != seen.checksum:
        raise BadInput(
            f"the plan is {seen.checksum}, and not {order.expect} that was expected",
            remedy="look at it again with --dry-run, and expect what it says",
        )
    told, hints = list[Outcome](), tuple[str, ...]()
    for bodies, then in steps():
        outcome = apply(layout.plan(bodies), mark(layout.name), layout.pace, order.adopt, report)
        told.append(outcome)
        if not outcome.whole:
            return _told(layout, told)
        try:
            hints = then()
        except Problem as e:
            return _told(layout, told).plus([failure(what, e)], [e])
    return _tidied(layout, replace(_told(layout, told), hints=hints), told[-1], report, agreed)


def _checksum(layout: Layout) -> str:
    who = {"callers": layout.callers, "name": layout.name}
    return checksum(
        {**who, "wants": foretold(layout.plan(layout.bodies)), "adopts": layout.order.adopt}
    )


def _left(layout: Layout, held: Holdings) -> Holdings:
    """What an earlier installation had, and this one does not ask for."""
    asked = layout.plan(layout.bodies).keys()
    return replace(
        held.only({thing.address for thing in held if thing.address not in asked}),
        failed=held.failed,
    )


def _told(layout: Layout, outcomes: Sequence[Outcome]) -> Result:
    """Of a thing that was written in two steps, the first tells what was done."""
    last = outcomes[-1]
    done = {
        change.address: change
        for outcome in reversed(outcomes)
        for change in outcome.changes
        if change.verb != "keep"
    }
    both = tuple(done.get(change.address, change) for change in last.changes)
    shown = replace(last, changes=both)
    plan = layout.plan(layout.bodies)
    rows = (
        ran(shown, Plan([plan[address] for address in plan if address in _reached(outcomes)]), DONE)
        if last.whole
        else ran(shown, plan, DONE)
    )
    return Result(layout.callers, _checksum(layout), tuple(rows), maker=ORIGIN).plus(
        (), last.failed.values(), interrupted=last.interrupted
    )


def _reached(outcomes: Sequence[Outcome]) -> Iterator[str]:
    return (change.address for outcome in outcomes for change in outcome.changes)


def _tidied(
    layout: Layout, result: Result, outcome: Outcome, report: Report, agreed: Agreed
) -> Result:
    left = _left(layout, outcome.held)
    if not (layout.order.prune and list(left)):
        return result.plus(left_over(left), left.failed.values(), interrupted=left.interrupted)
    if not agreed(Result(layout.callers, result.checksum, tuple(doomed(left)))):
        return result.plus(left_over(left))
    removal = remove(left, layout.pace, report)
    return result.plus(removed(removal), removal.failed.values(), interrupted=removal.interrupted)
