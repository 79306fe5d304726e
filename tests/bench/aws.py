"""create-all for a hundred roles, whole processes, at 50 ms per request; against ccoctl's serial requests at the same latency.

ccoctl was measured so once: 316 requests on the first run and 213 on the second, one after another, and nearly all of its time is
waiting for them. Its requests times the latency are the yardstick.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ratio import Ratio

from cwiictl.sandbox import Sandbox, Settings

LATENCY = 0.05
ROLES = 100
STRANGERS = 3000
FIRST, SECOND = 316, 213  # ccoctl's requests
REQUEST = """\
apiVersion: cloudcredential.openshift.io/v1
kind: CredentialsRequest
metadata: {{name: request-{0}, namespace: openshift-cloud-credential-operator}}
spec:
  secretRef: {{name: credentials-{0}, namespace: team-{1}}}
  serviceAccountNames: [operator-{0}]
  providerSpec:
    apiVersion: cloudcredential.openshift.io/v1
    kind: AWSProviderSpec
    statementEntries: [{{effect: Allow, action: ["s3:GetObject", "s3:PutObject"], resource: "*"}}]
"""


def ratios() -> Iterator[Ratio]:
    with tempfile.TemporaryDirectory() as folder, Sandbox(Settings()) as sandbox:
        place = Path(folder)
        _requests(place / "requests")
        _run(sandbox, place, "create-key-pair", "--output-dir", "out")
        sandbox.faults.latency = LATENCY
        for name, theirs, goal in (
            ("first", FIRST, "at most 1/6"),
            ("second", SECOND, "at most 1/10"),
        ):
            yield Ratio(
                f"create-all, {name} run",
                f"ccoctl's {theirs} requests",
                _create(sandbox, place, name),
                theirs * LATENCY,
                goal,
            )
        sandbox.crowd(STRANGERS)
        _create(sandbox, place, f"third (with {STRANGERS} strange roles)")


def _create(sandbox: Sandbox, place: Path, name: str) -> float:
    before = len(sandbox.record)
    seconds = _run(
        sandbox,
        place,
        "create-all",
        "--cloud",
        "aws",
        "--name",
        "bench",
        "--region",
        "us-east-1",
        *REST,
    )
    asked = len(sandbox.record) - before
    print(
        f"  {name} run: {asked} requests for {ROLES} roles, {asked / ROLES:.2f} for each",
        file=sys.stderr,
    )
    return seconds


REST = ("--credentials-requests-dir", "requests", "--output-dir", "out", "--concurrency", "32")


def _requests(folder: Path) -> None:
    folder.mkdir()
    for number in range(ROLES):
        (folder / f"{number:03}.yaml").write_text(REQUEST.format(number, number % 7))


def _run(sandbox: Sandbox, place: Path, *arguments: str) -> float:
    environment = sandbox.environment()
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    start = time.perf_counter()
    subprocess.run(
        ["cwiictl", *arguments], cwd=place, env=environment, check=True, capture_output=True
    )
    return time.perf_counter() - start
