"""Is this token what it says it is: signed by a key that its issuer publishes, and in its time?"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import jwt

from .issuers import Fetch, Flaw, Keys, Refused, read_keys

Clock = Callable[[], float]


@dataclass(frozen=True)
class Claims:
    """What the token says; `everything` for conditions on further claims."""

    issuer: str
    subject: str
    audiences: tuple[str, ...]
    everything: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass
class Checker:
    """One cloud's view of issuers, with its own cache of their keys."""

    fetch: Fetch
    clock: Clock
    cache: float = 0.0  # seconds that a key set is kept
    refetch: bool = True  # whether a key id that is not in the cached set makes it look again
    leeway: float = 0.0
    _kept: dict[str, tuple[float, Keys]] = field(
        default_factory=dict[str, tuple[float, Keys]], init=False
    )
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def peek(self, token: str) -> Claims:
        """What a token claims, unchecked: a cloud looks for the issuer's trust before it fetches anything."""
        try:
            body: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
        except jwt.PyJWTError as error:
            raise Refused(Flaw.MALFORMED) from error
        return _claims(body)

    def check(self, token: str, *, issuer: str) -> Claims:
        """Signed by a key that this issuer publishes, and in its time. Audience and subject are the cloud's to judge."""
        claims = self.peek(token)
        if claims.issuer != issuer:
            raise Refused(Flaw.UNUSABLE, f"the token's issuer is {claims.issuer}, not {issuer}")
        _verify(token, self._key(issuer, _key_id(token)))
        self._in_time(claims.everything)
        return claims

    def forget(self) -> None:
        with self._lock:
            self._kept.clear()

    def _key(self, issuer: str, key_id: str) -> jwt.PyJWK:
        keys, fresh = self._keys(issuer)
        if key_id not in keys and self.refetch and not fresh:
            keys = self._read(issuer)
        if key_id not in keys:
            raise Refused(Flaw.UNKNOWN_KEY)
        return keys[key_id]

    def _keys(self, issuer: str) -> tuple[Keys, bool]:
        with self._lock:
            until, keys = self._kept.get(issuer, (0.0, {}))
        if self.clock() < until:
            return keys, False
        return self._read(issuer), True

    def _read(self, issuer: str) -> Keys:
        keys = read_keys(self.fetch, issuer)
        with self._lock:
            self._kept[issuer] = (self.clock() + self.cache, keys)
        return keys

    def _in_time(self, claims: Mapping[str, Any]) -> None:
        now = self.clock()
        if _number(claims, "exp") + self.leeway <= now:
            raise Refused(Flaw.EXPIRED)
        if max(_number(claims, "nbf", 0.0), _number(claims, "iat", 0.0)) - self.leeway > now:
            raise Refused(Flaw.EARLY)


def _key_id(token: str) -> str:
    try:
        header = jwt.get_unverified_header(token)
    except jwt.PyJWTError as error:
        raise Refused(Flaw.MALFORMED) from error
    if header.get("alg") != "RS256":
        raise Refused(Flaw.MALFORMED, "it is not signed with RS256")
    return str(header.get("kid", ""))


def _verify(token: str, key: jwt.PyJWK) -> None:
    alone = {
        "verify_signature": True,
        "verify_exp": False,
        "verify_nbf": False,
        "verify_iat": False,
        "verify_aud": False,
        "verify_iss": False,
    }
    try:
        jwt.decode(token, key, algorithms=["RS256"], options=alone)  # pyright: ignore[reportArgumentType] - the options are a TypedDict that a dict built here is not
    except jwt.PyJWTError as error:
        raise Refused(Flaw.SIGNATURE) from error


def _claims(body: dict[str, Any]) -> Claims:
    issuer, subject, audience = body.get("iss"), body.get("sub"), body.get("aud")
    audiences = cast("list[object]", audience) if isinstance(audience, list) else [audience]
    if (
        not isinstance(issuer, str)
        or not isinstance(subject, str)
        or not audiences
        or not all(isinstance(a, str) for a in audiences)
    ):
        raise Refused(Flaw.CLAIMS)
    return Claims(issuer, subject, tuple(str(a) for a in audiences), body)


def _number(claims: Mapping[str, Any], name: str, default: float | None = None) -> float:
    value = claims.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refused(Flaw.CLAIMS, f"{name} is missing or no number")
    return float(value)
