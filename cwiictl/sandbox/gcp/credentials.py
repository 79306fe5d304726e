"""iamcredentials.googleapis.com: who may be a service account becomes it, for an hour."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.places import Ground

from . import address, answers
from .answers import Refusal, invalid, json_response
from .call import Call, Route, Routes
from .service import Service
from .tokens import LONGEST, Tokens
from .world import ServiceAccount, World

HOST = "iamcredentials.googleapis.com"
_SECONDS = re.compile(r"(\d+)(?:\.\d+)?s")


class Credentials(Service):
    def __init__(self, ground: Ground, world: World, tokens: Tokens) -> None:
        self._all = world
        self._issuing = tokens
        super().__init__(HOST, world, tokens, ground.faults, self._routes_of_tokens(), _denied)

    def handle(self, request: Request) -> Response:
        """An account that is not there is told before anybody asks who wants to be it."""
        where = address.read(request.path)
        if (
            where.shape.startswith("projects/{}/serviceAccounts/{}")
            and self._account(where.names[1]) is None
        ):
            return answers.error(
                Refusal(
                    404, "NOT_FOUND", f"Not found; Gaia id not found for email {where.names[1]}"
                )
            )
        return super().handle(request)

    def _routes_of_tokens(self) -> Routes:
        item = "projects/{}/serviceAccounts/{}"
        anywhere = Route(
            "iamcredentials.allowedLocations.get", _anywhere, writes=False, everybody=True
        )
        return {
            ("POST", f"{item}:generateAccessToken"): Route(
                "iam.serviceAccounts.getAccessToken", self._token, writes=False
            ),
            ("GET", f"{item}/allowedLocations"): anywhere,
            ("GET", "projects/{}/locations/{}/workloadIdentityPools/{}/allowedLocations"): anywhere,
        }

    def _account(self, email: str) -> ServiceAccount | None:
        with self._all.lock:
            found = self._all.accounts.get(email)
            return found if found and found.born + self._all.lag() <= self._all.clock() else None

    def _token(self, call: Call) -> Response:
        if not call.body.get("scope"):
            raise invalid("Request contains an invalid argument: scope is required.")
        lifetime = _lifetime(call.body.get("lifetime"))
        caller = self._issuing.account(call.address.name)
        if caller is None:
            raise answers.failed("Service account is disabled.")
        until = datetime.fromtimestamp(int(self._all.clock() + lifetime), UTC)
        return json_response(
            {
                "accessToken": self._issuing.issue(caller, lifetime),
                "expireTime": until.isoformat().replace("+00:00", "Z"),
            }
        )


def _anywhere(call: Call) -> Response:
    """Some SDKs ask, behind their caller's back, from which regions a token may be used."""
    del call
    return json_response({"locations": [], "encodedLocations": "0x0"})


def _lifetime(asked: object) -> float:
    found = _SECONDS.fullmatch(str(asked or "3600s"))
    if found is None:
        raise invalid("Invalid value at 'lifetime' (type.googleapis.com/google.protobuf.Duration).")
    if not 0 < int(found[1]) <= LONGEST:
        raise invalid("The token lifetime must be positive and at most 3600s.")
    return float(found[1])


def _denied(call: Call, permission: str) -> Refusal:
    del call
    words = f"Permission '{permission}' denied on resource (or it may not exist)."
    return Refusal(
        403,
        "PERMISSION_DENIED",
        words,
        reason="IAM_PERMISSION_DENIED",
        domain="iam.googleapis.com",
        metadata={"permission": permission},
    )
