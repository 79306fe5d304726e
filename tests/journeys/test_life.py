"""One life of a cluster's trust, from nothing to nothing. In the sandbox; and with `scripts/test --live CLOUD` in the caller's own account."""

from __future__ import annotations

import base64
import json
import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from cwiictl.issuer.stores.mint import Mint
from cwiictl.sandbox import Sandbox
from tests.examples import two_azure_requests, two_gcp_requests, two_requests

LIVE = os.environ.get("CWIICTL_LIVE", "")
SUBJECT = ("openshift-ingress-operator", "ingress-operator")  # of the first request, in every cloud
CREDENTIALS = "out/manifests/openshift-ingress-operator-cloud-credentials-credentials.yaml"


@dataclass(frozen=True)
class Place:
    """An account, real or not, and a folder to work in."""

    folder: Path
    environment: Mapping[str, str]
    where: tuple[str, ...]

    def cwiictl(self, *arguments: str) -> tuple[int, Any]:
        done = self._run(
            ["-m", "cwiictl", arguments[0], *self.where, *arguments[1:], "--output", "json"],
            self.environment,
        )
        return done.returncode, json.loads(done.stdout)

    def create(self, command: str = "create-all") -> tuple[int, set[str]]:
        code, told = self.cwiictl(
            command, "--credentials-requests-dir", "requests", "--output-dir", "out"
        )
        return code, {thing["condition"] for thing in told["things"]}

    def python(self, code: str, *arguments: str, **variables: str) -> str:
        known = {name: value for name, value in {**self.environment, **variables}.items() if value}
        done = self._run(["-c", code, *arguments], known)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def told(self) -> dict[str, str]:
        """What the first workload is told, in its Secret."""
        secret = yaml.safe_load((self.folder / CREDENTIALS).read_text())
        return {
            **secret.get("stringData", {}),
            **{
                key: base64.b64decode(coded).decode()
                for key, coded in secret.get("data", {}).items()
            },
        }

    def token(self) -> str:
        """As a pod of the first workload would find it, in a file."""
        issuer = yaml.safe_load(
            (self.folder / "out/manifests/cluster-authentication-02-config.yaml").read_text()
        )["spec"]["serviceAccountIssuer"]
        path = self.folder / "token"
        key = (self.folder / "out/serviceaccount-signer.private").read_bytes()
        path.write_text(Mint(key, "the private key", issuer).token(*SUBJECT, "openshift", 3600))
        return str(path)

    def _run(
        self, arguments: list[str], environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )


# --- what is different from cloud to cloud ---

SPOIL_AWS = "import boto3, sys; boto3.client('iam').delete_role_policy(RoleName=sys.argv[1], PolicyName=sys.argv[1])"
USE_AWS = "import boto3; print(boto3.client('sts').get_caller_identity()['Arn'])"
SPOIL_AZURE = """
import sys
from azure.identity import DefaultAzureCredential
from azure.mgmt.msi import ManagedServiceIdentityClient
identities = ManagedServiceIdentityClient(DefaultAzureCredential(), sys.argv[1])
found = next(one for one in identities.user_assigned_identities.list_by_subscription() if one.client_id == sys.argv[2])
group = found.id.split("/")[4]
(credential,) = identities.federated_identity_credentials.list(group, found.name)
identities.federated_identity_credentials.delete(group, found.name, credential.name)
"""
USE_AZURE = """
import sys
from azure.identity import WorkloadIdentityCredential
credential = WorkloadIdentityCredential(tenant_id=sys.argv[1], client_id=sys.argv[2], token_file_path=sys.argv[3])
print(bool(credential.get_token("https://management.azure.com/.default").token))
"""
SPOIL_GCP = """
import sys
import google.auth
from google.auth.transport.requests import AuthorizedSession
credentials, _ = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
account = f"https://iam.googleapis.com/v1/projects/-/serviceAccounts/{sys.argv[1]}"
AuthorizedSession(credentials).post(f"{account}:setIamPolicy", json={"policy": {"version": 3, "bindings": []}}).raise_for_status()
"""
USE_GCP = """
import json, sys
from google.auth import identity_pool
from google.auth.transport.requests import Request
told = json.loads(sys.argv[1])
told["credential_source"]["file"] = sys.argv[2]
credentials = identity_pool.Credentials.from_info(told, scopes=["https://www.googleapis.com/auth/cloud-platform"])
credentials.refresh(Request())
print(bool(credentials.token))
"""


def _role(place: Place) -> str:
    return next(
        line.partition(" = ")[2]
        for line in place.told()["credentials"].splitlines()
        if line.startswith("role_arn")
    )


def _spoil_aws(place: Place) -> None:
    place.python(SPOIL_AWS, _role(place).rpartition("/")[2])


def _use_aws(place: Place) -> bool:
    nothing = {
        "AWS_ACCESS_KEY_ID": "",
        "AWS_SECRET_ACCESS_KEY": "",
        "AWS_SESSION_TOKEN": "",
        "AWS_PROFILE": "",
    }
    region = place.where[-1]
    said = place.python(
        USE_AWS,
        **nothing,
        AWS_ROLE_ARN=_role(place),
        AWS_WEB_IDENTITY_TOKEN_FILE=place.token(),
        AWS_REGION=region,
    )
    return f":assumed-role/{_role(place).rpartition('/')[2]}/" in said


def _spoil_azure(place: Place) -> None:
    place.python(
        SPOIL_AZURE, place.told()["azure_subscription_id"], place.told()["azure_client_id"]
    )


def _use_azure(place: Place) -> bool:
    return (
        place.python(
            USE_AZURE,
            place.told()["azure_tenant_id"],
            place.told()["azure_client_id"],
            place.token(),
        )
        == "True"
    )


def _spoil_gcp(place: Place) -> None:
    acting: str = json.loads(place.told()["service_account.json"])[
        "service_account_impersonation_url"
    ]
    place.python(SPOIL_GCP, acting.rpartition("/")[2].partition(":")[0])


def _use_gcp(place: Place) -> bool:
    return place.python(USE_GCP, place.told()["service_account.json"], place.token()) == "True"


@dataclass(frozen=True)
class Kind:
    requests: Callable[[], Mapping[str, str]]
    where: Callable[[Mapping[str, str]], tuple[str, ...]]
    spoil: Callable[[Place], None]
    use: Callable[[Place], bool]
    away: tuple[str, ...] = ()


KINDS = {
    "aws": Kind(
        two_requests,
        lambda told: ("--region", told.get("AWS_REGION", "us-east-1")),
        _spoil_aws,
        _use_aws,
    ),
    "azure": Kind(
        two_azure_requests,
        lambda told: (
            "--subscription-id",
            told["AZURE_SUBSCRIPTION_ID"],
            "--region",
            told.get("AZURE_REGION", "eastus"),
        ),
        _spoil_azure,
        _use_azure,
        ("--delete-oidc-resource-group",),
    ),
    "gcp": Kind(
        two_gcp_requests,
        lambda told: ("--project", told["GOOGLE_CLOUD_PROJECT"]),
        _spoil_gcp,
        _use_gcp,
        ("--delete-shared-roles",),
    ),
}


@pytest.fixture(params=[LIVE] if LIVE else list(KINDS))
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Place, Kind]]:
    """Whatever happens, nothing is left in it."""
    kind = KINDS[request.param]
    (tmp_path / "requests").mkdir()
    for name, text in kind.requests().items():
        (tmp_path / "requests" / name).write_text(text)
    with ExitStack() as stack:
        environment = dict(os.environ) if LIVE else stack.enter_context(Sandbox()).environment()
        here = Place(
            tmp_path,
            environment,
            (
                "--cloud",
                request.param,
                "--name",
                f"cwii-{secrets.token_hex(4)}",
                *kind.where(environment),
            ),
        )
        stack.callback(here.cwiictl, "delete", "--yes", *kind.away)
        yield here, kind


def test_a_cluster_is_trusted_repaired_used_and_forgotten(place: tuple[Place, Kind]) -> None:
    here, kind = place
    code, conditions = here.create()
    assert (code, conditions - {"updated", "given back"}) == (0, {"created", "as wanted"})
    assert here.create() == (0, {"as wanted"})
    assert here.create("status") == (0, {"as wanted"})

    kind.spoil(here)
    code, conditions = here.create("status")
    assert (code, "drifted" in conditions) == (3, True)
    assert here.create()[0] == 0
    assert kind.use(here)

    assert here.cwiictl("delete", "--yes", *kind.away)[0] == 0
    assert here.cwiictl("delete", "--dry-run", *kind.away)[1]["things"] == []
