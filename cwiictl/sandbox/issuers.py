"""An issuer's keys, read as a cloud reads them: its discovery document, then its key set, with nothing taken on trust."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, cast

import jwt

Fetch = Callable[[str], bytes]  # raises OSError or ValueError
Keys = Mapping[str, jwt.PyJWK]

DISCOVERY = "/.well-known/openid-configuration"


class Flaw(Enum):
    """What can be wrong with a token, or with those who vouch for it; each cloud has its own error for each."""

    MALFORMED = "it is no signed token"
    UNREACHABLE = "the issuer's documents cannot be read"
    UNUSABLE = "the issuer's documents are not those of this issuer"
    UNKNOWN_KEY = "no published key has signed it"
    SIGNATURE = "its signature is wrong"
    EXPIRED = "it has expired"
    EARLY = "it is not valid yet"
    CLAIMS = "a claim is missing or of a wrong type"


class Refused(Exception):
    def __init__(self, flaw: Flaw, detail: str = "") -> None:
        super().__init__(detail or flaw.value)
        self.flaw = flaw


def read_keys(fetch: Fetch, issuer: str) -> Keys:
    """The discovery document must name the issuer to the letter, and the key set must be on https too."""
    discovery = _document(fetch, issuer.rstrip("/") + DISCOVERY)
    if discovery.get("issuer") != issuer:
        raise Refused(Flaw.UNUSABLE, f"the discovery document is that of {discovery.get('issuer')}")
    found = discovery.get("jwks_uri")
    if not isinstance(found, str) or not found.startswith("https://"):
        raise Refused(Flaw.UNUSABLE, "the discovery document has no jwks_uri on https")
    members = _document(fetch, found).get("keys")
    if not isinstance(members, list):
        raise Refused(Flaw.UNUSABLE, "the key set has no keys")
    return dict(
        _usable(cast("dict[str, Any]", member))
        for member in cast("list[object]", members)
        if _is_usable(member)
    )


def _is_usable(member: object) -> bool:
    """Clouds pass over keys of other kinds and other uses."""
    if not isinstance(member, dict):
        return False
    jwk = cast("dict[str, Any]", member)
    return (
        jwk.get("kty") == "RSA"
        and isinstance(jwk.get("kid"), str)
        and jwk.get("use", "sig") == "sig"
    )


def _usable(jwk: dict[str, Any]) -> tuple[str, jwt.PyJWK]:
    try:
        return jwk["kid"], jwt.PyJWK(jwk, algorithm="RS256")
    except jwt.PyJWTError as error:
        raise Refused(Flaw.UNUSABLE, "a published key cannot be read") from error


def _document(fetch: Fetch, url: str) -> dict[str, Any]:
    try:
        body = fetch(url)
    except (OSError, ValueError) as error:
        raise Refused(Flaw.UNREACHABLE, f"{url}: {error}") from error
    try:
        document = json.loads(body)
    except ValueError as error:
        raise Refused(Flaw.UNUSABLE, f"{url} is not JSON") from error
    if not isinstance(document, dict):
        raise Refused(Flaw.UNUSABLE, f"{url} is not a JSON object")
    return cast("dict[str, Any]", document)
