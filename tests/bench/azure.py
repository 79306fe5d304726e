"""create-all for fifty workloads, whole processes, at 50 ms per request; against ccoctl's serial requests at the same latency.

ccoctl makes 11 requests for each workload with a role of its own, one scope and two ServiceAccounts on the first run, and 7 on the second, one after
another: they were counted in its source. Its sleeps are left out, and so is what Azure itself takes to make a storage account. Ours are printed
beside those that are made however many workloads there are.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ratio import Ratio

from cwiictl.sandbox import Sandbox, Settings
from cwiictl.sandbox.azure.world import SUBSCRIPTION

LATENCY = 0.05
WORKLOADS = 50
STRANGERS = 1000
FIRST, SECOND = 11, 7  # ccoctl's requests for each
GROWING = WORKLOADS // 2  # what is asked so often grows with the workloads
ASKS = {
    "a role of its own": 'permissions: ["Microsoft.Storage/storageAccounts/read"]',
    "a role of Azure's": "roleBindings: [{role: Reader}]",
}
REQUEST = """\
apiVersion: cloudcredential.openshift.io/v1
kind: CredentialsRequest
metadata: {{name: request-{0}, namespace: openshift-cloud-credential-operator}}
spec:
  secretRef: {{name: credentials-{0}, namespace: team-{1}}}
  serviceAccountNames: [operator-{0}, controller-{0}]
  providerSpec:
    apiVersion: cloudcredential.openshift.io/v1
    kind: AzureProviderSpec
    {2}
"""
WHERE = (
    "--cloud",
    "azure",
    "--name",
    "bench",
    "--region",
    "eastus",
    "--subscription-id",
    SUBSCRIPTION,
)
REST = ("--credentials-requests-dir", "requests", "--output-dir", "out", "--concurrency", "32")


def ratios() -> Iterator[Ratio]:
    for what, asked in ASKS.items():
        with tempfile.TemporaryDirectory() as folder, Sandbox(Settings(deploy=0.0)) as sandbox:
            place = Path(folder)
            _requests(place / "requests", asked)
            _run(sandbox, place, "create-key-pair", "--output-dir", "out")
            sandbox.faults.latency = LATENCY
            for name, theirs in (("first", FIRST), ("second", SECOND)):
                seconds = _create(sandbox, place, f"{name} run, {what}")
                yield Ratio(
                    f"create-all, {name} run, {what}",
                    f"ccoctl's {theirs} requests each",
                    seconds,
                    WORKLOADS * theirs * LATENCY,
                    "at most 1/10",
                )
            sandbox.crowd(STRANGERS)
            _create(sandbox, place, f"third run (with {STRANGERS} strange identities), {what}")


def _create(sandbox: Sandbox, place: Path, name: str) -> float:
    before = len(sandbox.record)
    seconds = _run(sandbox, place, "create-all", *WHERE, *REST)
    asked = Counter((seen.method, seen.action) for seen in sandbox.record[before:])
    growing = sum(count for count in asked.values() if count >= GROWING)
    print(
        f"  {name}: {growing / WORKLOADS:.2f} requests for each of {WORKLOADS} workloads, and {asked.total() - growing} for all of them",
        file=sys.stderr,
    )
    return seconds


def _requests(folder: Path, asked: str) -> None:
    folder.mkdir()
    for number in range(WORKLOADS):
        (folder / f"{number:03}.yaml").write_text(REQUEST.format(number, number % 7, asked))


def _run(sandbox: Sandbox, place: Path, *arguments: str) -> float:
    environment = sandbox.environment()
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    start = time.perf_counter()
    subprocess.run(
        ["cwiictl", *arguments], cwd=place, env=environment, check=True, capture_output=True
    )
    return time.perf_counter() - start
