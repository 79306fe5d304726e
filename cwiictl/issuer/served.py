"""What a cluster that exists serves of itself: who issues its tokens, with which keys, and for whom. Tokens are read here, not believed."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from cwiictl import oidc
from cwiictl.errors import BadInput
from cwiictl.issuer.token import Said, said
from cwiictl.oidc import VerificationKey

DISCOVERY = "/.well-known/openid-configuration"
JWKS = "/openid/v1/jwks"
INSIDE = (
    ".svc",
    ".local",
    ".internal",
    ".localhost",
    ".lan",
    ".home.arpa",
)  # how names end that no public DNS has


@dataclass(frozen=True)
class Served:
    issuer: str
    key: VerificationKey  # that signs
    others: tuple[VerificationKey, ...] = ()  # that are taken, too
    audiences: tuple[
        str, ...
    ] = ()  # for whom tokens are that are asked for without one, if that is known

    @property
    def inside(self) -> bool:
        """Whether its name alone says that no cloud could read it."""
        host = urlsplit(self.issuer).hostname or ""
        return (
            urlsplit(self.issuer).scheme != "https"
            or "." not in host
            or host.endswith(INSIDE)
            or _is_address(host)
        )


def served(discovery: Mapping[str, Any], jwks: bytes, token: str = "") -> Served:
    """`token` is one of the cluster's own, if we may have one: it says which key signs now."""
    told = said(token) if token else Said({}, {})
    if told is None:
        raise BadInput(
            "the cluster's API server gives tokens that cannot be read",
            remedy="see what kubectl create token default shows",
        )
    keys = oidc.served_keys(jwks, JWKS)
    issuer = str(told.claims.get("iss") or discovery.get("issuer") or "")
    if not issuer or not keys:
        raise BadInput(
            "the cluster's API server does not tell its issuer and keys",
            remedy="see what kubectl get --raw /openid/v1/jwks shows",
        )
    signing = [key for key in keys if key.kid == told.kid] if told.kid else list(keys)
    if not signing:
        raise BadInput(
            "the cluster signs with a key that it does not serve",
            remedy="wait until all its API servers have the same keys, and run again",
        )
    if len(signing) > 1:
        raise BadInput(
            f"the cluster takes {len(keys)} keys, and which of them signs cannot be known",
            remedy="ask for the right to create a token of the ServiceAccount default/default, or give the key that signs with --public-key-file",
        )
    audience = told.claims.get("aud", ())
    audiences = (audience,) if isinstance(audience, str) else tuple(map(str, audience))
    return Served(issuer, signing[0], tuple(key for key in keys if key != signing[0]), audiences)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
