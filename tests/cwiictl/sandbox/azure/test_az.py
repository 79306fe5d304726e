"""Microsoft's own `az`, as it comes from the package index, in the environment of a child of the sandbox: it logs in and never learns where it is."""

from __future__ import annotations

import fcntl
import filecmp
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cwiictl.sandbox.azure.world import CLIENT, SECRET, TENANT
from tests.cwiictl.sandbox.azure.tenant import Tenant

Begin = Callable[..., Tenant]
WANTED = Path(__file__).parent / "az" / "requirements.txt"
TOOLS = Path(__file__).parents[4] / ".tools"
HOME = TOOLS / "az"
UV = Path(sys.executable).parent / "uv"
TRUST = [
    "--issuer",
    "https://issuer.example.org",
    "--subject",
    "system:serviceaccount:n:s",
    "--audiences",
    "openshift",
]

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]  # az is installed first


def install() -> None:
    """Whoever comes second waits, and then finds nothing to do."""
    TOOLS.mkdir(exist_ok=True)
    with (TOOLS / "az.turn").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        done = HOME / "done"
        if done.exists() and filecmp.cmp(done, WANTED, shallow=False):
            return
        shutil.rmtree(HOME, ignore_errors=True)
        subprocess.run(
            [UV, "venv", "--quiet", "--python", sys.executable, HOME], check=True, timeout=60
        )
        subprocess.run(
            [UV, "pip", "install", "--quiet", "--python", HOME / "bin" / "python", "-r", WANTED],
            check=True,
            timeout=280,
        )
        shutil.copy(WANTED, done)


@dataclass(frozen=True)
class Az:
    environment: dict[str, str]

    def __call__(self, line: str, *more: str) -> Any:
        command = [
            str(HOME / "bin" / "az"),
            *line.split(),
            *more,
            "--output",
            "json",
            "--only-show-errors",
        ]
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, f"az {line}: {done.stderr}"
        return json.loads(done.stdout) if done.stdout.strip() else None


@pytest.fixture
def az(begin: Begin) -> Az:
    install()
    tenant = begin(deploy=1.0)
    found = Az(tenant.sandbox.environment())
    found("login --service-principal", "-u", CLIENT, "-p", SECRET, "--tenant", TENANT)
    return found


def test_az_makes_lists_and_takes_down_a_group_an_identity_an_account_and_a_role(az: Az) -> None:
    az("group create -n g -l westeurope")
    one = az("identity create -g g -n one")
    az("identity federated-credential create -g g --identity-name one -n fic", *TRUST)
    account = az(
        "storage account create -g g -n cwiioidc --allow-blob-public-access true --min-tls-version TLS1_2"
    )
    az("storage container-rm create -g g --storage-account cwiioidc -n oidc --public-access blob")
    who = [
        "--assignee-object-id",
        one["principalId"],
        "--assignee-principal-type",
        "ServicePrincipal",
    ]
    az(
        "role assignment create",
        *who,
        "--role",
        "Storage Blob Data Reader",
        "--scope",
        account["id"],
    )

    assert [row["name"] for row in az("group list")] == ["g"]
    assert [row["name"] for row in az("identity list -g g")] == ["one"]
    assert [
        row["subject"] for row in az("identity federated-credential list -g g --identity-name one")
    ] == ["system:serviceaccount:n:s"]
    assert [row["minimumTlsVersion"] for row in az("storage account list")] == ["TLS1_2"]
    assert [
        row["publicAccess"]
        for row in az("storage container-rm list -g g --storage-account cwiioidc")
    ] == ["Blob"]
    roles = az("role assignment list", "--scope", account["id"])
    assert [(row["principalName"], row["roleDefinitionName"]) for row in roles] == [
        (one["clientId"], "Storage Blob Data Reader")
    ]

    az("role assignment delete", "--assignee", one["principalId"], "--scope", account["id"])
    az("storage container-rm delete -g g --storage-account cwiioidc -n oidc --yes")
    az("storage account delete -g g -n cwiioidc --yes")
    az("identity federated-credential delete -g g --identity-name one -n fic --yes")
    az("identity delete -g g -n one")
    assert az("resource list -g g") == []
    az("group delete -n g --yes")
    assert az("group exists -n g") is False


def test_az_writes_blobs_with_a_role_and_not_without(az: Az, tmp_path: Path) -> None:
    az("group create -n g -l westeurope")
    account = az("storage account create -g g -n cwiioidc")
    az("storage container create --account-name cwiioidc --auth-mode login -n oidc")
    (tmp_path / "keys.json").write_text("{}")
    upload = [
        "storage blob upload --account-name cwiioidc --auth-mode login -c oidc -n openid/v1/jwks -f",
        str(tmp_path / "keys.json"),
    ]
    with pytest.raises(AssertionError, match="You do not have the required permissions"):
        az(*upload)
    az(
        "role assignment create",
        "--assignee",
        CLIENT,
        "--role",
        "Storage Blob Data Contributor",
        "--scope",
        account["id"],
    )
    az(*upload)
    found = az("storage blob list --account-name cwiioidc --auth-mode login -c oidc")
    assert [row["name"] for row in found] == ["openid/v1/jwks"]
