"""Take down all that bears the cluster's mark. Needs neither key nor requests: the marks say what is ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cwiictl.actions.order import Order
from cwiictl.actions.result import Result, doomed, kept, removed
from cwiictl.actions.stage import Site, connected, giving_back
from cwiictl.engine.holdings import holdings, remove
from cwiictl.engine.pace import Pace
from cwiictl.engine.resource import Report

Agreed = Callable[[Result], bool]


def delete(order: Order, report: Report, agreed: Agreed | None) -> Result:
    """`agreed` is shown what would go, and asked; without it this is a dry run. What could not be read is left, and is a failure."""
    pace = Pace(order.width)
    sites = connected(order, pace, report)
    return giving_back(sites, lambda: _deleted(order, sites, pace, report, agreed))


def _deleted(order: Order, sites: tuple[Site, ...], pace: Pace, report: Report, agreed: Agreed | None) -> Result:
    found = holdings([site.walk for site in sites], order.cluster.name, pace, report)
    staying = {} if order.issuer_too else found.kept(order.clouds)
    goes = replace(found.only({thing.address for thing in found} - staying.keys()), failed=found.failed)
    result = Result(tuple(site.caller for site in sites), rows=tuple(kept(staying)), interrupted=found.interrupted)
    shown = result.plus(doomed(goes), found.failed.values())
    if agreed is None:
        return replace(shown, planned=True)
    if found.interrupted or not list(goes) or not agreed(shown):
        return shown
    removal = remove(goes, pace, report)
    return result.plus(removed(removal), removal.failed.values(), interrupted=removal.interrupted)
