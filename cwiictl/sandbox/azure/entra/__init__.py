"""Entra, as far as workloads and tools meet it: who is at home here, and a token for whoever proves who they are."""

from __future__ import annotations

from cwiictl.sandbox.azure.clouds import BY_AUTHORITY, Cloud
from cwiictl.sandbox.azure.world import TENANT, World
from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.faults import Fault
from cwiictl.sandbox.places import Ground

from . import answers, discovery
from .answers import Refusal
from .clients import Clients, secret_expired
from .federation import Federation
from .tokens import Caller, Tokens
from .wish import Wish

__all__ = ["Caller", "Entra", "Tokens"]

_FAULTS = {
    Fault.THROTTLED: Refusal(
        429, "temporarily_unavailable", 90055, "There are too many incoming requests."
    ),
    Fault.UNAVAILABLE: Refusal(
        503, "temporarily_unavailable", 90033, "A transient error has occurred. Please try again."
    ),
    Fault.BROKEN: Refusal(
        500,
        "server_error",
        50000,
        "There was an error issuing a token or an issue with our sign-in service.",
    ),
}
_NOBODYS = ("common", "organizations", "consumers")


class Entra:
    def __init__(self, ground: Ground, world: World, tokens: Tokens) -> None:
        self._ground = ground
        self._tokens = tokens
        self._checker = ground.checker()
        self._clients = Clients(world, Federation(world, self._checker))

    def action(self, request: Request) -> tuple[str, bool]:
        return ("Entra/token" if request.path.endswith("/token") else "Entra/discovery", False)

    def permissions(self, request: Request) -> tuple[str, ...]:
        """Nobody needs a permission to say who they are."""
        del request
        return ()

    def handle(self, request: Request) -> Response:
        try:
            return self._served(request, BY_AUTHORITY[request.host.lower()])
        except Refusal as refusal:
            return answers.refused(request, refusal, self._ground.faults.clock())

    def fault(self, request: Request, fault: Fault) -> Response:
        return answers.refused(request, _FAULTS[fault], self._ground.faults.clock())

    def expired(self, request: Request) -> Response | None:
        """The operator's secret has come to its end; federated workloads have none that could."""
        if not request.path.endswith("/token") or "client_secret" not in request.form:
            return None
        return answers.refused(
            request, secret_expired(request.form.get("client_id", "")), self._ground.faults.clock()
        )

    def reset(self) -> None:
        self._checker.forget()

    def _served(self, request: Request, cloud: Cloud) -> Response:
        path = request.path.rstrip("/")
        if path == "/common/discovery/instance":
            return discovery.instances(request)
        if path.startswith("/common/userrealm"):
            return discovery.realm(cloud)
        tenant, _, rest = path.lstrip("/").partition("/")
        _check_tenant(tenant, "invalid_request" if rest.endswith("token") else "invalid_tenant")
        if rest in {"v2.0/.well-known/openid-configuration", ".well-known/openid-configuration"}:
            return discovery.configuration(cloud, tenant, version=2 if rest.startswith("v2") else 1)
        if rest in {"discovery/v2.0/keys", "discovery/keys"}:
            return answers.json_response(200, self._tokens.keys())
        if rest in {"oauth2/v2.0/token", "oauth2/token"} and request.method == "POST":
            return self._token(request, cloud, tenant)
        return answers.missing()

    def _token(self, request: Request, cloud: Cloud, tenant: str) -> Response:
        if tenant in _NOBODYS:
            raise Refusal(
                400,
                "invalid_request",
                50059,
                "No tenant-identifying information found in either the request or implied by any provided credentials.",
            )
        wish = Wish.read(request, cloud)
        client = self._clients.proven(request.form)
        token = self._tokens.issue(client.principal, client.id, wish.audience, TENANT)
        return answers.granted(request, wish.version, token, self._ground.faults.clock())


def _check_tenant(tenant: str, error: str) -> None:
    if tenant.lower() in {TENANT, *_NOBODYS}:
        return
    words = (
        f"Tenant '{tenant}' not found. Check to make sure you have the correct tenant ID and are signing into the correct cloud."
        " Check with your subscription administrator, this may happen if there are no active subscriptions for the tenant."
    )
    raise Refusal(400, error, 90002, words)
