"""Resource providers: all that are known here are registered."""

from __future__ import annotations

from typing import Any

from cwiictl.sandbox.azure.answers import Refusal, json_response
from cwiictl.sandbox.exchange import Response

from . import kinds, locations
from .call import Call, Routes
from .pages import listed
from .state import State

_RESOURCES = {
    "resourceType": "resourceGroups", "locations": [], "apiVersions": list(reversed(kinds.CORE_VERSIONS)), "capabilities": "SupportsTags, SupportsLocation",
}  # fmt: skip
_GLOBAL = {"Microsoft.Authorization", "Microsoft.Resources"}


class Providers:
    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def routes(self) -> Routes:
        return {
            ("GET", "providers"): lambda call: listed(
                call, [self._shown(call, name) for name in kinds.NAMESPACES]
            ),
            ("GET", "subscriptions/{}/providers"): lambda call: listed(
                call, [self._shown(call, name) for name in kinds.NAMESPACES]
            ),
            ("GET", "subscriptions/{}/providers/{}"): self.get,
            ("POST", "subscriptions/{}/providers/{}/register"): self.get,
            ("POST", "subscriptions/{}/providers/{}/unregister"): self.unregister,
        }

    def get(self, call: Call) -> Response:
        return json_response(200, self._shown(call, _name(call)))

    def unregister(self, call: Call) -> Response:
        """Azure does not let go of a provider whose things are there; here it keeps them all."""
        words = f"Cannot unregister the resource provider '{_name(call)}': there are resources of it in the subscription."
        raise Refusal(409, "CannotUnregisterRP", words)

    def _shown(self, call: Call, namespace: str) -> dict[str, Any]:
        own = [self._type(kind) for kind in kinds.KINDS.values() if kind.namespace == namespace]
        return {
            "id": f"/subscriptions/{call.address.subscription}/providers/{namespace}" if call.address.subscription else f"/providers/{namespace}",
            "namespace": namespace, "registrationPolicy": "RegistrationRequired", "registrationState": "Registered",
            "resourceTypes": [*own, *([_RESOURCES] if namespace == "Microsoft.Resources" else [])],
        }  # fmt: skip

    def _type(self, kind: kinds.Kind) -> dict[str, Any]:
        where = [] if kind.namespace in _GLOBAL else list(locations.known(self._state.cloud))
        return {
            "resourceType": kind.type,
            "locations": where,
            "apiVersions": list(reversed(kind.versions)),
            "capabilities": "None",
        }


def _name(call: Call) -> str:
    asked = call.address.namespace
    found = next((name for name in kinds.NAMESPACES if name.lower() == asked.lower()), "")
    if not found:
        raise Refusal(
            404, "InvalidResourceNamespace", f"The resource namespace '{asked}' is invalid."
        )
    return found
