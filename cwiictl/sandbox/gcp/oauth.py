"""oauth2.googleapis.com: an access token for whoever signs a request with a service account's key."""

from __future__ import annotations

from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.faults import Fault
from cwiictl.sandbox.places import Ground

from .answers import json_response
from .keys import Unsigned
from .tokens import LONGEST, Tokens
from .world import World

HOST = "oauth2.googleapis.com"
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_AUDIENCES = {
    "https://oauth2.googleapis.com/token",
    "https://www.googleapis.com/oauth2/v4/token",
    "https://accounts.google.com/o/oauth2/token",
}
_FAULTS = {
    Fault.THROTTLED: (429, "rate_limit_exceeded", "Rate limit exceeded."),
    Fault.UNAVAILABLE: (503, "temporarily_unavailable", "The service is currently unavailable."),
    Fault.BROKEN: (500, "internal_failure", "Internal error encountered."),
}


class Refused(Exception):
    """In the words of OAuth, which the token services share."""

    def __init__(self, error: str, description: str, status: int = 400) -> None:
        super().__init__(f"{error}: {description}")
        self.error = error
        self.description = description
        self.status = status


def refused(refusal: Refused) -> Response:
    return json_response(
        {"error": refusal.error, "error_description": refusal.description}, refusal.status
    )


def faulty(fault: Fault) -> Response:
    status, error, description = _FAULTS[fault]
    return refused(Refused(error, description, status))


class OAuth:
    def __init__(self, ground: Ground, world: World, tokens: Tokens) -> None:
        del ground, world
        self._tokens = tokens

    def action(self, request: Request) -> tuple[str, bool]:
        del request
        return "oauth2.token", False

    def permissions(self, request: Request) -> tuple[str, ...]:
        """Nobody needs a permission to say who they are."""
        del request
        return ()

    def handle(self, request: Request) -> Response:
        if request.path.rstrip("/") != "/token" or request.method != "POST":
            return json_response({"error": "not_found"}, 404)
        try:
            return self._granted(request.form)
        except Refused as refusal:
            return refused(refusal)

    def fault(self, request: Request, fault: Fault) -> Response:
        del request
        return faulty(fault)

    def expired(self, request: Request) -> Response | None:
        """The operator's key has come to its end."""
        del request
        return refused(Refused("invalid_grant", "Invalid JWT Signature."))

    def reset(self) -> None:
        """It keeps nothing."""

    def _granted(self, form: dict[str, str]) -> Response:
        if form.get("grant_type") != _GRANT:
            raise Refused(
                "unsupported_grant_type", f"Invalid grant_type: {form.get('grant_type', '')}"
            )
        try:
            claims = self._tokens.keys.claims(form.get("assertion", ""))
        except Unsigned as unsigned:
            raise Refused("invalid_grant", str(unsigned)) from unsigned
        caller = self._tokens.account(str(claims.get("iss", "")))
        if caller is None:
            raise Refused("invalid_grant", "Invalid grant: account not found")
        if claims.get("aud") not in _AUDIENCES:
            raise Refused(
                "invalid_grant",
                "Invalid JWT: Failed audience check. The right audience is https://oauth2.googleapis.com/token.",
            )
        if not claims.get("scope"):
            raise Refused("invalid_scope", "Invalid OAuth scope or ID token audience provided.")
        return json_response(
            {
                "access_token": self._tokens.issue(caller, LONGEST),
                "expires_in": int(LONGEST) - 1,
                "token_type": "Bearer",
            }
        )
