"""create-key-pair: the one command that talks with no cloud."""

from __future__ import annotations

from cwiictl import files, names
from cwiictl.actions.order import Order
from cwiictl.actions.result import DONE, Result, ran
from cwiictl.engine.pace import Pace
from cwiictl.engine.resource import Mark, Plan, Report
from cwiictl.engine.run import apply
from cwiictl.issuer.key import SigningKey
from cwiictl.issuer.stores.keys import KeyPair


def create_key_pair(order: Order, report: Report) -> Result:
    files.ready(order.output, (names.PRIVATE_KEY, names.PUBLIC_KEY, names.INSTALLER_KEY))
    key = SigningKey("signing-key", KeyPair(order.output, order.bits))
    plan = Plan([key])
    outcome = apply(plan, Mark(order.cluster.name), Pace(), report=report)
    paths = tuple(str(order.output / name) for name in (names.PRIVATE_KEY, names.PUBLIC_KEY, names.INSTALLER_KEY))
    result = Result(rows=tuple(ran(outcome, plan, DONE)), files=paths if outcome.whole else ())
    return result.plus((), outcome.failed.values(), interrupted=outcome.interrupted)
