"""Access tokens: made here, and believed by everybody in Azure who is named as their audience."""

from __future__ import annotations

import base64
import hashlib
import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cached_property
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from cwiictl.sandbox.azure.answers import Refusal
from cwiictl.sandbox.azure.world import TENANT
from cwiictl.sandbox.exchange import Request
from cwiictl.sandbox.signers import signer

_HOUR = 3600


@dataclass(frozen=True)
class Caller:
    principal: str
    client: str
    tenant: str


class Fault(Enum):
    """Why a token is not believed; ARM and Blob each have their own words for it."""

    MISSING = "missing"
    INVALID = "invalid"
    EXPIRED = "expired"
    AUDIENCE = "audience"


class Disbelieved(Exception):
    def __init__(self, fault: Fault, claims: Mapping[str, Any] | None = None) -> None:
        super().__init__(fault.value)
        self.fault = fault
        self.claims = claims or {}


class Tokens:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock

    @cached_property
    def _key(self) -> rsa.RSAPrivateKey:
        return signer("Entra")

    @cached_property
    def _id(self) -> str:
        modulus = self._key.public_key().public_numbers().n.to_bytes(256, "big")
        return base64.urlsafe_b64encode(hashlib.sha256(modulus).digest()[:20]).decode().rstrip("=")

    def keys(self) -> Mapping[str, Any]:
        """What a tool reads that wants to check a token itself."""
        return {
            "keys": [
                {
                    **RSAAlgorithm.to_jwk(self._key.public_key(), as_dict=True),
                    "kid": self._id,
                    "x5t": self._id,
                    "use": "sig",
                }
            ]
        }

    def issue(self, principal: str, client: str, audience: str, tenant: str) -> str:
        now = int(self._clock())
        times = {
            "iat": now - 300,
            "nbf": now - 300,
            "exp": now + _HOUR,
        }  # backdated, for clocks that are behind
        who = {
            "oid": principal,
            "sub": principal,
            "tid": tenant,
            "appid": client,
            "appidacr": "2",
            "idtyp": "app",
            "ver": "1.0",
        }
        claims = {
            "aud": audience,
            "iss": f"https://sts.windows.net/{tenant}/",
            **times,
            **who,
            "uti": uuid.uuid4().hex,
        }
        return jwt.encode(
            claims, self._key, algorithm="RS256", headers={"kid": self._id, "x5t": self._id}
        )

    def believe(self, token: str, audiences: Collection[str]) -> Caller:
        """Raises Disbelieved. Whether an audience ends with a slash makes no difference."""
        claims = self._claims(token)
        if claims["exp"] <= self._clock():
            raise Disbelieved(Fault.EXPIRED, claims)
        if str(claims["aud"]).rstrip("/").lower() not in {
            one.rstrip("/").lower() for one in audiences
        }:
            raise Disbelieved(Fault.AUDIENCE, claims)
        return Caller(str(claims["oid"]), str(claims["appid"]), str(claims["tid"]))

    def read(self, request: Request, audiences: Collection[str]) -> Caller:
        """Who calls, for those who refuse in ARM's words."""
        try:
            return self.believe(bearer(request), audiences)
        except Disbelieved as disbelieved:
            raise self._refusal(disbelieved, audiences) from disbelieved

    def _claims(self, token: str) -> dict[str, Any]:
        ours = {
            "verify_exp": False,
            "verify_nbf": False,
            "verify_iat": False,
            "verify_aud": False,
            "require": ["exp", "aud", "oid", "appid", "tid"],
        }
        try:
            return jwt.decode(token, self._key.public_key(), algorithms=["RS256"], options=ours)  # pyright: ignore[reportArgumentType] - the options are a TypedDict that a dict built here is not
        except jwt.PyJWTError as error:
            raise Disbelieved(Fault.INVALID) from error

    def _refusal(self, disbelieved: Disbelieved, audiences: Collection[str]) -> Refusal:
        match disbelieved.fault:
            case Fault.MISSING:
                code, sentence = (
                    "AuthenticationFailed",
                    "Authentication failed. The 'Authorization' header is missing.",
                )
            case Fault.INVALID:
                code, sentence = "InvalidAuthenticationToken", "The access token is invalid."
            case Fault.EXPIRED:
                code, sentence = expired(disbelieved.claims["exp"], self._clock())
            case Fault.AUDIENCE:
                code = "InvalidAuthenticationTokenAudience"
                allowed = ",".join(f"'{one}/'" for one in audiences)
                asked = disbelieved.claims["aud"]
                sentence = (
                    f"The access token has been obtained for wrong audience or resource '{asked}'."
                    f" It should exactly match with one of the allowed audiences {allowed}."
                )
        return Refusal(401, code, sentence, challenge(code, sentence))


def bearer(request: Request) -> str:
    scheme, _, token = request.header("Authorization").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise Disbelieved(Fault.MISSING)
    return token.strip()


def expired(end: float, now: float) -> tuple[str, str]:
    """ARM's code and sentence."""
    until, moment = (
        datetime.fromtimestamp(one, UTC).strftime("%m/%d/%Y %I:%M:%S %p") for one in (end, now)
    )
    return (
        "ExpiredAuthenticationToken",
        f"The access token expiry UTC time '{until}' is earlier than current UTC time '{moment}'.",
    )


def challenge(code: str, sentence: str) -> tuple[tuple[str, str], ...]:
    where = f"https://login.microsoftonline.com/{TENANT}"
    error = (
        ""
        if code == "AuthenticationFailed"
        else f', error="invalid_token", error_description="{sentence}"'
    )
    return (("WWW-Authenticate", f'Bearer authorization_uri="{where}"{error}'),)
