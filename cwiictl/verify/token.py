"""Whether what a token says of itself is the issuer's word. Nobody's signature is checked here: that is the clouds'."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from cwiictl.errors import Failed
from cwiictl.issuer.token import said
from cwiictl.verify.finding import Refusal
from cwiictl.verify.letter import unlike

ORDER = "start the API server with --service-account-issuer and the key that are published"


def refusals(text: str, url: str, published: Collection[str]) -> Iterator[Refusal]:
    """Why no cloud would take it, whatever else is right. Nothing of the token itself gets into what is told about it."""
    token = said(text)
    if token is None:
        raise Failed(
            "what the cluster gave is no token",
            remedy="see that its API server signs ServiceAccount tokens as JWTs",
        )
    issuer = str(token.claims.get("iss", ""))
    if issuer != url:
        hint = unlike(issuer, url)
        yield Refusal(
            f"the cluster's tokens are of the issuer {issuer}, and not of {url}{f': {hint}' if hint else ''}",
            ORDER,
        )
    if published and token.kid not in published:
        yield Refusal(
            f"the cluster signs with the key {token.kid}, which the issuer does not publish",
            f"publish it with create-all --add-key, or {ORDER}",
        )
