"""All that is to be drawn of a cluster's trust: what `status` says and what `verify` says, and the pods, if the cluster may be asked."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

from cwiictl.actions.create import foreseen
from cwiictl.actions.look import Look
from cwiictl.actions.order import Order, Reach
from cwiictl.actions.result import Result
from cwiictl.actions.stage import Stage, giving_back, staged
from cwiictl.actions.verify import judged
from cwiictl.engine.pace import Pace
from cwiictl.engine.resource import Report
from cwiictl.engine.run import preview
from cwiictl.kubernetes import connect
from cwiictl.picture.map import Pods


def pictured(order: Order, report: Report, reach: Reach | None = None) -> Result:
    """Changes nothing, as these two do not."""
    read = pods(reach) if reach else None
    stage = staged(order, Pace(order.width), report, writes=False)
    return giving_back(stage.sites, lambda: _pictured(stage, report, read))


def _pictured(stage: Stage, report: Report, pods: Pods | None) -> Result:
    """What status has read, verify does not read again."""
    outcome = preview(stage.plan, stage.mark, stage.pace, stage.order.adopt, report)
    status = replace(foreseen(stage, outcome, writes=False), judged=True)
    if status.interrupted or stage.issuer is None:
        return _seen(status, pods)
    look = Look(stage, stage.issuer, report, outcome)
    return _seen(judged(look, status, hosted=look.host()), pods, look)


def _seen(result: Result, pods: Pods | None, look: Look | None = None) -> Result:
    """With whoever acts as something that nobody asks for here."""
    if result.sight is None:
        return result
    sides = tuple(
        replace(side, acting=(*side.acting, *(look.acting(side.cloud) if look else ())))
        for side in result.sight.sides
    )
    return replace(result, sight=replace(result.sight, pods=pods, sides=sides))


def pods(reach: Reach) -> Pods:
    """Of each ServiceAccount that is there, those that run as it or will."""
    with closing(connect(reach.kubeconfig, reach.context or None)) as place:
        accounts, running = place.api.list("ServiceAccount"), place.api.list("Pod")
    found: dict[tuple[str, str], list[str]] = {
        (each["metadata"]["namespace"], each["metadata"]["name"]): [] for each in accounts
    }
    for pod in running:
        if pod.get("status", {}).get("phase") not in {"Succeeded", "Failed"}:
            found.setdefault(
                (pod["metadata"]["namespace"], pod["spec"].get("serviceAccountName", "default")), []
            ).append(pod["metadata"]["name"])
    return {account: tuple(sorted(names)) for account, names in found.items()}
