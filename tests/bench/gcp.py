"""create-all for fifty workloads, whole processes, at 50 ms per request; against ccoctl's serial requests at the same latency.

ccoctl makes 10 requests for the issuer, and 11 for each workload with a custom role and two ServiceAccounts on the first run; and 7 for each on the second.
They were counted in its source, and follow one another; its sleeps are left out. Ours are printed beside those that are made however many workloads there
are, and how often the project's policy, which all of them share, is written.
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
from cwiictl.sandbox.gcp.world import PROJECT

LATENCY = 0.05
WORKLOADS = 50
FIRST, SECOND = 10 + 11 * WORKLOADS, 7 * WORKLOADS  # ccoctl's requests
GROWING = WORKLOADS // 2  # what is asked so often grows with the workloads
POLICY = "resourcemanager.projects.setIamPolicy"
SHARED, OWN = (
    "[compute.instances.get, compute.instances.list]",
    "[compute.instances.get, dns.changes.list, example.things{0}.get]",
)
ASKS = {"one custom role for all": SHARED, "a custom role each": OWN}
REQUEST = """\
apiVersion: cloudcredential.openshift.io/v1
kind: CredentialsRequest
metadata: {{name: request-{0}, namespace: openshift-cloud-credential-operator}}
spec:
  secretRef: {{name: credentials-{0}, namespace: team-{1}}}
  serviceAccountNames: [operator-{0}, controller-{0}]
  providerSpec:
    apiVersion: cloudcredential.openshift.io/v1
    kind: GCPProviderSpec
    permissions: {2}
"""
WHERE = ("--cloud", "gcp", "--name", "bench", "--project", PROJECT)
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
                    f"ccoctl's {theirs} requests",
                    seconds,
                    theirs * LATENCY,
                    "at most 1/10",
                )


def _create(sandbox: Sandbox, place: Path, name: str) -> float:
    before = len(sandbox.record)
    seconds = _run(sandbox, place, "create-all", *WHERE, *REST)
    asked = Counter(seen.action for seen in sandbox.record[before:])
    growing = sum(count for count in asked.values() if count >= GROWING)
    each = f"{growing / WORKLOADS:.2f} requests for each of {WORKLOADS} workloads, and {asked.total() - growing} for all of them"
    print(f"  {name}: {each}, {asked[POLICY]} of which write the project's policy", file=sys.stderr)
    return seconds


def _requests(folder: Path, asked: str) -> None:
    folder.mkdir()
    for number in range(WORKLOADS):
        (folder / f"{number:03}.yaml").write_text(
            REQUEST.format(number, number % 7, asked.format(number))
        )


def _run(sandbox: Sandbox, place: Path, *arguments: str) -> float:
    environment = sandbox.environment()
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    start = time.perf_counter()
    subprocess.run(
        ["cwiictl", *arguments], cwd=place, env=environment, check=True, capture_output=True
    )
    return time.perf_counter() - start
