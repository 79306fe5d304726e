"""Who acts in Google Cloud: one credential for all threads."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import google.auth
from google.auth.credentials import Credentials
from google.auth.transport.requests import Request

from cwiictl.clouds.gcp.stores.errors import told
from cwiictl.errors import BadInput

SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
NOBODY = "who runs this"  # what is said of credentials that do not tell whose they are


class Tokens(Credentials):
    """Whoever needs a token while another asks for one waits for that."""

    def __init__(self, credential: Any, quota: str = "") -> None:
        super().__init__()
        self.credential = credential
        self._quota_project_id = quota or credential.quota_project_id
        self.lock = threading.Lock()
        self.ask = Request()

    @property
    def universe_domain(self) -> str:
        return str(self.credential.universe_domain)

    def refresh(self, request: Any) -> None:  # noqa: ARG002 - all threads would use the caller's connection
        """Asked for when there is none, and when Google refused the one that there is: but only if nobody else has a new one by then."""
        seen = self.token
        with self.lock:
            if self.token is seen:
                self.credential.refresh(self.ask)
                self.expiry = self.credential.expiry
                self.token = self.credential.token

    def headers(self) -> dict[str, str]:
        """What a request must bear."""
        told: dict[str, str] = {}
        self.before_request(self.ask, "", "", told)
        return told


def known(project: str, universe: str) -> tuple[Tokens, str]:
    """The credentials of the environment, and whose they are. Nobody waits for a machine's own to say that it is none."""
    with told("oauth2"):
        with warnings.catch_warnings():  # what it would say of a quota project is settled here
            warnings.simplefilter("ignore")
            credential: Any = google.auth.default(scopes=SCOPES)[0]
        tokens = Tokens(credential, quota(credential, project))
        if tokens.universe_domain != universe:
            raise BadInput(
                f"the Google credentials are of the universe {tokens.universe_domain}, and --universe-domain says {universe}",
                remedy="log in to the right one, or change --universe-domain",
            )
        tokens.headers()
    return tokens, caller(credential)


def quota(credential: Any, project: str) -> str:
    """A person's credentials have no project that could be asked whether an API is on."""
    person = hasattr(credential, "refresh_token") and hasattr(credential, "account")
    return project if person and not credential.quota_project_id else ""


def caller(credential: Any) -> str:
    """Of a workload's federated credentials, what they are exchanged for, or where."""
    for name in ("service_account_email", "account", "_audience"):
        if found := getattr(credential, name, None):
            return str(found)
    return NOBODY
