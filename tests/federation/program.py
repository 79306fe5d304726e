"""What runs in a pod: each cloud's SDK, as it is, with what the webhook and the kubelet gave to the pod, and nothing else.

A round asks every cloud that this pod has an identity in, anew. One line of JSON for each: who we are there and what a call is answered, or why not.
"""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
import google.auth
import requests
from azure.identity import DefaultAzureCredential, WorkloadIdentityCredential
from google.auth.transport.requests import AuthorizedSession

TIMEOUT = 30
# Of these the SDKs tell too little of their types.
SESSION: Any = boto3.Session
GOOGLE: Any = google.auth


def aws() -> dict[str, object]:
    found = (
        SESSION().client("sts").get_caller_identity()
    )  # nothing is kept from one session to the next
    return {"who": found["Arn"], "answer": 200}


def azure() -> dict[str, object]:
    """As its users do it, and by the credential that is made for pods: where these two disagree, something else was found."""
    with WorkloadIdentityCredential() as ours, DefaultAzureCredential() as any_of_them:
        token = ours.get_token("https://management.azure.com/.default").token
        any_of_them.get_token("https://management.azure.com/.default")
    answer = requests.get(
        os.environ["ASK_AZURE"], headers={"Authorization": f"Bearer {token}"}, timeout=TIMEOUT
    )
    return {"who": os.environ["AZURE_CLIENT_ID"], "answer": answer.status_code}


def gcp() -> dict[str, object]:
    credentials, _ = GOOGLE.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
    with AuthorizedSession(credentials) as session:
        answer = session.post(
            os.environ["ASK_GCP"],
            json={"permissions": ["dns.changes.create", "storage.buckets.create"]},
            timeout=TIMEOUT,
        )
    return {
        "who": getattr(credentials, "service_account_email", "") or "itself",
        "answer": answer.status_code,
        "may": answer.json().get("permissions", []),
    }


ALL: dict[str, tuple[str, Callable[[], dict[str, object]]]] = {
    "aws": ("AWS_WEB_IDENTITY_TOKEN_FILE", aws),
    "azure": ("AZURE_FEDERATED_TOKEN_FILE", azure),
    "gcp": ("GOOGLE_APPLICATION_CREDENTIALS", gcp),
}


def token(told: str) -> dict[str, object]:
    """Which key has signed what the kubelet gives us, and when; it may be another a moment later."""
    path = Path(os.environ[told])
    text = (
        Path(json.loads(path.read_text())["credential_source"]["file"]).read_text()
        if path.suffix == ".json"
        else path.read_text()
    )
    head, body = (json.loads(base64.urlsafe_b64decode(part + "==")) for part in text.split(".")[:2])
    return {"kid": head["kid"], "issued": body["iat"]}


def asked(cloud: str, told: str, ask: Callable[[], dict[str, object]]) -> dict[str, object]:
    said: dict[str, object] = {"cloud": cloud}
    try:
        said |= token(told)
        return said | ask()
    except Exception as e:  # noqa: BLE001 - told as the SDK tells it
        return said | {"error": f"{type(e).__name__}: {e}"}


def main() -> None:
    rounds, pause = int(os.environ.get("ROUNDS", "1")), float(os.environ.get("PAUSE", "1"))
    for number in range(rounds):
        if number:
            time.sleep(pause)
        for cloud, (told, ask) in ALL.items():
            if told in os.environ:
                print(
                    json.dumps({"round": number, "at": time.time(), **asked(cloud, told, ask)}),
                    flush=True,
                )


if __name__ == "__main__":
    main()
