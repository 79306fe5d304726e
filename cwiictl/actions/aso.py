"""The identities as resources of Azure Service Operator, for who keeps them in Git. Nothing is made in Azure."""

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
from cwiictl.clouds import azure
from cwiictl.clouds.azure.aso import Manner, objects, unconnected
from cwiictl.clouds.azure.plan import judged
from cwiictl.clouds.azure.stores import Stores
from cwiictl.engine.pace import Pace
from cwiictl.engine.resource import Plan, Report
from cwiictl.errors import BadInput, Problem
from cwiictl.issuer.elsewhere import checked

FOLDER = "aso"

Files = Mapping[str, list[dict[str, Any]]]


def declare(order: Order, report: Report, *, writes: bool) -> Result:
    """A file for each identity."""
    found = declared(order, report)
    tree = {f"{FOLDER}/{name}": files.Public(manifests.dump_all(some)) for name, some in found.items()}
    files.ready(order.output, tree)
    result = replace(told(found), files=tuple(str(order.output / path) for path in tree), planned=not writes)
    try:
        if writes:
            written = files.write(order.output, tree)
            result = replace(result, written=frozenset(str(order.output / path) for path in written))
    except Problem as e:
        return replace(result, files=()).plus([failure(str(order.output), e)], [e])
    return result


def declared(order: Order, report: Report) -> Files:
    """Azure is asked only what the names of roles mean, if there are any."""
    if not order.issuer_url:
        raise BadInput("whom the identities are to believe is not said", remedy="name the cluster's issuer with --issuer-url URL --issuer-exists")
    spec, asked = azure.Spec(**order.clouds[azure.name]), asks(order).wanted[azure.name]
    judged(spec, order.cluster)
    with ExitStack() as held:

        @cache
        def known() -> Stores:
            (site,) = connected(order, Pace(order.width), report)
            held.callback(site.stores.close)
            return site.stores

        stores = unconnected(spec, lambda title: known().role(title))
        home = azure.standing(spec, order.cluster, stores, checked(order.issuer_url))
        plan = Plan(azure.identities(spec, order.cluster, stores, asked, home))
        return objects(plan, Manner(order.credential_from, files.template))


def told(found: Files) -> Result:
    rows = (Row(f"{one['kind']}/{one['metadata']['name']}", "declared") for some in found.values() for one in some)
    return Result(rows=tuple(rows), taker="Azure Service Operator")
