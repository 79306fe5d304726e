"""The operator's key: how it is found, and what it is good for."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jwt
import pytest
from google.auth.exceptions import RefreshError

from cwiictl.sandbox.gcp.world import OPERATOR, PROJECT
from tests.cwiictl.sandbox.gcp.owner import STORAGE, Begin, Owner

TOKEN = "https://oauth2.googleapis.com/token"
BUCKETS = f"{STORAGE}?project={PROJECT}"
CHILD = """
import google.auth
from google.cloud import storage
credentials, project = google.auth.default()
storage.Client().create_bucket("cwii-oidc")
print(project, credentials.service_account_email, [bucket.name for bucket in storage.Client().list_buckets()])
"""


def signed(owner: Owner, **claims: Any) -> str:
    now = int(time.time())
    told = {"iss": OPERATOR, "aud": TOKEN, "scope": "x", "iat": now, "exp": now + 3600, **claims}
    kept = {name: value for name, value in told.items() if value is not None}
    return jwt.encode(
        kept,
        owner.key["private_key"],
        algorithm="RS256",
        headers={"kid": owner.key["private_key_id"]},
    )


def ask(owner: Owner, assertion: str) -> tuple[int, dict[str, Any]]:
    answer = owner.plain.post(
        TOKEN,
        data={"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion},
    )
    return answer.status_code, answer.json()


def test_a_child_is_the_operator(owner: Owner) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        env=owner.sandbox.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.strip() == f"{PROJECT} {OPERATOR} ['cwii-oidc']", done.stderr


def test_the_key_is_its_owners_alone_and_another_in_every_sandbox(begin: Begin) -> None:
    owner = begin()
    file = Path(owner.sandbox.environment()["GOOGLE_APPLICATION_CREDENTIALS"])
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text()) == owner.key
    assert Path(owner.sandbox.environment()["CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE"]) == file


def test_the_key_opens_google_cloud(owner: Owner) -> None:
    assert ask(owner, signed(owner))[1]["expires_in"] == 3599
    assert owner.session.get(BUCKETS).status_code == 200


@pytest.mark.parametrize(
    ("claims", "error", "words"),
    [
        (
            {"iss": f"nobody@{PROJECT}.iam.gserviceaccount.com"},
            "invalid_grant",
            "Invalid grant: account not found",
        ),
        (
            {"exp": 1},
            "invalid_grant",
            "Invalid JWT: Token must be a short-lived token (60 minutes)",
        ),
        (
            {"exp": int(time.time()) + 7200},
            "invalid_grant",
            "Invalid JWT: Token must be a short-lived token (60 minutes)",
        ),
        ({"aud": "https://elsewhere"}, "invalid_grant", "Invalid JWT: Failed audience check."),
        ({"scope": None}, "invalid_scope", "Invalid OAuth scope or ID token audience provided."),
    ],
)
def test_a_wish_that_is_signed_but_wrong_is_refused(
    owner: Owner, claims: dict[str, Any], error: str, words: str
) -> None:
    status, told = ask(owner, signed(owner, **claims))
    assert (status, told["error"]) == (400, error)
    assert told["error_description"].startswith(words)


def test_another_key_is_none(begin: Begin, owner: Owner) -> None:
    """A key file of yesterday's sandbox opens nothing today."""
    del begin
    from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: PLC0415 - for this test alone

    owner.key  # noqa: B018 - it is there
    token = jwt.encode(
        {"iss": OPERATOR, "aud": TOKEN}, rsa.generate_private_key(65537, 2048), algorithm="RS256"
    )
    assert ask(owner, token) == (
        400,
        {"error": "invalid_grant", "error_description": "Invalid JWT Signature."},
    )


def test_a_token_that_the_client_signs_itself_is_good_for_every_api(owner: Owner) -> None:
    """As Google's newer SDKs do: nobody is asked for a token."""
    token = signed(owner, sub=OPERATOR, aud="https://storage.googleapis.com/", scope=None)
    assert owner.ask("GET", BUCKETS, headers={"Authorization": f"Bearer {token}"}).status == 200
    late = signed(owner, sub=OPERATOR, aud="https://storage.googleapis.com/", iat=1, exp=2)
    assert owner.ask("GET", BUCKETS, headers={"Authorization": f"Bearer {late}"}).status == 401


def test_a_token_ends_after_an_hour(begin: Begin) -> None:
    now = [time.time()]
    owner = begin(clock=lambda: now[0])
    headers = owner.issue(OPERATOR)
    assert owner.ask("GET", BUCKETS, headers=headers).status == 200
    now[0] += 601
    assert owner.ask("GET", BUCKETS, headers=headers).status == 401


def test_a_token_outlives_what_is_emptied(owner: Owner) -> None:
    headers = owner.issue(OPERATOR)
    owner.sandbox.reset()
    assert owner.ask("GET", BUCKETS, headers=headers).status == 200


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({}, "CREDENTIALS_MISSING"),
        ({"Authorization": "Bearer ya29.made-up"}, "ACCESS_TOKEN_TYPE_UNSUPPORTED"),
        ({"Authorization": "Basic eDp5"}, "CREDENTIALS_MISSING"),
    ],
)
def test_who_does_not_say_who_they_are_is_asked(
    owner: Owner, headers: dict[str, str], reason: str
) -> None:
    answer = owner.ask(
        "GET", f"https://cloudresourcemanager.googleapis.com/v3/projects/{PROJECT}", headers=headers
    )
    error = json.loads(answer.body)["error"]
    assert (answer.status, error["status"], error["details"][0]["reason"]) == (
        401,
        "UNAUTHENTICATED",
        reason,
    )


def test_expired_credentials_get_no_token(owner: Owner) -> None:
    owner.sandbox.faults.expired = True
    with pytest.raises(RefreshError, match="invalid_grant"):
        owner.refresh(owner.credentials)


def test_the_token_service_fails_in_its_own_words(begin: Begin) -> None:
    owner = begin(failures=1.0)
    answer = owner.plain.post(TOKEN)
    assert answer.status_code in {429, 500, 503}
    assert set(answer.json()) == {"error", "error_description"}


def test_the_other_universe_has_accounts_and_tokens_of_its_own(owner: Owner) -> None:
    headers = owner.issue(OPERATOR)
    url = BUCKETS.replace("googleapis.com", "apis-sandbox.goog")
    assert owner.ask("GET", url, headers=headers).status == 401
