"""A running cluster, as a rotation asks it: its API servers one by one, its pods, and the tokens that lie in Secrets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cwiictl import kubernetes
from cwiictl.errors import Problem
from cwiictl.kubernetes.place import Api, Place
from cwiictl.rotate.servers import Server
from cwiictl.rotate.tokens import kid

ACCOUNT = ("default", "default")  # every cluster has it
AUDIENCE = "rotation.cwii.dev"  # nobody's: such a token is good for nothing
SECONDS = 600
TOKEN = "kubernetes.io/service-account-token"  # noqa: S105 - a type of Secret


class Running:
    def __init__(self, place: Place, each: Callable[[], Mapping[str, Api]]) -> None:
        """`each` are the API servers at their own addresses."""
        self.place, self.each = place, each

    @property
    def context(self) -> str:
        return self.place.context

    def servers(self) -> Sequence[Server]:
        return [_server(address, api) for address, api in sorted(self.each().items())]

    def pods(self) -> Sequence[Mapping[str, Any]]:
        return self.place.api.list("Pod")

    def token_secrets(self) -> Sequence[Mapping[str, Any]]:
        """No other Secret is read: what is in them is nobody's business here."""
        return self.place.api.list("Secret", fields=f"type={TOKEN}")


def connecting(kubeconfig: Path | None, context: str | None) -> Callable[[], Running]:
    def connect() -> Running:
        place = kubernetes.connect(kubeconfig, context)
        from cwiictl.kubernetes.stores.endpoints import endpoints  # noqa: PLC0415 - whoever asks no cluster loads no client

        return Running(place, lambda: endpoints(place.api))

    return connect


def _server(address: str, api: Api) -> Server:
    """Its token is looked at for its key's id, and forgotten."""
    try:
        keys: Any = api.document("/openid/v1/jwks")["keys"]
        signs = kid(api.token(*ACCOUNT, AUDIENCE, SECONDS))
    except Problem as e:
        return Server(address, problem=f"it cannot be asked: {e.problem}")
    return Server(address, {str(key["kid"]): key for key in keys if "kid" in key}, signs)
