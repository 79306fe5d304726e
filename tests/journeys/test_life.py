"""One life of a cluster's trust, from nothing to nothing. In the sandbox; and with `scripts/test --live aws` in the caller's own account."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cwiictl.sandbox import Sandbox
from tests.examples import two_requests

LIVE = os.environ.get("CWIICTL_LIVE", "")
SOMEBODY = "import boto3; print(boto3.client('sts').get_caller_identity()['Arn'])"
CHANGE = "import boto3, sys; boto3.client('iam').delete_role_policy(RoleName=sys.argv[1], PolicyName=sys.argv[1])"


@dataclass(frozen=True)
class Place:
    """An account, real or not, and a folder to work in."""

    folder: Path
    environment: Mapping[str, str]
    name: str
    region: str

    def cwiictl(self, *arguments: str) -> tuple[int, Any]:
        where = ("--cloud", "aws", "--name", self.name, "--region", self.region)
        done = self._run(["-m", "cwiictl", arguments[0], *where, *arguments[1:], "--output", "json"], self.environment)
        return done.returncode, json.loads(done.stdout)

    def create(self, command: str = "create-all") -> tuple[int, set[str]]:
        code, told = self.cwiictl(command, "--credentials-requests-dir", "requests", "--output-dir", "out")
        return code, {thing["condition"] for thing in told["things"]}

    def python(self, code: str, *arguments: str, **variables: str) -> str:
        known = {name: value for name, value in {**self.environment, **variables}.items() if value}
        done = self._run(["-c", code, *arguments], known)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def _run(self, arguments: list[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Whatever happens, nothing is left in it."""
    (tmp_path / "requests").mkdir()
    for name, text in two_requests().items():
        (tmp_path / "requests" / name).write_text(text)
    with ExitStack() as stack:
        environment = dict(os.environ) if LIVE else stack.enter_context(Sandbox()).environment()
        here = Place(tmp_path, environment, f"cwii-{secrets.token_hex(4)}", os.environ.get("AWS_REGION", "us-east-1"))
        stack.callback(here.cwiictl, "delete", "--yes")
        yield here


def test_a_cluster_is_trusted_repaired_used_and_forgotten(place: Place) -> None:
    assert place.create() == (0, {"created", "as wanted"})
    assert place.create() == (0, {"as wanted"})
    assert place.create("status") == (0, {"as wanted"})

    role = next(iter(_roles(place)))
    place.python(CHANGE, role)
    code, conditions = place.create("status")
    assert (code, "drifted" in conditions) == (3, True)
    assert place.create()[0] == 0

    account = json.loads((place.folder / "account.json").read_text())
    assert f":assumed-role/{role}/" in place.python(SOMEBODY, **_web_identity(place, account, role))

    assert place.cwiictl("delete", "--yes")[0] == 0
    assert place.cwiictl("delete", "--dry-run")[1]["things"] == []


def _roles(place: Place) -> list[str]:
    _, told = place.cwiictl("status", "--credentials-requests-dir", "requests", "--output-dir", "out")
    (place.folder / "account.json").write_text(json.dumps(told["callers"][0]["account"]))
    return [thing["thing"].removeprefix("aws/role/") for thing in told["things"] if thing["thing"].startswith("aws/role/")]


def _web_identity(place: Place, account: str, role: str) -> dict[str, str]:
    """What a pod of the first request would be given, and nothing of the caller's."""
    _, told = place.cwiictl("status", "--credentials-requests-dir", "requests", "--output-dir", "out")
    trust = next(thing["want"]["trust"] for thing in told["things"] if thing["thing"] == f"aws/role/{role}")
    subject = next(value for key, value in trust["Statement"][0]["Condition"]["StringEquals"].items() if key.endswith(":sub"))
    namespace, _, name = (subject if isinstance(subject, str) else subject[0]).removeprefix("system:serviceaccount:").partition(":")
    token = place.python(
        "import sys; from cwiictl.sandbox import mint; print(mint.token(open(sys.argv[1], 'rb').read(), mint.Asked(*sys.argv[2:])), end='')",
        "out/serviceaccount-signer.private",
        f"https://{place.name}-oidc.s3.{place.region}.amazonaws.com",
        namespace,
        name,
        "openshift",
    )
    (place.folder / "token").write_text(token)
    nothing = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": ""}
    arn = f"arn:aws:iam::{account}:role/{role}"
    return {**nothing, "AWS_ROLE_ARN": arn, "AWS_WEB_IDENTITY_TOKEN_FILE": str(place.folder / "token"), "AWS_REGION": place.region}
