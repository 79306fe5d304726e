"""create-key-pair: the one command that talks with no cloud."""

from __future__ import annotations

from cwiictl import files, names
from cwiictl.actions.order import Order
from cwiictl.actions.result import DONE, Result, ran
from cwiictl.engine.pace import Pace
from cwiictl.engine.resource import Mark, Plan, Report
from cwiictl.engine.run import Outcome, apply
from cwiictl.issuer.key import KEY, SigningKey
from cwiictl.issuer.stores.keys import KeyPair, Keys


def create_key_pair(order: Order, report: Report) -> Result:
    files.ready(order.output, (names.PRIVATE_KEY, names.PUBLIC_KEY, names.INSTALLER_KEY))
    keys = KeyPair(order.output, order.bits)
    key = SigningKey(KEY, keys)
    plan = Plan([key])
    outcome = apply(plan, Mark(order.cluster.name), Pace(), report=report)
    paths = tuple(
        str(order.output / name)
        for name in (names.PRIVATE_KEY, names.PUBLIC_KEY, names.INSTALLER_KEY)
    )
    written = frozenset(str(order.output / name) for name in renewed(outcome, key, keys))
    result = Result(
        rows=tuple(ran(outcome, plan, DONE)), files=paths if outcome.whole else (), written=written
    )
    return result.plus((), outcome.failed.values(), interrupted=outcome.interrupted)


def renewed(outcome: Outcome, key: SigningKey, keys: Keys) -> frozenset[str]:
    """Of the pair, the files that a run has made, or made its owner's alone."""
    change = next((change for change in outcome.changes if change.address == key.address), None)
    if change is None or change.verb == "keep":
        return frozenset()
    told = " ".join(str(difference.have) for difference in change.differing)
    return frozenset(name for name in keys.files if change.verb == "create" or name in told)
