"""Take down all that bears the cluster's mark. Needs neither key nor requests: the marks say what is ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cwiictl.actions.order import Order
from cwiictl.actions.result import Result, doomed, removed
from cwiictl.actions.stage import connected
from cwiictl.engine.holdings import holdings, remove
from cwiictl.engine.pace import Pace
from cwiictl.engine.resource import Report


def delete(order: Order, report: Report, agreed: Callable[[Result], bool] | None) -> Result:
    """`agreed` is shown what would go, and asked; without it this is a dry run. What could not be read is left, and is a failure."""
    pace = Pace(order.width)
    sites = connected(order, pace, report)
    found = holdings([site.walk for site in sites], order.cluster.name, pace, report)
    result = Result(tuple(site.caller for site in sites), interrupted=found.interrupted)
    shown = result.plus(doomed(found), found.failed.values())
    if agreed is None:
        return replace(shown, planned=True)
    if found.interrupted or not list(found) or not agreed(shown):
        return shown
    removal = remove(found, pace, report)
    return result.plus(removed(removal), removal.failed.values(), interrupted=removal.interrupted)
