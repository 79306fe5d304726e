"""What all of it is for: a token that the cluster signs is worth an access token, and no other token is."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from cwiictl.sandbox.azure.world import SUBSCRIPTION
from tests.journeys.azure.ground import (
    CONTAINER,
    INGRESS,
    ISSUER,
    MANAGER,
    REGISTRY,
    SUBJECT,
    AzureGround,
)
from tests.journeys.ground import a_key, kid_of, public_pem

MANIFESTS = {
    INGRESS: "out/manifests/openshift-ingress-operator-cloud-credentials-credentials.yaml",
    REGISTRY: "out/manifests/openshift-image-registry-installer-cloud-credentials-credentials.yaml",
}
POD = f"from azure.identity import WorkloadIdentityCredential as Credential; print(Credential().get_token('{MANAGER}/.default').token)"


@pytest.fixture
def made(ground: AzureGround) -> AzureGround:
    ground.keys()
    assert ground.create_all().code == 0
    return ground


def pod(ground: AzureGround, token: str, title: str = INGRESS) -> subprocess.CompletedProcess[str]:
    """With nothing but what the Secret says, as the webhook puts it into a pod's environment, and the token where it is mounted."""
    secret = yaml.safe_load((ground.folder / MANIFESTS[title]).read_text(encoding="utf-8"))[
        "stringData"
    ]
    path: Path = ground.write("token", token)
    environment = {
        name: value
        for name, value in ground.sandbox.environment().items()
        if not name.startswith("AZURE_")
    }
    told = {
        "AZURE_CLIENT_ID": secret["azure_client_id"],
        "AZURE_TENANT_ID": secret["azure_tenant_id"],
        "AZURE_FEDERATED_TOKEN_FILE": str(path),
        "AZURE_AUTHORITY_HOST": "https://login.microsoftonline.com/",
    }
    return subprocess.run(
        [sys.executable, "-c", POD],
        env={**environment, **told},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def claims(access: str) -> dict[str, Any]:
    part = access.split(".")[1]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return found


def refusal(ground: AzureGround, token: str, title: str = INGRESS) -> str:
    done = pod(ground, token, title)
    assert done.returncode == 1
    found = re.search(r"AADSTS\d+(?=:)", done.stderr)
    return found[0] if found else done.stderr


def test_a_token_of_the_cluster_is_worth_an_access_token_of_its_identity(made: AzureGround) -> None:
    done = pod(made, made.token())

    assert done.returncode == 0, done.stderr
    identity = made.arm("GET", made.identity(INGRESS))["properties"]
    told = claims(done.stdout)
    assert (told["appid"], told["oid"], told["aud"].rstrip("/")) == (
        identity["clientId"],
        identity["principalId"],
        MANAGER,
    )


def test_with_that_a_pod_may_do_what_its_identity_was_given_and_no_more(made: AzureGround) -> None:
    access = {"Authorization": f"Bearer {pod(made, made.token()).stdout.strip()}"}

    seen = made.session.get(
        f"{MANAGER}/subscriptions/{SUBSCRIPTION}/resourceGroups/demo?api-version=2025-04-01",
        headers=access,
        timeout=30,
    )
    refused = made.session.get(
        f"{MANAGER}/subscriptions/{SUBSCRIPTION}/resourceGroups/demo-oidc?api-version=2025-04-01",
        headers=access,
        timeout=30,
    )

    assert (seen.status_code, refused.status_code) == (200, 403)


def test_every_service_account_of_a_request_is_its_identity_and_no_other(made: AzureGround) -> None:
    for account in ("registry", "cluster-image-registry-operator"):
        token = made.token(sub=f"system:serviceaccount:openshift-image-registry:{account}")

        assert pod(made, token, REGISTRY).returncode == 0
        assert refusal(made, token, INGRESS) == "AADSTS700213"


def test_every_other_token_is_refused_as_entra_does(made: AzureGround) -> None:
    strangers: list[tuple[dict[str, Any], str]] = [
        ({"aud": ["api://AzureADTokenExchange"]}, "AADSTS700212"),
        ({"aud": ["OpenShift"]}, "AADSTS700212"),
        ({"sub": "system:serviceaccount:default:ingress-operator"}, "AADSTS700213"),
        ({"sub": SUBJECT.replace("ingress-operator:", "Ingress-Operator:")}, "AADSTS7002138"),
        ({"iss": f"https://another.blob.core.windows.net/{CONTAINER}"}, "AADSTS700211"),
        ({"iss": f"{ISSUER}/"}, "AADSTS700211"),
        ({"iat": 1_000_000_000, "exp": 1_000_003_600}, "AADSTS700024"),
        ({"nbf": int(time.time()) + 7200}, "AADSTS700024"),
    ]

    assert [(told, refusal(made, made.token(**told))) for told, _ in strangers] == strangers


def test_another_key_is_refused_whatever_it_calls_itself(made: AzureGround) -> None:
    assert refusal(made, made.token(1)) == "AADSTS7000272"
    assert refusal(made, made.token(1, kid=kid_of(a_key(0)))) == "AADSTS700027"


def test_with_the_key_added_the_tokens_of_both_are_believed_and_replaced_only_the_new_ones(
    made: AzureGround,
) -> None:
    made.write("new.pub", public_pem(a_key(1)))

    made.create_all("--public-key-file", "new.pub", "--add-key")
    assert [pod(made, made.token(number)).returncode for number in (0, 1)] == [0, 0]

    made.create_all("--public-key-file", "new.pub", "--replace-keys")
    assert refusal(made, made.token(0)) == "AADSTS7000272"
    assert pod(made, made.token(1)).returncode == 0


def test_after_delete_no_token_is_believed_any_more(made: AzureGround) -> None:
    assert pod(made, made.token()).returncode == 0
    made.delete("--yes")

    assert refusal(made, made.token()) == "AADSTS700016"
