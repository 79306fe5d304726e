"""STS: who somebody is, and credentials for a role; for a web identity only when everything about the token is right."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.issuers import Flaw, Refused
from cwiictl.sandbox.tokens import Checker, Claims

from .address import Address
from .answers import Refusal, Tree, done
from .iam import Iam
from .keyring import Credentials, Keyring
from .memory import ACCOUNT
from .policy import Question, allows
from .things import Provider, Role

WEB_IDENTITY = "sts:AssumeRoleWithWebIdentity"
_SESSION = re.compile(r"[\w+=,.@-]{2,64}")
_FLAWS = {
    Flaw.MALFORMED: (
        "InvalidIdentityToken",
        "The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)",
    ),
    Flaw.CLAIMS: ("InvalidIdentityToken", "Missing a required claim"),
    Flaw.UNREACHABLE: (
        "IDPCommunicationError",
        "Couldn't retrieve verification key from your identity provider, it could not be reached",
    ),
    Flaw.UNUSABLE: (
        "InvalidIdentityToken",
        "Couldn't retrieve verification key from your identity provider, please reference AssumeRoleWithWebIdentity documentation for requirements",
    ),
    Flaw.UNKNOWN_KEY: (
        "InvalidIdentityToken",
        "Couldn't retrieve verification key from your identity provider, no key of that id is published",
    ),
    Flaw.SIGNATURE: (
        "InvalidIdentityToken",
        "Provided Token is not signed by the identity provider",
    ),
    Flaw.EXPIRED: (
        "ExpiredTokenException",
        "Token expired: the current date/time must be before the expiration date/time",
    ),
    Flaw.EARLY: ("InvalidIdentityToken", "The ID Token provided is not valid yet"),
}


class Sts:
    def __init__(self, iam: Iam, keyring: Keyring, checker: Checker) -> None:
        self._iam = iam
        self._keyring = keyring
        self._checker = checker

    def handle(self, request: Request, address: Address) -> Response | None:
        """None for what moto answers well enough."""
        action = request.form.get("Action", "")
        if action == "AssumeRoleWithWebIdentity":
            return self._web_identity(request.form, address.partition)
        caller = self._keyring.caller(request, "sts", address.partition)
        if action == "GetCallerIdentity":
            return done(
                "sts", action, {"Arn": caller.arn, "UserId": caller.user_id, "Account": ACCOUNT}
            )
        if action == "GetSessionToken":
            return done(
                "sts",
                action,
                {
                    "Credentials": _shown(
                        self._keyring.issue(
                            caller.arn, caller.user_id, _duration(request.form, 43200, 129600)
                        )
                    )
                },
            )
        if action == "AssumeRole":
            return self._assume_role(request.form, address.partition, caller)
        return None

    def _assume_role(self, form: dict[str, str], partition: str, caller: Credentials) -> Response:
        role = self._iam.role_by_arn(form.get("RoleArn", ""), partition)
        names = (caller.arn, ACCOUNT, f"arn:{partition}:iam::{ACCOUNT}:root")
        if role is None or not any(
            allows(role.assume_role_policy_document, Question(("AWS", name), "sts:AssumeRole"))
            for name in names
        ):
            arn = form.get("RoleArn", "")
            raise Refusal(
                403,
                "AccessDenied",
                f"User: {caller.arn} is not authorized to perform: sts:AssumeRole on resource: {arn}",
            )
        return done("sts", "AssumeRole", self._session(role, form, partition))

    def _web_identity(self, form: dict[str, str], partition: str) -> Response:
        token = form.get("WebIdentityToken", "")
        try:
            claimed = self._checker.peek(token)
            provider = self._provider(claimed, partition)
            claims = self._checker.check(token, issuer=claimed.issuer)
        except Refused as refused:
            raise Refusal(400, *_FLAWS[refused.flaw]) from refused
        role = self._iam.role_by_arn(form.get("RoleArn", ""), partition)
        if role is None or not allows(
            role.assume_role_policy_document, _question(provider, claims)
        ):
            raise Refusal(403, "AccessDenied", f"Not authorized to perform {WEB_IDENTITY}")
        session = self._session(role, form, partition)
        told = {
            "SubjectFromWebIdentityToken": claims.subject,
            "Audience": _audience(claims)[0],
            "Provider": provider.arn,
        }
        return done("sts", "AssumeRoleWithWebIdentity", {**session, **told})

    def _provider(self, claimed: Claims, partition: str) -> Provider:
        """The provider of this issuer, if the token is meant for one of its clients."""
        url = claimed.issuer.removeprefix("https://")
        provider = self._iam.provider(
            f"arn:{partition}:iam::{ACCOUNT}:oidc-provider/{url}", partition
        )
        if provider is None or not claimed.issuer.startswith("https://"):
            raise Refusal(
                400,
                "InvalidIdentityToken",
                f"No OpenIDConnect provider found in your account for {claimed.issuer}",
            )
        if not set(_audience(claimed)) & set(provider.client_id_list):
            raise Refusal(400, "InvalidIdentityToken", "Incorrect token audience")
        return provider

    def _session(self, role: Role, form: dict[str, str], partition: str) -> Tree:
        name = form.get("RoleSessionName", "")
        if not _SESSION.fullmatch(name):
            raise Refusal(
                400,
                "ValidationError",
                f"1 validation error detected: Value '{name}' at 'roleSessionName' failed to satisfy constraint",
            )
        arn, user_id = (
            f"arn:{partition}:sts::{ACCOUNT}:assumed-role/{role.name}/{name}",
            f"{role.id}:{name}",
        )
        credentials = self._keyring.issue(
            arn, user_id, _duration(form, 3600, int(role.max_session_duration or 3600))
        )
        return {
            "Credentials": _shown(credentials),
            "AssumedRoleUser": {"AssumedRoleId": user_id, "Arn": arn},
        }


def _duration(form: dict[str, str], usual: int, most: int) -> int:
    seconds = int(form.get("DurationSeconds", usual))
    if not 900 <= seconds <= most:
        raise Refusal(
            400,
            "ValidationError",
            "The requested DurationSeconds exceeds the MaxSessionDuration set for this role.",
        )
    return seconds


def _shown(credentials: Credentials) -> Tree:
    expires = datetime.fromtimestamp(credentials.expires or 0, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "AccessKeyId": credentials.key,
        "SecretAccessKey": credentials.secret,
        "SessionToken": credentials.token,
        "Expiration": expires,
    }


def _audience(claims: Claims) -> tuple[str, ...]:
    """STS takes the authorized party for the audience when the token names one."""
    party = claims.everything.get("azp")
    return (party,) if isinstance(party, str) else claims.audiences


def _question(provider: Provider, claims: Claims) -> Question:
    """Condition keys are the provider's address and a claim; their case does not count."""
    texts = {name: value for name, value in claims.everything.items() if isinstance(value, str)}
    context: dict[str, tuple[str, ...]] = {
        f"{provider.url}:{name}".lower(): (value,) for name, value in texts.items()
    }
    context[f"{provider.url}:aud".lower()] = _audience(claims)
    return Question(("Federated", provider.arn), WEB_IDENTITY, context=context)
