"""renew-certificates: what the CronJob does by itself, now."""

from __future__ import annotations

from contextlib import closing

from cwiictl.actions.cluster import Installation, address, caller
from cwiictl.actions.result import Result, Row, failure
from cwiictl.actions.waiting import Waiting
from cwiictl.engine.pace import Pace
from cwiictl.engine.resource import Report
from cwiictl.errors import Problem
from cwiictl.kubernetes import connect


def renew(order: Installation, name: str, namespace: str, report: Report) -> Result:
    with closing(connect(order.kubeconfig, order.context, order.width)) as place:
        who, what = (caller(place),), address("CronJob", f"{name}-renew", namespace)
        try:
            said = Waiting(place, Pace(order.width), report, order.timeout).renewed(name, namespace)
        except Problem as e:
            return Result(who, rows=(failure(what, e),), failures=(e,))
        return Result(who, rows=(Row(what, "as wanted", remarks=(said,) if said else ()),))
