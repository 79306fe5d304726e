"""create-identity: make it, and hand its ServiceAccounts on."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

from cwiictl import files, manifests
from cwiictl.actions.create import create
from cwiictl.actions.order import Order
from cwiictl.actions.result import Result
from cwiictl.engine.resource import Report
from cwiictl.errors import BadInput, Failed

KUBECTL = ("kubectl", "apply", "--filename", "-")


def create_identity(order: Order, report: Report, *, write: Path | None, apply: bool) -> Result:
    if write:
        files.ready(write.parent, [write.name])
    result = create(order, report, lambda _result: False)
    made = manifests.service_accounts(files.template("kubernetes/service-account.yaml"), result.bindings)
    result = replace(result, manifest=manifests.dump_all(made))
    if result.code:
        return result
    if write:
        files.write(write.parent, {write.name: files.Public(result.manifest)})
    if apply:
        _apply(result.manifest)
    return result


def _apply(manifest: bytes) -> None:
    """With the cluster and the credentials that kubectl is set to."""
    try:
        done = subprocess.run(KUBECTL, input=manifest, capture_output=True, check=False)
    except FileNotFoundError as e:
        raise BadInput("kubectl is not here", remedy="install it, or apply what -o yaml prints from where it is") from e
    if done.returncode:
        raise Failed(
            f"the identity is made, but kubectl did not apply its ServiceAccounts: {done.stderr.decode(errors='replace').strip()}",
            remedy="mend that and run again",
        )
