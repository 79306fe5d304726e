"""What a provider says of the tokens that it believes, and what Google does not let it say."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlsplit

from cwiictl.sandbox.gcp.answers import invalid
from cwiictl.sandbox.gcp.call import known, texts
from cwiictl.sandbox.gcp.world import Provider

FIELDS = (
    "attributeMapping",
    "attributeCondition",
    "oidc",
    "oidc.issuerUri",
    "oidc.allowedAudiences",
    "oidc.jwksJson",
)
_KEY = re.compile(
    r"google\.(?:subject|groups|display_name|profile_photo|posix_username)|attribute\.[a-z0-9_]{1,100}"
)
_WORDS = {
    "RSA": {"kty", "alg", "use", "kid", "n", "e", "x5c", "x5t", "x5t#S256", "key_ops"},
    "EC": {"kty", "alg", "use", "kid", "x", "y", "crv", "key_ops"},
}


def read(one: Provider, asked: dict[str, Any], named: frozenset[str]) -> Provider:
    """The provider with these fields as they are asked for; what is named and not given, is emptied."""
    if asked.get("aws") or asked.get("saml") or asked.get("x509"):
        raise invalid("The kind of a provider cannot be changed, and the sandbox knows OIDC alone.")
    oidc = known(
        _object(asked.get("oidc"), "oidc"), ("issuerUri", "allowedAudiences", "jwksJson"), "oidc"
    )
    changes: dict[str, Any] = {}
    if "attributeMapping" in named:
        changes["mapping"] = _mapping(_object(asked.get("attributeMapping"), "attribute_mapping"))
    if "attributeCondition" in named:
        changes["condition"] = _condition(asked.get("attributeCondition"))
    if named & {"oidc", "oidc.issuerUri"}:
        changes["issuer"] = _issuer(oidc.get("issuerUri"))
    if named & {"oidc", "oidc.allowedAudiences"}:
        changes["audiences"] = _audiences(oidc.get("allowedAudiences"))
    if named & {"oidc", "oidc.jwksJson"}:
        changes["jwks"] = _jwks(oidc.get("jwksJson"))
    return dataclasses.replace(one, **changes)


def _issuer(asked: object) -> str:
    parts = urlsplit(str(asked or ""))
    if parts.scheme != "https" or not parts.hostname or parts.query or parts.fragment:
        raise invalid(
            "Invalid value at 'oidc.issuer_uri': it must be a URI of the scheme https, with neither query nor fragment."
        )
    return str(asked)


def _audiences(asked: object) -> tuple[str, ...]:
    found = texts(asked, "oidc.allowed_audiences")
    if len(found) > 10 or any(not one or len(one) > 256 for one in found):
        raise invalid(
            "Invalid value at 'oidc.allowed_audiences': up to 10 audiences of up to 256 characters are allowed."
        )
    return tuple(found)


def _mapping(asked: Mapping[str, Any]) -> dict[str, str]:
    found = {key: str(value) for key, value in asked.items()}
    if not found.get("google.subject"):
        raise invalid("The attribute mapping must contain a mapping for 'google.subject'.")
    wrong = [key for key in found if not _KEY.fullmatch(key)]
    if wrong or len(found) > 50:
        raise invalid(
            f"Invalid value at 'attribute_mapping': up to 50 keys are allowed, and {wrong} are none."
        )
    if any(len(value) > 2048 for value in found.values()):
        raise invalid(
            "Invalid value at 'attribute_mapping': an expression has up to 2048 characters."
        )
    return found


def _condition(asked: object) -> str:
    found = str(asked or "")
    if len(found) > 4096:
        raise invalid("Invalid value at 'attribute_condition': it has up to 4096 characters.")
    return found


def _jwks(asked: object) -> str:
    """It is kept as it was written."""
    if not asked:
        return ""
    try:
        keys = json.loads(str(asked))["keys"]
        fit = bool(keys) and all(set(one) <= _WORDS[one["kty"]] and one["kid"] for one in keys)
    except (ValueError, KeyError, TypeError) as error:
        raise _unfit() from error
    if not fit:
        raise _unfit()
    return str(asked)


def _unfit() -> Exception:
    return invalid(
        "Invalid value at 'oidc.jwks_json': it must be a set of keys, each RSA or EC with an id and with nothing else that is not of such a key."
    )


def _object(asked: object, name: str) -> dict[str, Any]:
    if asked is not None and not isinstance(asked, dict):
        raise invalid(f"Invalid value at '{name}'.")
    return cast("dict[str, Any]", asked or {})
