"""Whether a provider believes a token, and who its bearer is then."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from cwiictl.sandbox.gcp import apis
from cwiictl.sandbox.gcp.oauth import Refused
from cwiictl.sandbox.gcp.tokens import Caller
from cwiictl.sandbox.gcp.world import Pool, Provider, World
from cwiictl.sandbox.issuers import DISCOVERY, Fetch, Flaw
from cwiictl.sandbox.issuers import Refused as Flawed
from cwiictl.sandbox.tokens import Checker, Claims

from . import cel

SERVICE = "sts.googleapis.com"
_AUDIENCE = re.compile(
    r"//iam\.googleapis\.com/(projects/([^/]+)/locations/global/workloadIdentityPools/([^/]+))/providers/([^/]+)"
)
_LONGEST = 24 * 3600
_SUBJECT = 127
_ATTRIBUTES = 8192
_SEE = "See https://cloud.google.com/iam/docs/reference/sts/rest/v1/TopLevel/token for the list of possible formats."


@dataclass(frozen=True)
class Trust:
    """A provider as it was when it was asked, and the full names of its pool and itself."""

    pool: str
    name: str
    provider: Provider


class Federation:
    def __init__(self, world: World, checker: Checker) -> None:
        self._world = world
        self._checker = checker

    def believe(self, audience: str, token: str) -> Caller:
        """Nothing is locked while the issuer is asked: its documents may be in a bucket of this world."""
        with self._world.lock:
            trust = self._trust(audience)
        claims = self._checked(trust, token)
        known = {"assertion": dict(claims.everything)}
        attributes = _mapped(trust.provider, known)
        _check_condition(trust.provider, known, attributes)
        subject = attributes.pop("google.subject")
        return Caller(f"principal://iam.googleapis.com/{trust.pool}/subject/{subject}", attributes)

    def _trust(self, audience: str) -> Trust:
        found = _AUDIENCE.fullmatch(audience)
        if found is None:
            words = f'Invalid value for "audience". This value should be the full resource name of the Identity Provider. {_SEE}'
            raise Refused("invalid_request", words)
        project = self._world.project(found[2])
        pool = (
            self._world.pools.get((project.id, found[3]))
            if project and project.number == found[2]
            else None
        )
        provider = pool.providers.get(found[4]) if pool else None
        if (
            project is None
            or pool is None
            or provider is None
            or not self._good(pool)
            or not self._good(provider)
        ):
            words = 'The target service indicated by the "audience" parameters is invalid.'
            raise Refused(
                "invalid_target",
                f"{words} This might either be because the pool or provider is disabled or deleted or because it doesn't exist.",
            )
        apis.check(self._world, SERVICE, project)
        return Trust(found[1], audience, copy.deepcopy(provider))

    def _good(self, one: Pool | Provider) -> bool:
        return (
            not one.disabled
            and one.deleted is None
            and one.born + self._world.lag() <= self._world.clock()
        )

    def _checked(self, trust: Trust, token: str) -> Claims:
        try:
            claims = self._checker.peek(token)
            if claims.issuer != trust.provider.issuer:
                words = f"The issuer in ID Token {claims.issuer} does not match the expected ones: {trust.provider.issuer}."
                raise Refused("invalid_grant", words)
            _check_audience(trust, claims)
            checker = (
                self._checker
                if not trust.provider.jwks
                else Checker(_uploaded(trust.provider), self._world.clock)
            )
            checker.check(token, issuer=trust.provider.issuer)
        except Flawed as flawed:
            raise _refusal(flawed.flaw) from flawed
        _check_lifetime(claims)
        return claims


def _check_audience(trust: Trust, claims: Claims) -> None:
    """Without audiences of its own, a provider takes tokens that are for itself."""
    expected = trust.provider.audiences or (f"https:{trust.name}", trust.name)
    if not set(expected) & set(claims.audiences):
        words = f"The audience in ID Token [{', '.join(claims.audiences)}] does not match the expected audience {expected[0]}."
        raise Refused("invalid_grant", words)


def _check_lifetime(claims: Claims) -> None:
    start, end = claims.everything.get("iat"), claims.everything.get("exp")
    if not isinstance(start, int | float) or not isinstance(end, int | float):
        raise Refused("invalid_grant", "ID Token must have both iat and exp claims.")
    if end - start > _LONGEST:
        raise Refused(
            "invalid_grant",
            f"The lifetime of the ID Token is {int(end - start)} seconds, longer than the maximum of {_LONGEST} seconds.",
        )


def _mapped(provider: Provider, known: Mapping[str, Any]) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for target, expression in provider.mapping.items():
        try:
            found = cel.value(expression, known)
        except cel.Unusable as unusable:
            if target == "google.subject":
                raise _no_subject() from unusable
            continue  # an attribute whose claim is not there is not there either
        attributes[target] = _text(found)
    subject = attributes.get("google.subject", "")
    if not subject:
        raise _no_subject()
    if len(subject.encode()) > _SUBJECT:
        words = "Either modify your attribute mapping or the incoming assertion to produce a mapped attribute that is less than 127 bytes."
        raise Refused(
            "invalid_request",
            f"The size of mapped attribute google.subject exceeds the 127 bytes limit. {words}",
        )
    if (
        sum(len(key.encode()) + len(text.encode()) for key, text in attributes.items())
        > _ATTRIBUTES
    ):
        raise Refused(
            "invalid_request", "The size of the entire mapped attributes exceeds the 8 KB limit."
        )
    return attributes


def _text(found: object) -> str:
    """Groups are many, and each a line."""
    return (
        "\n".join(str(one) for one in cast("list[object]", found))
        if isinstance(found, list)
        else str(found)
    )


def _check_condition(
    provider: Provider, known: Mapping[str, Any], attributes: Mapping[str, str]
) -> None:
    if not provider.condition:
        return
    google = {
        key.removeprefix("google."): text
        for key, text in attributes.items()
        if key.startswith("google.")
    }
    own = {
        key.removeprefix("attribute."): text
        for key, text in attributes.items()
        if key.startswith("attribute.")
    }
    try:
        holds = cel.value(provider.condition, {**known, "google": google, "attribute": own}) is True
    except cel.Unusable:
        holds = False
    if not holds:
        raise Refused(
            "unauthorized_client", "The given credential is rejected by the attribute condition."
        )


def _uploaded(provider: Provider) -> Fetch:
    """In place of the issuer's documents, of which nobody asks when the keys were uploaded."""
    discovery = json.dumps(
        {"issuer": provider.issuer, "jwks_uri": f"{provider.issuer.rstrip('/')}/keys.json"}
    ).encode()
    return lambda url: discovery if url.endswith(DISCOVERY) else provider.jwks.encode()


def _no_subject() -> Refused:
    return Refused(
        "invalid_request", "Could not obtain a value for google.subject from the given credential."
    )


def _refusal(flaw: Flaw) -> Refused:
    match flaw:
        case Flaw.MALFORMED | Flaw.CLAIMS:
            return Refused("invalid_request", "Unable to parse the ID Token.")
        case Flaw.UNREACHABLE | Flaw.UNUSABLE:
            return Refused("invalid_grant", "Error connecting to the given credential's issuer.")
        case Flaw.UNKNOWN_KEY | Flaw.SIGNATURE:
            return Refused("invalid_grant", "Unable to verify the ID Token signature.")
        case Flaw.EXPIRED:
            return Refused("invalid_grant", "The ID Token has expired.")
        case Flaw.EARLY:
            return Refused("invalid_grant", "The ID Token is not valid yet.")
