"""Take down all that bears the cluster's mark. Needs neither key nor requests: the marks say what is ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from cwiictl import names
from cwiictl.actions.order import Order
from cwiictl.actions.outdated import outdated
from cwiictl.actions.result import Caller, Result, doomed, kept, removed, staying, stopped
from cwiictl.actions.stage import Site, connected, expected, giving_back
from cwiictl.clouds import ALL
from cwiictl.clouds.spec import options
from cwiictl.engine.holdings import Holdings, holdings, inspect, remove
from cwiictl.engine.pace import Job, Pace, Ran, run
from cwiictl.engine.plain import checksum
from cwiictl.engine.resource import Known, Report

Agreed = Callable[[Result], bool]


def delete(order: Order, report: Report, agreed: Agreed | None) -> Result:
    """`agreed` is shown what would go, and asked; without it this is a dry run. What could not be read is left, and is a failure."""
    pace = Pace(order.width)
    sites = connected(order, pace, report)
    return giving_back(sites, lambda: _deleted(order, sites, pace, report, agreed))


def _deleted(
    order: Order, sites: tuple[Site, ...], pace: Pace, report: Report, agreed: Agreed | None
) -> Result:
    found = holdings([site.walk for site in sites], order.cluster.name, pace, report)
    trusted = {} if order.issuer_too else found.kept(order.clouds)
    goes = replace(
        found.only({thing.address for thing in found} - trusted.keys()), failed=found.failed
    )
    hints = (*_later(order, trusted), *(_elsewhere(order, sites, pace) if list(goes) else ()))
    who = tuple(site.caller for site in sites)
    result = Result(
        who,
        _checksum(order, who, goes),
        (*kept(trusted, ", or add --issuer"), *staying(found)),
        hints=hints,
        interrupted=found.interrupted,
    )
    against = _against(sites, goes, pace, report)
    shown = result.plus(
        doomed(goes, against.failed),
        (*found.failed.values(), *against.failed.values()),
        interrupted=against.interrupted,
    )
    if agreed is None:
        return replace(shown, planned=True)
    if against.failed or against.interrupted:
        return result.plus(
            stopped(goes, against.failed), shown.failures, interrupted=against.interrupted
        )
    if found.interrupted or not list(goes):
        return shown
    expected(order, result.checksum)
    if not agreed(shown):
        return shown
    removal = remove(goes, pace, report)
    told = outdated(order.output, removal.dropped, removal.called)
    return replace(result, outdated=told).plus(
        removed(removal), removal.failed.values(), interrupted=removal.interrupted
    )


def _checksum(order: Order, callers: tuple[Caller, ...], goes: Holdings) -> str:
    """Of what would go and what would be let go, by whom and where. After a run that was cut less is there, and that is another."""
    return (
        checksum(
            {
                "callers": callers,
                "cluster": order.cluster.name,
                "drops": [(thing.address, thing.mark.hold) for thing in goes],
            }
        )
        if list(goes)
        else ""
    )


def _later(order: Order, trusted: Iterable[str]) -> Iterator[str]:
    """What finishes it when nothing trusts the issuer any more: here nobody can see that."""
    for cloud in sorted({address.partition("/")[0] for address in trusted}):
        given = (
            (option, order.clouds[cloud].get(field))
            for field, option in options(ALL[cloud].Spec).items()
            if not option.of or "delete" in option.of
        )
        words = " ".join(
            option.flag if option.switch else f"{option.flag} {value}"
            for option, value in given
            if value
        )
        yield f"When nothing elsewhere trusts the issuer any more, what is kept goes with: {_command(order, cloud, words)}"


def _elsewhere(order: Order, sites: tuple[Site, ...], pace: Pace) -> Iterator[str]:
    """Of an issuer that is in a cloud which was not given, and that these clouds trust: what serves it stays, and this may be the last to know of it."""
    urls: set[str] = set()

    def look(name: str, _tried: int) -> str:
        store = next(site.stores.known_issuers for site in sites if site.cloud.name == name)
        urls.update(store.get([order.cluster.name])[order.cluster.name].urls)
        return "read"

    run(
        Job({site.cloud.name: () for site in sites}, look, verb="reading"), pace
    )  # who may not look has been told of it elsewhere
    for url in sorted(urls):
        home = names.hosted(url)
        if (
            home
            and home.get("cluster", order.cluster.name) == order.cluster.name
            and home["cloud"] not in order.clouds
        ):
            place = f"--region {home['region']}" if "region" in home else "(and its other options)"
            yield f"The issuer {url} is in {home['cloud']}, and stays. When nothing trusts it any more: {_command(order, home['cloud'], place)}"


def _command(order: Order, cloud: str, words: str) -> str:
    return f"cwiictl delete --cloud {cloud} --name {order.cluster.name} {words} --issuer"


def _against(sites: tuple[Site, ...], goes: Holdings, pace: Pace, report: Report) -> Ran:
    """All that stands against dropping anything at all, as far as it can be known beforehand."""
    if goes.interrupted or not list(goes):
        return Ran()
    rights = _lacking(sites, goes, pace, report)
    rooms = inspect(goes, pace, report)
    return Ran(
        {**rights.failed, **rooms.failed}, interrupted=rights.interrupted or rooms.interrupted
    )


def _lacking(sites: tuple[Site, ...], goes: Holdings, pace: Pace, report: Report) -> Ran:
    """Whether who asks may do all of it, where the cloud can be asked."""
    leaving = {
        f"{site.cloud.name}/permissions/{site.stores.caller}": (site, things)
        for site in sites
        if (things := goes.of(list(site.walk)))
    }

    def ask(address: str, _tried: int) -> str:
        (site, things), found = leaving[address], Known()
        if asked := site.cloud.leaving(site.stores, things):
            found.learn(asked, asked.store.get([asked.name])[asked.name])
            if problem := asked.objection(found):
                raise problem
        return "read"

    return run(Job(dict.fromkeys(leaving, ()), ask, report=report, verb="reading"), pace)
