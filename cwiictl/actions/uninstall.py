"""uninstall-webhook: first nobody is asked any more, then who would have answered goes. Found by the mark alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from cwiictl.actions.beside import Beside, both
from cwiictl.actions.cluster import Ground, Installation
from cwiictl.actions.installed import SELECTOR
from cwiictl.actions.result import Result, doomed, removed, stopped
from cwiictl.engine.holdings import Holdings, holdings, inspect, remove
from cwiictl.engine.pace import Pace
from cwiictl.engine.plain import checksum
from cwiictl.engine.resource import Report
from cwiictl.errors import BadInput, Conflict
from cwiictl.install.release import Release, release
from cwiictl.install.rollover import CONFIGURATION
from cwiictl.install.sidecar.sidecar import parted
from cwiictl.kubernetes import Place, connect, rights
from cwiictl.kubernetes.state import owner

Agreed = Callable[[Result], bool]
COMMAND = "uninstall-webhook"
SIDECAR = ("k8s/MutatingWebhookConfiguration", "k8s/Deployment")


@dataclass(frozen=True)
class Where:
    """`first`: the kinds that go before all others, one after the other. Among others there is an order already."""

    name: str
    grounds: Sequence[Ground]
    first: Sequence[str] = ()


def uninstall(order: Installation, name: str, report: Report, agreed: Agreed | None) -> Result:
    """`agreed` is shown what would go, and asked; without it this is a dry run."""
    with closing(connect(order.kubeconfig, order.context, order.width)) as place:
        return _instead(
            _uninstalled(order, Where(name, (Ground(place),)), report, agreed), name, place
        )


def uninstall_sidecar(beside: Beside, report: Report, agreed: Agreed | None) -> Result:
    """From both clusters. Nobody is asked any more before there is nobody to answer."""
    with both(beside) as places:
        return _instead(
            _uninstalled(beside.order, Where(beside.name, places.grounds, SIDECAR), report, agreed),
            beside.name,
            places.guest,
        )


def _instead(result: Result, name: str, place: Place) -> Result:
    there = result.rows or result.failures or result.interrupted
    return result if there else replace(result, hints=tuple(_others(name, place)))


def _uninstalled(
    order: Installation, where: Where, report: Report, agreed: Agreed | None
) -> Result:
    return replace(_taken_out(order, where, report, agreed), whole="installation")


def _taken_out(order: Installation, where: Where, report: Report, agreed: Agreed | None) -> Result:
    pace, who, name = (
        Pace(order.width),
        tuple(ground.caller for ground in where.grounds),
        where.name,
    )
    for ground in where.grounds:
        ground.check(ground.finding, COMMAND)
    found = holdings([ground.walk for ground in where.grounds], name, pace, report)
    for ground in where.grounds:
        ground.check(
            rights.removing(ground.place.kinds, _things(found, ground.place.name)), COMMAND
        )
    total = (
        checksum(
            {
                "callers": who,
                "name": name,
                "drops": [(thing.address, thing.mark.hold) for thing in found],
            }
        )
        if list(found)
        else ""
    )
    against = inspect(found, pace, report)
    shown = Result(
        who,
        total,
        tuple(doomed(found, against.failed)),
        interrupted=found.interrupted or against.interrupted,
    )
    shown = shown.plus((), (*found.failed.values(), *against.failed.values()))
    if agreed is None:
        return replace(shown, planned=True)
    if against.failed or shown.interrupted:
        return Result(
            who,
            total,
            tuple(stopped(found, against.failed)),
            failures=shown.failures,
            interrupted=shown.interrupted,
        )
    if not list(found):
        return shown
    if order.expect and order.expect != total:
        raise BadInput(
            f"the plan is {total}, and not {order.expect} that was expected",
            remedy="look at it again with --dry-run, and expect what it says",
        )
    if not agreed(shown):
        return shown
    return replace(_removed(found, where.first, pace, report), callers=who, checksum=total)


def _others(name: str, place: Place) -> Iterator[str]:
    """Where nothing of ours is called so: what is, and what else there is."""
    for each in place.api.list(CONFIGURATION, selector=SELECTOR):
        other, mark = each["metadata"]["name"], owner(each)
        what, way = _ours(mark.cluster) if mark else _anothers(release(each))
        if other == name:
            raise Conflict(
                f"the webhook {name} {what}{'' if mark else ': cwiictl has not installed it'}",
                remedy=f"take it out with {way}",
            )
        yield f"There is {other}, which {what}: take it out with {way}."


def _ours(whose: str) -> tuple[str, str]:
    """What it is, and the way to take it out. A sidecar is more than what its hosted cluster has of it."""
    if not (told := parted(whose)):
        return "is an installation of cwiictl's", f"--name {whose}"
    flavour, namespace = told
    where = f"--flavour {flavour} --namespace {namespace or 'NAMESPACE'}"
    clusters = "the management cluster's --kubeconfig, and this one's as --guest-kubeconfig"
    return (
        f"is of the sidecar {whose}, beside its kube-apiserver",
        f"uninstall-webhook --mode sidecar {where}, {clusters}",
    )


def _anothers(helms: Release | None) -> tuple[str, str]:
    if helms:
        return f"is {helms}", helms.ending
    return (
        "bears no mark of ours",
        "what has put it there: as README.txt beside its files says, by kubectl delete -f, or by whoever applies it from Git",
    )


def _removed(found: Holdings, first: Sequence[str], pace: Pace, report: Report) -> Result:
    """What comes later is left where something before it could not go."""
    result, left = Result(), {thing.address for thing in found}
    for kind in (*first, ""):
        now = {each for each in left if each.startswith(kind)}
        if result.failures or result.interrupted:
            return result.plus(stopped(found.only(left), {}))
        removal = remove(found.only(now), pace, report)
        result = result.plus(
            removed(removal), removal.failed.values(), interrupted=removal.interrupted
        )
        left -= now
    return result


def _things(found: Holdings, place: str) -> Iterator[tuple[str, str, bool]]:
    for thing in found:
        kind, _, where = thing.store.kind.partition("@")
        if where == place:
            yield kind, thing.name, thing.mark.hold == "owned"
