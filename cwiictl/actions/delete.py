"""Take down all that bears the cluster's mark. Needs neither key nor requests: the marks say what is ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cwiictl.actions.order import Order
from cwiictl.actions.outdated import outdated
from cwiictl.actions.result import Result, doomed, kept, removed, staying, stopped
from cwiictl.actions.stage import Site, connected, giving_back
from cwiictl.engine.holdings import Holdings, holdings, inspect, remove
from cwiictl.engine.pace import Job, Pace, Ran, run
from cwiictl.engine.resource import Known, Report

Agreed = Callable[[Result], bool]


def delete(order: Order, report: Report, agreed: Agreed | None) -> Result:
    """`agreed` is shown what would go, and asked; without it this is a dry run. What could not be read is left, and is a failure."""
    pace = Pace(order.width)
    sites = connected(order, pace, report)
    return giving_back(sites, lambda: _deleted(order, sites, pace, report, agreed))


def _deleted(order: Order, sites: tuple[Site, ...], pace: Pace, report: Report, agreed: Agreed | None) -> Result:
    found = holdings([site.walk for site in sites], order.cluster.name, pace, report)
    trusted = {} if order.issuer_too else found.kept(order.clouds)
    goes = replace(found.only({thing.address for thing in found} - trusted.keys()), failed=found.failed)
    result = Result(tuple(site.caller for site in sites), rows=(*kept(trusted, ", or add --issuer"), *staying(found)), interrupted=found.interrupted)
    against = _against(sites, goes, pace, report)
    shown = result.plus(doomed(goes, against.failed), (*found.failed.values(), *against.failed.values()), interrupted=against.interrupted)
    if agreed is None:
        return replace(shown, planned=True)
    if against.failed or against.interrupted:
        return result.plus(stopped(goes, against.failed), shown.failures, interrupted=against.interrupted)
    if found.interrupted or not list(goes) or not agreed(shown):
        return shown
    removal = remove(goes, pace, report)
    told = outdated(order.output, removal.dropped)
    return replace(result, outdated=told).plus(removed(removal), removal.failed.values(), interrupted=removal.interrupted)


def _against(sites: tuple[Site, ...], goes: Holdings, pace: Pace, report: Report) -> Ran:
    """All that stands against dropping anything at all, as far as it can be known beforehand."""
    if goes.interrupted or not list(goes):
        return Ran()
    rights = _lacking(sites, goes, pace, report)
    rooms = inspect(goes, pace, report)
    return Ran({**rights.failed, **rooms.failed}, interrupted=rights.interrupted or rooms.interrupted)


def _lacking(sites: tuple[Site, ...], goes: Holdings, pace: Pace, report: Report) -> Ran:
    """Whether who asks may do all of it, where the cloud can be asked."""
    leaving = {f"{site.cloud.name}/permissions/{site.stores.caller}": (site, things) for site in sites if (things := goes.of(list(site.walk)))}

    def ask(address: str, _tried: int) -> str:
        (site, things), found = leaving[address], Known()
        if asked := site.cloud.leaving(site.stores, things):
            found.learn(asked, asked.store.get([asked.name])[asked.name])
            if problem := asked.objection(found):
                raise problem
        return "read"

    return run(Job(dict.fromkeys(leaving, ()), ask, report=report, verb="reading"), pace)
