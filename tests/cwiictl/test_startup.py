"""Asking for help costs little: what a command needs is imported when that command runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "boto3",
    "botocore",
    "azure",
    "google",
    "kubernetes",
    "requests",
    "urllib3",
    "cryptography",
    "moto",
    "h11",
    "yaml",
    "msgspec",
}

ASK = """
import json, sys
from cwiictl.__main__ import main
sys.argv = ["cwiictl", *sys.argv[1:]]
code = 0
try:
    main()
except SystemExit as end:
    code = end.code
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""


@pytest.mark.parametrize("ask", ["--help", "--version"])
def test_help_imports_nothing_heavy(ask: str) -> None:
    asked = subprocess.run(
        [sys.executable, "-c", ASK, ask], capture_output=True, text=True, check=True
    )
    code, modules = json.loads(asked.stderr)

    assert code in {None, 0}
    assert asked.stdout
    assert HEAVY & {module.partition(".")[0] for module in modules} == set()


def test_a_command_for_one_cloud_loads_no_plan_of_another_and_no_sdk_before_it_is_asked(
    tmp_path: Path,
) -> None:
    asked = subprocess.run(
        [sys.executable, "-c", ASK, "create-all", "--cloud", "aws", "--name", "demo"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    code, modules = json.loads(asked.stderr.splitlines()[-1])

    assert code == 2  # it has no region
    assert "cwiictl.clouds.azure.spec" in modules
    assert not {f"cwiictl.clouds.{cloud}.plan" for cloud in ("azure", "gcp")} & set(modules)
    assert not {"cwiictl.clouds.azure.aso", "boto3", "botocore", "azure", "google"} & set(modules)


def test_what_is_wanted_of_a_cluster_is_said_without_its_client() -> None:
    said = "import sys, cwiictl.kubernetes, cwiictl.kubernetes.objects; print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", said], capture_output=True, text=True, check=True
    ).stdout.split()

    assert "cwiictl.kubernetes.objects" in modules
    assert not {"kubernetes", "urllib3", "cryptography"} & set(modules)


def test_where_the_client_is_not_installed_it_is_said_which_extra_brings_it() -> None:
    said = "import sys; sys.modules['kubernetes'] = None; from cwiictl.kubernetes import connect; connect()"
    asked = subprocess.run(
        [sys.executable, "-c", said], capture_output=True, text=True, check=False
    )

    assert "cwiictl.errors.BadInput: the SDK of Kubernetes is not installed" in asked.stderr
