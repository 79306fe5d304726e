"""A further cloud is a package that is put into the table: every command then works for it, and nothing else has changed."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from cwiictl.sandbox import Sandbox, Settings
from tests.journeys.ground import Done

ROOT = Path(__file__).parents[3]
HOST = "shed.example.org"
PROGRAM = """
from cwiictl import clouds
from tests.journeys.toy import shed
clouds.ALL = {**clouds.ALL, shed.name: shed}
from cwiictl.cli import main
main()
"""
REQUEST = {
    "apiVersion": "cloudcredential.openshift.io/v1",
    "kind": "CredentialsRequest",
    "metadata": {"name": "gardener", "namespace": "openshift-cloud-credential-operator"},
    "spec": {
        "secretRef": {"name": "tools", "namespace": "garden"},
        "serviceAccountNames": ["gardener"],
        "providerSpec": {
            "apiVersion": "cloudcredential.openshift.io/v1",
            "kind": "ShedProviderSpec",
            "tools": ["rake"],
        },
    },
}
WHERE = ("--cloud", "shed", "--name", "demo", "--shed", "shed", "--shed-host", HOST)
ASKING = ("--credentials-requests-dir", "requests", "--output-dir", "out")


class Garden:
    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        self.sandbox, self.folder = sandbox, folder

    def run(self, command: str, *arguments: str) -> Done:
        environment = {**self.sandbox.environment(), "PYTHONPATH": str(ROOT)}
        whole = [sys.executable, "-c", PROGRAM, command, *WHERE, *arguments, "-o", "json"]
        done = subprocess.run(
            whole,
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def locker(self) -> Path:
        return self.folder / "shed/lockers/demo-garden-tools.json"


@pytest.fixture
def garden(tmp_path: Path):
    (tmp_path / "requests").mkdir()
    (tmp_path / "requests/gardener.yaml").write_text(yaml.safe_dump(REQUEST))
    www = tmp_path / "shed/www"
    www.mkdir(parents=True)
    with Sandbox(Settings(serve={HOST: www})) as sandbox:
        yield Garden(sandbox, tmp_path)


def test_a_cloud_that_was_put_into_the_table_is_made_shown_repaired_and_taken_down(
    garden: Garden,
) -> None:
    first = garden.run("create-all", *ASKING, "--bits", "2048")
    assert first.code == 0, first.out + first.err
    assert first.things["shed/locker/demo-garden-tools"] == "created"
    assert json.loads(garden.locker().read_text())["subjects"] == [
        "system:serviceaccount:garden:gardener"
    ]
    again, status = garden.run("create-all", *ASKING), garden.run("status", *ASKING)
    assert (again.code, again.but("as wanted"), status.code, status.but("as wanted")) == (
        0,
        {},
        0,
        {},
    )

    changed = json.loads(garden.locker().read_text())
    garden.locker().write_text(json.dumps({**changed, "tools": ["rake", "axe"]}))
    status = garden.run("status", *ASKING)
    assert (status.code, status.fields) == (3, {"shed/locker/demo-garden-tools": ["tools"]})
    assert garden.run("create-all", *ASKING).but("as wanted") == {
        "shed/locker/demo-garden-tools": "repaired"
    }

    gone = garden.run("delete", "--yes")
    assert (gone.code, gone.things) == (0, {"shed/locker/demo-garden-tools": "dropped"})
    assert not garden.locker().exists()


def test_it_is_no_longer_than_a_morning(garden: Garden) -> None:
    tree = ast.parse((ROOT / "tests/journeys/toy/shed.py").read_text())

    assert sum(isinstance(node, ast.stmt) for node in ast.walk(tree)) <= 100
    assert garden.run("create-identity", "-n", "garden", "--service-account", "cat").code == 0
