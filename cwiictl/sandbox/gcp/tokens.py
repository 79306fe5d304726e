"""Access tokens: opaque, made here, and believed by every API of Google here."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from cwiictl.sandbox.exchange import Request

from .answers import Refusal
from .keys import Keys, Unsigned
from .world import World

LONGEST = 3600.0
_HELP = "See https://developers.google.com/identity/sign-in/web/devconsole-project."
_EXPECTED = (
    f"Expected OAuth 2 access token, login cookie or other valid authentication credential. {_HELP}"
)


@dataclass(frozen=True)
class Caller:
    """Who asks, as policies name them; `member` is empty for who does not say.

    `attributes` are what a provider has mapped (google.groups has one group a line): policies name crowds by them. `unique_id` is a service account's: who has
    its e-mail later is another.
    """

    member: str
    attributes: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    unique_id: str = ""

    @property
    def email(self) -> str:
        """A service account's; empty for anybody else."""
        kind, _, email = self.member.partition(":")
        return email if kind == "serviceAccount" else ""

    @property
    def names(self) -> frozenset[str]:
        """Every member of a policy that means this caller: itself, and the crowds it is one of. Who is federated is not of allAuthenticatedUsers."""
        if not self.member:
            return frozenset({"allUsers"})
        crowds = (
            {"allUsers"}
            if self.member.startswith("principal:")
            else {"allUsers", "allAuthenticatedUsers"}
        )
        return frozenset({self.member, *crowds, *self._sets()})

    def _sets(self) -> set[str]:
        pool, subject, _ = self.member.partition("/subject/")
        if not subject or not pool.startswith("principal://"):
            return set()
        everybody = pool.replace("principal://", "principalSet://", 1)
        groups = {
            f"{everybody}/group/{one}"
            for one in self.attributes.get("google.groups", "").splitlines()
        }
        named = {
            f"{everybody}/{key}/{value}"
            for key, value in self.attributes.items()
            if key.startswith("attribute.")
        }
        return {f"{everybody}/*", *groups, *named}


NOBODY = Caller("")


class Tokens:
    """They outlive what `reset` empties, as the operator's credentials do."""

    def __init__(self, world: World) -> None:
        self.keys = Keys(world)
        self._world = world
        self._issued: dict[str, tuple[Caller, float]] = {}

    def issue(self, caller: Caller, lifetime: float) -> str:
        token = f"ya29.{'c' if caller.email else 'd'}.{secrets.token_urlsafe(120)}"
        with self._world.lock:
            self._issued[token] = (caller, self._world.clock() + lifetime)
        return token

    def read(self, request: Request) -> Caller:
        """Who calls; Refusal for whoever does not say so with a token that is good."""
        token = bearer(request)
        if not token:
            raise _unbelieved(
                f"Request is missing required authentication credential. {_EXPECTED}",
                "CREDENTIALS_MISSING",
            )
        with self._world.lock:
            if token not in self._issued:
                return self._signed(token)
            caller, until = self._issued[token]
            if until <= self._world.clock():
                raise expired()
            self._check_account(caller)
        return caller

    def account(self, email: str) -> Caller | None:
        """Who a service account is to policies; None when there is none, or it is disabled."""
        with self._world.lock:
            account = self._world.accounts.get(email)
            return (
                None
                if account is None or account.disabled
                else Caller(f"serviceAccount:{email}", unique_id=account.unique_id)
            )

    def _signed(self, token: str) -> Caller:
        """Some SDKs ask for no token at all: they sign one themselves, and every API believes the account's key."""
        try:
            claims = self.keys.claims(token)
        except Unsigned as unsigned:
            if "timeframe" in str(unsigned):
                raise expired() from unsigned
            raise _invalid("ACCESS_TOKEN_TYPE_UNSUPPORTED") from unsigned
        caller = self.account(str(claims.get("sub", "")))
        if (
            caller is None
            or claims.get("iss") != claims.get("sub")
            or not (claims.get("aud") or claims.get("scope"))
        ):
            raise _invalid("ACCOUNT_STATE_INVALID")
        return caller

    def _check_account(self, caller: Caller) -> None:
        """Its token does not outlive a service account."""
        if not caller.email:
            return
        account = self._world.accounts.get(caller.email)
        if account is None or account.disabled or account.unique_id != caller.unique_id:
            raise _invalid("ACCOUNT_STATE_INVALID")


def bearer(request: Request) -> str:
    scheme, _, token = request.header("Authorization").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def expired() -> Refusal:
    return _invalid("ACCESS_TOKEN_EXPIRED")


def _invalid(reason: str) -> Refusal:
    return _unbelieved(f"Request had invalid authentication credentials. {_EXPECTED}", reason)


def _unbelieved(sentence: str, reason: str) -> Refusal:
    return Refusal(401, "UNAUTHENTICATED", sentence, reason=reason)
