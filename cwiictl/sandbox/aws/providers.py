"""OIDC providers: the thumbprint that IAM finds by itself, and the audiences, which moto has no handlers for."""

from __future__ import annotations

from urllib.parse import urlsplit

from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.places import Ground

from .answers import Refusal, done
from .limits import Form
from .memory import ACCOUNT
from .moto import Moto

_CLIENTS = 100
_ACTIONS = {"AddClientIDToOpenIDConnectProvider", "RemoveClientIDFromOpenIDConnectProvider"}


class Providers:
    def __init__(self, moto: Moto, ground: Ground) -> None:
        self._moto = moto
        self._ground = ground

    def answer(self, action: str, form: Form, partition: str) -> Response | None:
        """Adding what is there and removing what is not are both fine."""
        if action not in _ACTIONS:
            return None
        arn, client = form.get("OpenIDConnectProviderArn", ""), form.get("ClientID", "")
        provider = self._moto.providers(partition).get(arn)
        if provider is None:
            raise Refusal(404, "NoSuchEntity", f"OpenIDConnect Provider not found for arn {arn}")
        clients = [one for one in provider.client_id_list if one != client]
        if action.startswith("Add"):
            clients = [
                *provider.client_id_list,
                *([] if client in provider.client_id_list else [client]),
            ]
        if len(clients) > _CLIENTS:
            raise Refusal(
                409,
                "LimitExceeded",
                f"Cannot exceed quota for ClientIdsPerOpenIdConnectProvider: {_CLIENTS}",
            )
        provider.client_id_list = clients
        return done("iam", action)

    def with_thumbprint(self, request: Request) -> Request:
        """IAM asks the issuer for its certificate when nobody gives it a thumbprint, and refuses an issuer that is not there."""
        form = request.form
        url = urlsplit(form.get("Url", ""))
        if url.scheme != "https" or not url.hostname or url.query:
            raise Refusal(400, "ValidationError", "Invalid Open ID Connect Provider URL")
        if any(key.startswith("ThumbprintList.member.") for key in form):
            return request
        try:
            self._ground.web.reach(url.hostname, url.port or 443)
        except OSError as error:
            raise Refusal(
                400,
                "OpenIdIdpCommunicationError",
                f"Could not reach {url.hostname} to get its certificate.",
            ) from error
        filled = f"&ThumbprintList.member.1={self._ground.thumbprint}".encode()
        return Request(
            request.method,
            request.host,
            request.path,
            request.query,
            request.headers,
            request.body + filled,
        )


def provider_arn(form: Form, partition: str) -> str:
    if form.get("Action") == "CreateOpenIDConnectProvider":
        return f"arn:{partition}:iam::{ACCOUNT}:oidc-provider/{form.get('Url', '').removeprefix('https://')}"
    return form.get("OpenIDConnectProviderArn", "")
