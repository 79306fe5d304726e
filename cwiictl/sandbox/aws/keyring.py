"""The credentials that this sandbox has issued. No other ones work here, from wherever they come."""

from __future__ import annotations

import re
import secrets
import threading
from dataclasses import dataclass, replace

from cwiictl.sandbox.exchange import Request
from cwiictl.sandbox.faults import Clock

from .answers import Refusal
from .memory import ACCOUNT

KEY = "AKIACWIICTLSANDBOX01"
SECRET = "sandbox/only/works/behind/its/own/door00"  # noqa: S105 - meant to be known: it opens nothing but the sandbox
_HEADER = re.compile(r"Credential=([A-Za-z0-9]+)/|^AWS ([A-Za-z0-9]+):")
_SCOPE = re.compile(r"Credential=[A-Za-z0-9]+/\d{8}/([a-z0-9-]+)/")
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


@dataclass(frozen=True)
class Credentials:
    key: str
    secret: str
    token: str  # empty for a user's own key
    expires: float | None
    arn: str
    user_id: str


def user_arn(partition: str) -> str:
    return f"arn:{partition}:iam::{ACCOUNT}:user/sandbox"


USER = Credentials(KEY, SECRET, "", None, user_arn("aws"), "AIDACWIICTLSANDBOX01")


def unique(prefix: str) -> str:
    return prefix + "".join(secrets.choice(_ALPHABET) for _ in range(16))


def key_of(request: Request) -> str:
    """The access key that signed; empty for an anonymous request."""
    if found := _HEADER.search(request.header("Authorization")):
        return found[1] or found[2]
    return request.asked.get("X-Amz-Credential", request.asked.get("AWSAccessKeyId", "")).partition(
        "/"
    )[0]


def scope_of(request: Request) -> str:
    """The region for which a request was signed."""
    found = _SCOPE.search(request.header("Authorization")) or _SCOPE.search(
        f"Credential={request.asked.get('X-Amz-Credential', '')}"
    )
    return found[1] if found else ""


class Keyring:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._issued = {USER.key: USER}
        self._lock = threading.Lock()

    def issue(self, arn: str, user_id: str, seconds: int) -> Credentials:
        credentials = Credentials(
            unique("ASIA"),
            secrets.token_urlsafe(30),
            secrets.token_urlsafe(180),
            self._clock() + seconds,
            arn,
            user_id,
        )
        with self._lock:
            self._issued[credentials.key] = credentials
        return credentials

    def reset(self) -> None:
        with self._lock:
            self._issued = {USER.key: USER}

    def caller(self, request: Request, service: str, partition: str = "aws") -> Credentials:
        """Whose credentials have signed; the service's own refusal when they are not the sandbox's. Its one user is in every partition."""
        found = self._issued.get(key_of(request))
        if found is None or found.token != (
            request.header("x-amz-security-token") or request.asked.get("X-Amz-Security-Token", "")
        ):
            raise unknown(service, token=found is not None)
        if found.expires is not None and found.expires <= self._clock():
            raise expired(service)
        return replace(USER, arn=user_arn(partition)) if found is USER else found


def unknown(service: str, *, token: bool) -> Refusal:
    if service not in {"s3", "s3control"}:
        return Refusal(
            403, "InvalidClientTokenId", "The security token included in the request is invalid."
        )
    if token:
        return Refusal(400, "InvalidToken", "The provided token is malformed or otherwise invalid.")
    return Refusal(
        403,
        "InvalidAccessKeyId",
        "The AWS Access Key Id you provided does not exist in our records.",
    )


def expired(service: str) -> Refusal:
    if service in {"s3", "s3control"}:
        return Refusal(400, "ExpiredToken", "The provided token has expired.")
    return Refusal(403, "ExpiredToken", "The security token included in the request is expired")
