"""Who asks for a token: the operator with a secret, or a managed identity with what an issuer says of its workload."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass

from cwiictl.sandbox.azure.world import CLIENT, OPERATOR, SECRET, TENANT, Identity, World

from .answers import Refusal
from .federation import Federation

_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


@dataclass(frozen=True)
class Client:
    id: str
    principal: str


class Clients:
    def __init__(self, world: World, federation: Federation) -> None:
        self._world = world
        self._federation = federation

    def proven(self, form: Mapping[str, str]) -> Client:
        asked = form["client_id"].lower()
        identity = self._identity(asked)
        if identity is None and asked != CLIENT:
            raise _unknown(form["client_id"])
        if form.get("client_assertion"):
            return self._asserted(form, identity)
        if not form.get("client_secret"):
            sentence = "'client_assertion', 'client_secret' or 'request' is required for the 'client_credentials' grant type."
            raise Refusal(401, "invalid_client", 7000216, sentence)
        if identity is not None or not hmac.compare_digest(
            form["client_secret"].encode(), SECRET.encode()
        ):
            raise _wrong_secret(asked)
        return Client(CLIENT, OPERATOR)

    def _identity(self, client: str) -> Identity | None:
        """A new identity is a stranger to Entra for a while."""
        with self._world.lock:
            return next(
                (
                    one
                    for one in self._world.identities.values()
                    if one.client == client and self._world.old(one.born)
                ),
                None,
            )

    def _asserted(self, form: Mapping[str, str], identity: Identity | None) -> Client:
        kind = form.get("client_assertion_type", "")
        if kind != _ASSERTION:
            raise Refusal(
                400,
                "invalid_request",
                50027,
                f"Invalid client_assertion_type: expected '{_ASSERTION}'.",
            )
        if identity is None:
            raise Refusal(
                401,
                "invalid_client",
                70025,
                f"The client '{CLIENT}'(sandbox-operator) has no configured federated identity credentials.",
            )
        self._federation.check(form["client_assertion"], identity)
        return Client(identity.client, identity.principal)


def _unknown(client: str) -> Refusal:
    words = (
        f"Application with identifier '{client}' was not found in the directory '{TENANT}'. This can happen if the application has not been installed by"
        " the administrator of the tenant or consented to by any user in the tenant. You may have sent your authentication request to the wrong tenant."
    )
    return Refusal(400, "unauthorized_client", 700016, words)


def _wrong_secret(client: str) -> Refusal:
    words = (
        "Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID,"
        f" for a secret added to app '{client}'."
    )
    return Refusal(401, "invalid_client", 7000215, words)


def secret_expired(client: str) -> Refusal:
    words = (
        f"The provided client secret keys for app '{client}' are expired. Visit the Azure portal to create new keys for your app:"
        " https://aka.ms/NewClientSecret, or consider using certificate credentials for added security: https://aka.ms/certCreds."
    )
    return Refusal(401, "invalid_client", 7000222, words)
