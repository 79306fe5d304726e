"""sts.googleapis.com: a token from elsewhere for one of Google's."""

from __future__ import annotations

import json
import re
from typing import Any, cast

from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.faults import Fault
from cwiictl.sandbox.gcp import answers, oauth
from cwiictl.sandbox.gcp.oauth import Refused
from cwiictl.sandbox.gcp.tokens import LONGEST, Tokens
from cwiictl.sandbox.gcp.world import World
from cwiictl.sandbox.places import Ground

from .federation import Federation

HOST = "sts.googleapis.com"
_GRANT = "urn:ietf:params:oauth:grant-type:token-exchange"
_ACCESS = "urn:ietf:params:oauth:token-type:access_token"
_KINDS = {"urn:ietf:params:oauth:token-type:jwt", "urn:ietf:params:oauth:token-type:id_token"}
_HUMP = re.compile(r"[A-Z]")


class Sts:
    def __init__(self, ground: Ground, world: World, tokens: Tokens) -> None:
        self._checker = ground.checker()
        self._federation = Federation(world, self._checker)
        self._tokens = tokens

    def action(self, request: Request) -> tuple[str, bool]:
        del request
        return "sts.token", False

    def permissions(self, request: Request) -> tuple[str, ...]:
        """Nobody needs a permission to say who they are."""
        del request
        return ()

    def handle(self, request: Request) -> Response:
        try:
            if request.path.rstrip("/") != "/v1/token" or request.method != "POST":
                raise answers.not_found("Method not found.")
            return self._granted(_fields(request))
        except Refused as refusal:
            return oauth.refused(refusal)
        except answers.Refusal as refusal:
            return answers.error(refusal)

    def fault(self, request: Request, fault: Fault) -> Response:
        del request
        return oauth.faulty(fault)

    def expired(self, request: Request) -> Response | None:
        """Whoever comes here bears nothing of Google's."""
        del request

    def reset(self) -> None:
        self._checker.forget()

    def _granted(self, asked: dict[str, str]) -> Response:
        _check(asked)
        caller = self._federation.believe(asked["audience"], asked["subject_token"])
        token = self._tokens.issue(caller, LONGEST)
        return answers.json_response(
            {
                "access_token": token,
                "issued_token_type": _ACCESS,
                "token_type": "Bearer",
                "expires_in": int(LONGEST) - 1,
            }
        )


def _fields(request: Request) -> dict[str, str]:
    """A form, or JSON whose names have humps."""
    if "json" not in request.header("Content-Type"):
        return request.form
    try:
        told: Any = json.loads(request.body or b"{}")
    except ValueError as error:
        raise answers.invalid("Invalid JSON payload received.") from error
    fields = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
    return {
        _HUMP.sub(lambda found: f"_{found[0].lower()}", key): str(value)
        for key, value in fields.items()
    }


def _check(asked: dict[str, str]) -> None:
    if asked.get("grant_type") != _GRANT:
        raise Refused(
            "unsupported_grant_type", f'Invalid value for "grant_type". It should be "{_GRANT}".'
        )
    if asked.get("requested_token_type", _ACCESS) != _ACCESS:
        raise Refused(
            "invalid_request",
            f'Invalid value for "requested_token_type". It should be "{_ACCESS}".',
        )
    if asked.get("subject_token_type") not in _KINDS:
        raise Refused("invalid_request", 'Invalid value for "subject_token_type".')
    for name in ("audience", "subject_token"):
        if not asked.get(name):
            raise Refused("invalid_request", f'Missing required parameter: "{name}".')
    if not asked.get("scope"):
        raise Refused("invalid_scope", 'Invalid value for "scope".')
