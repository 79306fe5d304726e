"""Workload identity federation: a token of an issuer that a managed identity trusts, to the letter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import jwt

from cwiictl.sandbox.azure.world import Credential, Identity, World
from cwiictl.sandbox.issuers import Flaw, Refused
from cwiictl.sandbox.tokens import Checker, Claims

from .answers import Refusal

_TYPES = {"JWT", "http://openid.net/specs/jwt/1.0"}
_SEE = (
    "Check your federated identity credential Subject, Audience and Issuer against the presented assertion."
    " https://learn.microsoft.com/entra/workload-id/workload-identity-federation"
)


class Federation:
    def __init__(self, world: World, checker: Checker) -> None:
        self._world = world
        self._checker = checker

    def check(self, assertion: str, identity: Identity) -> None:
        """Whom the identity trusts is found before anybody is asked: Entra reads the documents of no issuer that nobody here has named."""
        claims = self._peeked(assertion)
        with self._world.lock:
            known = [one for one in identity.credentials.values() if self._world.old(one.born)]
        if not known:
            sentence = f"The client '{identity.client}'({identity.name}) has no configured federated identity credentials."
            raise Refusal(401, "invalid_client", 70025, sentence)
        _match(claims, known)
        try:
            self._checker.check(assertion, issuer=claims.issuer)
        except Refused as refused:
            raise self._flawed(refused.flaw, assertion, claims) from refused

    def _peeked(self, assertion: str) -> Claims:
        try:
            kind = jwt.get_unverified_header(assertion).get("typ")
            if kind is not None and kind not in _TYPES:  # Kubernetes' tokens have none
                sentence = "Invalid JWT header type specified, must be 'JWT' or 'http://openid.net/specs/jwt/1.0'."
                raise Refusal(400, "invalid_request", 5002727, sentence)
            return self._checker.peek(assertion)
        except (jwt.PyJWTError, Refused) as error:
            raise _malformed() from error

    def _flawed(self, flaw: Flaw, assertion: str, claims: Claims) -> Refusal:
        match flaw:
            case Flaw.MALFORMED | Flaw.CLAIMS:
                return _malformed()
            case Flaw.UNREACHABLE | Flaw.UNUSABLE:
                return Refusal(
                    400, "invalid_request", 501661, "Request to External OIDC endpoint failed."
                )
            case Flaw.UNKNOWN_KEY:
                return _unknown_key(assertion, claims)
            case Flaw.SIGNATURE:
                return Refusal(
                    401, "invalid_client", 700027, "Client assertion failed signature validation."
                )
            case Flaw.EXPIRED | Flaw.EARLY:
                return self._late(claims)

    def _late(self, claims: Claims) -> Refusal:
        now, start, end = (
            _moment(one)
            for one in (
                self._checker.clock(),
                claims.everything.get("nbf"),
                claims.everything.get("exp"),
            )
        )
        words = (
            f"Client assertion is not within its valid time range. Current time: {now}, assertion valid from {start}, expiry time of assertion {end}."
            " Review the documentation at https://learn.microsoft.com/entra/identity-platform/certificate-credentials ."
        )
        return Refusal(401, "invalid_client", 700024, words)


def _match(claims: Claims, known: Sequence[Credential]) -> None:
    """Issuer, subject and audience as they were written; Entra tells which of them nobody has."""
    issuers = [one for one in known if one.issuer == claims.issuer]
    if not issuers:
        raise _nobody(700211, f"issuer '{claims.issuer}'", _SEE)
    subjects = [one for one in issuers if one.subject == claims.subject]
    if not subjects:
        raise _wrong_subject(claims, issuers)
    if not any(set(one.audiences) & set(claims.audiences) for one in subjects):
        raise _nobody(700212, f"audience '{','.join(claims.audiences)}'", _SEE)


def _wrong_subject(claims: Claims, issuers: Iterable[Credential]) -> Refusal:
    if any(one.subject.lower() == claims.subject.lower() for one in issuers):
        hint = "The subject matches with case-insensitive comparison, but not with case-sensitive comparison."
        return _nobody(7002138, f"subject '{claims.subject}'", f"{hint} {_SEE}")
    return _nobody(700213, f"subject '{claims.subject}'", _SEE)


def _nobody(number: int, which: str, hint: str) -> Refusal:
    return Refusal(
        401,
        "invalid_client",
        number,
        f"No matching federated identity record found for presented assertion {which}. {hint}",
    )


def _malformed() -> Refusal:
    return Refusal(400, "invalid_request", 50027, "JWT token is invalid or malformed.")


def _unknown_key(assertion: str, claims: Claims) -> Refusal:
    key = jwt.get_unverified_header(assertion).get("kid", "")
    words = (
        f"The certificate with identifier {key} used to sign the federated credential could not be found in the metadata of identity provider {claims.issuer}."
        " Please validate that your Identity Provider's metadata exposes the key used to sign the incoming token."
    )
    return Refusal(401, "invalid_client", 7000272, words)


def _moment(seconds: object) -> str:
    return datetime.fromtimestamp(
        float(seconds) if isinstance(seconds, int | float) else 0.0, UTC
    ).strftime("%Y-%m-%dT%H:%M:%S.%f0Z")
