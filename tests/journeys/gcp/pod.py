"""A pod of the cluster: google-auth as it is, with nothing but what the Secret says, and the token where it is mounted.

The SDK is Any here: it tells too little of its types.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import google.auth.transport.requests
import pytest
import yaml
from google.auth import identity_pool
from google.auth.exceptions import GoogleAuthError

from cwiictl.sandbox.gcp.world import PROJECT
from tests.journeys.gcp.ground import GcpGround

REQUESTS: Any = google.auth.transport.requests
CREDENTIALS: Any = identity_pool.Credentials
SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]
FILES = {
    "ingress": "out/manifests/openshift-ingress-operator-cloud-credentials-credentials.yaml",
    "registry": "out/manifests/openshift-image-registry-installer-cloud-credentials-credentials.yaml",
}


def told(ground: GcpGround, file: str = "ingress") -> dict[str, Any]:
    """What is in one of the two requests' Secrets; or in a file, by its path."""
    text = (ground.folder / FILES.get(file, file)).read_bytes()
    found: dict[str, Any] = json.loads(
        text
        if file.endswith(".json")
        else base64.b64decode(yaml.safe_load(text)["data"]["service_account.json"])
    )
    return found


def access(ground: GcpGround, token: str, file: str = "ingress") -> str:
    """The access token that this one is worth."""
    source = {"file": str(ground.write("pod/token", token)), "format": {"type": "text"}}
    path = ground.write(
        "pod/credentials.json", json.dumps({**told(ground, file), "credential_source": source})
    )
    credentials = CREDENTIALS.from_file(str(path), scopes=SCOPES)
    credentials.refresh(REQUESTS.Request(ground.session))
    return str(credentials.token)


def refusal(ground: GcpGround, token: str, file: str = "ingress") -> str:
    """Why it is worth none, as google-auth tells it."""
    with pytest.raises(GoogleAuthError) as e:
        access(ground, token, file)
    return " ".join(map(str, e.value.args))


def may(ground: GcpGround, bearer: str, *permissions: str, project: str = PROJECT) -> set[str]:
    """What of this the bearer of an access token may do, as Google itself says."""
    url = f"https://cloudresourcemanager.googleapis.com/v3/projects/{project}:testIamPermissions"
    answer = ground.session.post(
        url,
        json={"permissions": permissions},
        headers={"Authorization": f"Bearer {bearer}"},
        timeout=30,
    )
    assert answer.ok, answer.text
    return set(answer.json().get("permissions", ()))
