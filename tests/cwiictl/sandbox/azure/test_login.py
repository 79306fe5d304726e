"""The child's environment: Azure's SDKs find the sandbox's credentials in it, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from cwiictl.sandbox.azure.world import CLIENT, SECRET, SUBSCRIPTION, TENANT
from cwiictl.sandbox.environment import dangerous
from tests.cwiictl.sandbox.azure.tenant import WORKLOAD, Tenant, assertion
from tests.cwiictl.sandbox.visitor import key_set

SCRIPT = """
import jwt, sys
from azure.identity import DefaultAzureCredential

text = DefaultAzureCredential().get_token("https://management.azure.com/.default").token
print(jwt.decode(text, options={"verify_signature": False})["appid"])
"""


def run(environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """A program that knows nothing of the sandbox."""
    return subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=dict(environment),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_default_credential_is_the_operator(tenant: Tenant) -> None:
    done = run(tenant.sandbox.environment())
    assert done.stdout.strip() == CLIENT, done.stderr


def test_without_the_secret_it_is_the_workload_of_the_token_file(
    tenant: Tenant, tmp_path: Path
) -> None:
    tenant.publish(key_set(k1=0))
    tenant.identity()
    (tmp_path / "token").write_text(assertion(), encoding="ascii")
    changed = {
        **tenant.sandbox.environment(),
        "AZURE_CLIENT_ID": WORKLOAD,
        "AZURE_FEDERATED_TOKEN_FILE": str(tmp_path / "token"),
    }
    del changed["AZURE_CLIENT_SECRET"]
    done = run(changed)
    assert done.stdout.strip() == WORKLOAD, done.stderr


def test_without_any_it_looks_at_no_tools_cache_and_gives_up(
    tenant: Tenant, tmp_path: Path
) -> None:
    """A planted `az` would gladly say who is logged in here."""
    az = tmp_path / "az"
    az.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\n", encoding="ascii")
    az.chmod(0o755)
    changed = {
        **tenant.sandbox.environment(),
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
    }
    del changed["AZURE_CLIENT_SECRET"]
    start = time.monotonic()
    done = run(changed)
    assert done.returncode != 0
    assert "DefaultAzureCredential failed to retrieve a token" in done.stderr
    assert not (tmp_path / "asked").exists()
    assert time.monotonic() - start < 60
    assert {seen.host for seen in tenant.sandbox.record} <= {
        "169.254.169.254"
    }  # and the door has refused it


def test_both_families_of_tools_are_told_who_they_are(tenant: Tenant) -> None:
    child = tenant.sandbox.environment()
    for prefix in ("AZURE", "ARM"):
        told = [
            child[f"{prefix}_{name}"]
            for name in ("TENANT_ID", "CLIENT_ID", "CLIENT_SECRET", "SUBSCRIPTION_ID")
        ]
        assert told == [TENANT, CLIENT, SECRET, SUBSCRIPTION]
    assert set(dangerous(child)) <= set(tenant.sandbox.variables())
