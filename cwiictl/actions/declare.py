"""Identities said instead of made: as resources of an operator's, for who keeps them in Git. Nothing is made in the cloud."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from typing import Any

from cwiictl import files, manifests
from cwiictl.actions.asks import asks
from cwiictl.actions.order import Order
from cwiictl.actions.result import Result, Row, failure
from cwiictl.actions.stage import connected
from cwiictl.clouds import formats
from cwiictl.engine.pace import Pace
from cwiictl.engine.resource import Plan, Report
from cwiictl.errors import BadInput, Problem
from cwiictl.issuer.elsewhere import checked

Files = Mapping[str, list[dict[str, Any]]]


def declare(order: Order, report: Report, *, writes: bool) -> Result:
    """A file for each identity."""
    found = declared(order, report)
    tree = {
        f"{order.declare}/{name}": files.Public(manifests.dump_all(some))
        for name, some in found.items()
    }
    files.ready(order.output, tree)
    result = replace(
        told(order, found),
        files=tuple(str(order.output / path) for path in tree),
        planned=not writes,
    )
    try:
        if writes:
            written = files.write(order.output, tree)
            result = replace(
                result, written=frozenset(str(order.output / path) for path in written)
            )
    except Problem as e:
        return replace(result, files=()).plus([failure(str(order.output), e)], [e])
    return result


def declared(order: Order, report: Report) -> Files:
    """Planned as if it were to be made. The cloud is asked nothing, but for what its format cannot do without."""
    if not order.issuer_url:
        raise BadInput(
            "whom the identities are to believe is not said",
            remedy="name the cluster's issuer with --issuer-url URL --issuer-exists",
        )
    cloud, form = formats()[order.declare]
    spec, asked = cloud.Spec(**order.clouds[cloud.name]), asks(order).wanted[cloud.name]
    with ExitStack() as held:

        @cache
        def known() -> Any:
            (site,) = connected(order, Pace(order.width), report)
            held.callback(site.stores.close)
            return site.stores

        stores = form.words.unconnected(spec, order.cluster, known)
        home = cloud.standing(spec, order.cluster, stores, checked(order.issuer_url))
        plan = Plan(cloud.identities(spec, order.cluster, stores, asked, home))
        return form.words.objects(plan, order.credential_from, files.template)


def told(order: Order, found: Files) -> Result:
    _, form = formats()[order.declare]
    rows = (
        Row(f"{one['kind']}/{one['metadata']['name']}", "declared")
        for some in found.values()
        for one in some
    )
    return Result(rows=tuple(rows), taker=form.operator)
