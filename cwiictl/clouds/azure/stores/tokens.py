"""Who acts in Azure: one credential for all threads, and what its tokens say of who that is."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from azure.core.credentials import AccessToken
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError, ServiceRequestError

from cwiictl.clouds.azure.stores.errors import LOGIN, answered, status, unreachable
from cwiictl.errors import BadInput, Problem
from cwiictl.issuer.token import said

SOON = 300.0  # seconds: a token that ends so soon is not begun with
SAID = "AADSTS"  # what Entra's own errors begin with
ELSEWHERE = "additionally_allowed_tenants"  # what the SDK says of when credentials are of one tenant, and another is asked for


class Credential(Protocol):
    def get_token(self, *scopes: str, **asked: Any) -> AccessToken: ...


@dataclass(frozen=True)
class Caller:
    """`id` is who that is to role assignments."""

    id: str
    kind: str  # User or ServicePrincipal, as role assignments call it
    name: str
    tenant: str

    @classmethod
    def read(cls, token: str) -> Caller:
        """Nobody's word is taken for it: Azure judges the token, and we only want to know whose it is."""
        claims = _claims(token)
        name = next(
            (
                str(claims[key])
                for key in ("upn", "unique_name", "app_displayname", "appid")
                if claims.get(key)
            ),
            "",
        )
        person = claims.get("idtyp") == "user" or "scp" in claims
        return cls(
            str(claims.get("oid", "")),
            "User" if person else "ServicePrincipal",
            name or str(claims.get("oid", "")),
            str(claims.get("tid", "")),
        )


class Tokens:
    """Whoever needs a token while another asks for the same one waits for that."""

    def __init__(self, credential: Credential, tenant: str = "") -> None:
        self.credential = credential
        self.asked = {"tenant_id": tenant} if tenant else {}
        self.lock = threading.Lock()
        self.kept: dict[tuple[str, ...], AccessToken] = {}

    def get_token(self, *scopes: str, **asked: Any) -> AccessToken:
        """A claim that Azure challenges us with wants another token than the one we have."""
        with self.lock:
            kept = self.kept.get(scopes)
            if kept is None or kept.expires_on < time.time() + SOON or asked.get("claims"):
                kept = self.kept[scopes] = self._new(
                    *scopes,
                    **{
                        **self.asked,
                        **({"claims": asked["claims"]} if asked.get("claims") else {}),
                    },
                )
            return kept

    def _new(self, *scopes: str, **asked: Any) -> AccessToken:
        try:
            return self.credential.get_token(*scopes, **asked)
        except ClientAuthenticationError as e:
            raise refused(e, asked.get("tenant_id", "")) from e
        except HttpResponseError as e:
            raise answered("Entra", e) from e
        except ServiceRequestError as e:
            raise unreachable(e) from e
        except ValueError as e:
            raise BadInput(f"the Azure credentials are not whole: {e}", remedy=LOGIN) from e


def _claims(token: str) -> Mapping[str, Any]:
    told = said(token)
    if told is None or "oid" not in told.claims:
        raise BadInput("the token of the Azure credentials does not say whose it is", remedy=LOGIN)
    return told.claims


def refused(e: ClientAuthenticationError, tenant: str = "") -> Problem:
    if status(e) == 429 or status(e) >= 500:
        return answered("Entra", e)
    text = " ".join(e.message.split())
    if SAID in text:
        return BadInput(
            f"Azure does not accept the credentials: {SAID}{text.partition(SAID)[2].partition(' Trace ID')[0]}",
            remedy=LOGIN,
        )
    if tenant and ELSEWHERE in text:
        return BadInput(
            f"the Azure credentials are not of the tenant {tenant} that --tenant-id says",
            remedy="log in to the right tenant, or change the pin",
        )
    return BadInput("there are no Azure credentials to act with", remedy=LOGIN)
