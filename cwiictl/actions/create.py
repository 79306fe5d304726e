"""create-all and its parts; and the same without the last step, which is a dry run or `status`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from cwiictl import files
from cwiictl.actions.order import WHOLE, Order
from cwiictl.actions.result import DONE, FOUND, Result, held, ran, removed
from cwiictl.actions.stage import Stage, staged
from cwiictl.engine.holdings import Holdings, holdings, remove
from cwiictl.engine.pace import Pace
from cwiictl.engine.resource import Report
from cwiictl.engine.run import Outcome, apply, preview
from cwiictl.errors import BadInput
from cwiictl.installers import INSTALLERS

Ask = Callable[[Result], bool]


def create(order: Order, report: Report, agreed: Ask) -> Result:
    """Make it so, and write what the installer needs. `agreed` is asked before what is left over is dropped."""
    stage = staged(order, Pace(order.width), report, writes=True)
    checksum = stage.checksum
    if order.expect and order.expect != checksum:
        raise BadInput(f"the plan is {checksum}, and not {order.expect} that was expected", remedy="look at it again with --dry-run, and expect what it says")
    outcome = apply(stage.plan, stage.mark, stage.pace, order.adopt, report)
    result = Result(stage.callers, checksum, tuple(ran(outcome, stage.plan, DONE)), stage.skipped)
    result = replace(result, files=_written(stage, outcome), failures=tuple(outcome.failed.values()), interrupted=outcome.interrupted)
    return _tidied(stage, result, report, agreed) if outcome.whole and order.parts == WHOLE else result


def planned(order: Order, report: Report) -> Result:
    """What `create` would do. Nothing is written anywhere."""
    return replace(_previewed(order, report, writes=True), planned=True)


def status(order: Order, report: Report) -> Result:
    """Whether all is as wanted."""
    return replace(_previewed(order, report, writes=False), judged=True)


def _previewed(order: Order, report: Report, *, writes: bool) -> Result:
    stage = staged(order, Pace(order.width), report, writes=writes)
    outcome = preview(stage.plan, stage.mark, stage.pace, order.adopt, report)
    result = Result(stage.callers, stage.checksum, tuple(ran(outcome, stage.plan, FOUND)), stage.skipped)
    result = result.plus((), outcome.failed.values(), interrupted=outcome.interrupted)
    if writes:
        result = replace(result, files=_paths(stage, _tree(stage, outcome)))
    if order.parts != WHOLE or outcome.interrupted:
        return result
    left = _left_over(stage, report)
    return result.plus(held(left, "left over"), left.failed.values(), interrupted=left.interrupted)


def _left_over(stage: Stage, report: Report) -> Holdings:
    """Ours, and not asked for by this run. What another command made is that command's."""
    found = holdings([site.walk for site in stage.sites], stage.order.cluster.name, stage.pace, report)
    left = {thing.address for thing in found if thing.mark.origin == stage.mark.origin and thing.address not in stage.plan}
    return replace(found.only(left), failed=found.failed, interrupted=found.interrupted)


def _tidied(stage: Stage, result: Result, report: Report, agreed: Ask) -> Result:
    left = _left_over(stage, report)
    shown = result.plus(held(left, "left over"), left.failed.values(), interrupted=left.interrupted)
    if not stage.order.prune or not list(left) or shown.failures or not agreed(shown):
        return shown
    removal = remove(left, stage.pace, report)
    return result.plus(removed(removal), removal.failed.values(), interrupted=removal.interrupted)


def _written(stage: Stage, outcome: Outcome) -> tuple[str, ...]:
    """Of what succeeded: an identity that is there can be used, whatever became of the others."""
    tree = _tree(stage, outcome)
    files.write(stage.order.output, tree)
    return _paths(stage, tree)


def _tree(stage: Stage, outcome: Outcome) -> dict[str, bytes]:
    issuer = stage.issuer.name if stage.issuer and stage.issuer in outcome.known else ""
    return INSTALLERS[stage.order.installer].render(issuer, stage.bindings(outcome.known), files.template)


def _paths(stage: Stage, tree: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(str(stage.order.output / path) for path in tree))
