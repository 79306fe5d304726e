"""create-identity: make it, and hand its ServiceAccounts on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cwiictl import files, manifests
from cwiictl.actions import create
from cwiictl.actions.declare import declared, told
from cwiictl.actions.kubectl import kubectl
from cwiictl.actions.order import Order
from cwiictl.actions.result import Result
from cwiictl.engine.resource import Report
from cwiictl.errors import Failed


def create_identity(order: Order, report: Report, *, write: Path | None, apply: bool) -> Result:
    if write:
        files.ready(write.parent, [write.name])
    result = _declared(order, report) if order.declare else _created(order, report)
    if result.code:
        return result
    if write:
        files.write(write.parent, {write.name: files.Public(result.manifest)})
    if apply:
        _apply(result.manifest)
    return result


def planned(order: Order, report: Report) -> Result:
    """What would be made, or what it says where nothing is made."""
    return (
        replace(_declared(order, report), planned=True)
        if order.declare
        else _told(create.planned(order, report))
    )


def _created(order: Order, report: Report) -> Result:
    return _told(create.create(order, report, lambda _result: False))


def _told(result: Result) -> Result:
    """With its ServiceAccounts. While something has failed, nobody is to use them."""
    if result.code:
        return result
    made = manifests.service_accounts(
        files.template("kubernetes/service-account.yaml"), result.bindings
    )
    return replace(result, manifest=manifests.dump_all(made))


def _declared(order: Order, report: Report) -> Result:
    """Its ServiceAccounts cannot be annotated yet: their client id comes when the operator has made the identity."""
    found = declared(order, report)
    return replace(
        told(order, found),
        manifest=manifests.dump_all(one for objects in found.values() for one in objects),
    )


def _apply(manifest: bytes) -> None:
    done = kubectl("apply", "--filename", "-", told=manifest)
    if done.returncode:
        raise Failed(
            f"the identity is made, but kubectl did not apply its ServiceAccounts: {done.stderr.decode(errors='replace').strip()}",
            remedy="mend that and run again",
        )
