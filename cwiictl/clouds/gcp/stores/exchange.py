"""The exchange of a token for Google's, and to act as a service account with that, as Google's SDKs do it in a pod. What comes of it is forgotten at once."""

from __future__ import annotations

import json
from typing import Any

import requests
from google.auth.exceptions import OAuthError, RefreshError
from google.auth.identity_pool import Credentials, SubjectTokenSupplier
from google.auth.transport.requests import Request
from requests.adapters import HTTPAdapter

from cwiictl.clouds.gcp.belief import Way
from cwiictl.clouds.gcp.stores.errors import told
from cwiictl.clouds.gcp.stores.tokens import SCOPES
from cwiictl.clouds.gcp.universes import Universe
from cwiictl.errors import NotYet
from cwiictl.verify.finding import Refusal

JWT = "urn:ietf:params:oauth:token-type:jwt"
SHORTEST = 600  # seconds
UNREAD = "see that Google can read the issuer's documents: no network rule, bot filter or missing intermediate certificate may stand between"
CLOCK = "set the clocks of the cluster's machines by NTP"
REMEDIES = (
    ("invalid_target", "see that pool and provider are there and on: create-all mends it"),
    (
        "does not match the expected audience",
        "have the provider take this audience: create-all mends it",
    ),
    (
        "does not match the expected ones",
        "have the provider believe this issuer: create-all mends it",
    ),
    ("Error connecting", UNREAD),
    ("signature", "publish the cluster's key with create-all --add-key"),
    ("expired", CLOCK),
    ("not valid yet", CLOCK),
    ("attribute condition", "take the condition off the provider: create-all does"),
    (
        "getAccessToken",
        "let the ServiceAccount act as the service account: create-all mends it; Google may take some minutes to hear of it",
    ),
    ("disabled", "turn the service account on again: create-all does"),
    ("Not found", "make the service account with create-all"),
)


class _Supplied(SubjectTokenSupplier):
    def __init__(self, token: str) -> None:
        self.token = token

    def get_subject_token(self, context: Any, request: Any) -> str:  # noqa: ARG002 - Google's signature
        return self.token


class Exchanges:
    def __init__(self, where: Universe, width: int) -> None:
        self.where, self.session = where, requests.Session()
        self.session.mount("https://", HTTPAdapter(pool_connections=width, pool_maxsize=width))

    def close(self) -> None:
        self.session.close()

    @told("sts")
    def exchange(self, way: Way, token: str) -> Refusal | None:
        credentials = Credentials(
            audience=way.audience,
            subject_token_type=JWT,
            token_url=f"https://{self.where.host('sts')}/v1/token",
            subject_token_supplier=_Supplied(token),
            scopes=SCOPES,
            universe_domain=self.where.domain,
            **(self._acting(way.email) if way.email else {}),
        )
        try:
            credentials.refresh(Request(self.session))
        except (OAuthError, RefreshError) as e:
            return _refusal(e)
        return None

    def _acting(self, email: str) -> dict[str, Any]:
        url = f"https://{self.where.host('iamcredentials')}/v1/projects/-/serviceAccounts/{email}:generateAccessToken"
        return {
            "service_account_impersonation_url": url,
            "service_account_impersonation_options": {"token_lifetime_seconds": SHORTEST},
        }


def _refusal(e: OAuthError | RefreshError) -> Refusal:
    """Of what was answered, only its own sentence: SDKs hand on whole answers."""
    body = _body(e)
    error: Any = body.get("error")
    if isinstance(error, dict) and (error.get("code") == 429 or int(error.get("code") or 0) >= 500):
        raise NotYet(
            f"Google is not ready to take a token: {error.get('message', '')}",
            remedy="run again later",
        ) from None
    text = (
        str(error.get("message", ""))
        if isinstance(error, dict)
        else f"{error}: {body.get('error_description', '')}"
        if error
        else ""
    )
    if not text:
        raise NotYet(
            "Google's answer to a token is not understood", remedy="run again later"
        ) from None
    return Refusal(
        f"Google does not take the token: {' '.join(text.split()).rstrip('.')}",
        next((do for word, do in REMEDIES if word in text), "mend what it says"),
    )


def _body(e: Exception) -> dict[str, Any]:
    try:
        found: Any = json.loads(str(e.args[1]))
    except (IndexError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
