"""Federated credentials: whose word an identity takes for a workload."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, cast
from urllib.parse import urlsplit

from cwiictl.sandbox.azure.answers import Refusal, empty, json_response
from cwiictl.sandbox.azure.world import Credential, Identity
from cwiictl.sandbox.exchange import Response

from .call import Call, Routes
from .identities import KIND as IDENTITIES
from .pages import listed
from .state import State, missing

KIND = f"{IDENTITIES}/federatedIdentityCredentials"
MOST = 20
_NAME = re.compile(r"[A-Za-z0-9][\w-]{2,119}", re.ASCII)
_LONGEST = 600


class Credentials:
    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def routes(self) -> Routes:
        every = f"{IDENTITIES.lower()}/{{}}/federatedidentitycredentials"
        item = f"{every}/{{}}"
        return {
            ("PUT", item): self.put,
            ("GET", item): self.get,
            ("DELETE", item): self.delete,
            ("GET", every): self.list,
        }

    def put(self, call: Call) -> Response:
        self._state.writable(call.address)
        identity = self._state.identity(call.address)
        wanted = _read(call, self._state.now())
        there = identity.credentials.get(wanted.name.lower())
        _check_room(identity, wanted)
        if (
            there is None
            or dataclasses.replace(there, name=wanted.name, born=wanted.born) != wanted
        ):  # what is no change is not news to Entra either
            identity.credentials[wanted.name.lower()] = wanted
        return json_response(200 if there else 201, _shown(identity, wanted))

    def get(self, call: Call) -> Response:
        identity = self._state.identity(call.address)
        found = identity.credentials.get(call.address.name.lower())
        if found is None:
            raise missing(call.address, 2)
        return json_response(200, _shown(identity, found))

    def delete(self, call: Call) -> Response:
        self._state.writable(call.address)
        gone = self._state.identity(call.address).credentials.pop(call.address.name.lower(), None)
        return empty(200 if gone else 204)

    def list(self, call: Call) -> Response:
        identity = self._state.identity(call.address)
        return listed(
            call, [_shown(identity, one) for _, one in sorted(identity.credentials.items())]
        )


def _read(call: Call, now: float) -> Credential:
    name, found = call.address.name, call.properties
    if not _NAME.fullmatch(name):
        words = f"Federated Identity Credential name '{name}' is invalid. It must be 3 to 120 letters, digits, '-' and '_', and start with a letter or a digit."
        raise _bad(words)
    issuer, subject, audiences = found.get("issuer"), found.get("subject"), found.get("audiences")
    if not issuer or not subject or not audiences or not isinstance(audiences, list):
        raise _bad(
            "The request format was unexpected. Federated Identity Credential must specify 'issuer', 'subject' and 'audience'."
        )
    each = [str(one) for one in cast("list[object]", audiences)]
    if len(each) != 1:
        raise _bad("Federated Identity Credential must have exactly 1 audience.")
    _check_texts(str(issuer), str(subject), each[0])
    return Credential(name, str(issuer), str(subject), (each[0],), now)


def _check_texts(issuer: str, subject: str, audience: str) -> None:
    if urlsplit(issuer).scheme not in {"https", "http"} or not urlsplit(issuer).hostname:
        raise _bad(f"Federated Identity Credential issuer '{issuer}' is not a valid URL.")
    for name, text in (("issuer", issuer), ("subject", subject), ("audience", audience)):
        if len(text) > _LONGEST:
            raise _bad(
                f"Federated Identity Credential {name} is longer than {_LONGEST} characters."
            )


def _check_room(identity: Identity, wanted: Credential) -> None:
    others = [one for name, one in identity.credentials.items() if name != wanted.name.lower()]
    if any((one.issuer, one.subject) == (wanted.issuer, wanted.subject) for one in others):
        raise Refusal(
            409,
            "Conflict",
            "Issuer and subject combination already exists for this Managed Identity.",
        )
    if len(others) >= MOST:
        raise _bad(
            f"Too many Federated Identity Credentials for the managed identity '{identity.id}'. The maximum is {MOST}."
        )


def _bad(words: str) -> Refusal:
    return Refusal(400, "BadRequest", words)


def _shown(identity: Identity, one: Credential) -> dict[str, Any]:
    own = {"issuer": one.issuer, "subject": one.subject, "audiences": list(one.audiences)}
    return {
        "id": f"{identity.id}/federatedIdentityCredentials/{one.name}",
        "name": one.name,
        "type": KIND,
        "properties": own,
    }
