"""What a token says of itself, and whether that is the issuer's word. Nobody's signature is checked here: that is the clouds'."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from cwiictl.errors import Failed
from cwiictl.verify.finding import Refusal
from cwiictl.verify.letter import unlike

ORDER = "start the API server with --service-account-issuer and the key that are published"


@dataclass(frozen=True)
class Said:
    issuer: str
    kid: str


def said(token: str) -> Said:
    """Nothing of the token itself gets into what is told about it."""
    try:
        head, body, _signature = token.split(".")
        return Said(str(_part(body).get("iss", "")), str(_part(head).get("kid", "")))
    except (TypeError, ValueError, RecursionError):
        raise Failed("what the cluster gave is no token", remedy="see that its API server signs ServiceAccount tokens as JWTs") from None


def _part(text: str) -> Mapping[str, Any]:
    found: object = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    if not isinstance(found, dict):
        raise TypeError
    return cast("Mapping[str, Any]", found)


def refusals(token: Said, url: str, published: Collection[str]) -> Iterator[Refusal]:
    """Why no cloud would take it, whatever else is right."""
    if token.issuer != url:
        hint = unlike(token.issuer, url)
        yield Refusal(f"the cluster's tokens are of the issuer {token.issuer}, and not of {url}{f': {hint}' if hint else ''}", ORDER)
    if published and token.kid not in published:
        yield Refusal(f"the cluster signs with the key {token.kid}, which the issuer does not publish", f"publish it with create-all --add-key, or {ORDER}")
