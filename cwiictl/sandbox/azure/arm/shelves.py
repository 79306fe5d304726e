"""What else a storage account may hold: file shares, queues and tables. They are there, and are listed; what is in them nobody plays here."""

from __future__ import annotations

from collections.abc import Callable

from cwiictl.sandbox.azure.answers import empty, json_response
from cwiictl.sandbox.exchange import Response

from .account_names import KIND as ACCOUNTS
from .call import Call, Routes
from .pages import listed
from .state import State

SHELVES = ("fileServices/shares", "queueServices/queues", "tableServices/tables")


class Shelves:
    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def routes(self) -> Routes:
        found: Routes = {}
        for kind in SHELVES:
            service, _, what = kind.lower().partition("/")
            every = f"{ACCOUNTS.lower()}/{{}}/{service}/{{}}/{what}"
            found |= {
                ("GET", every): self._lists(kind),
                ("PUT", f"{every}/{{}}"): self._puts(kind),
                ("DELETE", f"{every}/{{}}"): self._drops(kind),
            }
        return found

    def _lists(self, kind: str) -> Callable[[Call], Response]:
        return lambda call: listed(
            call,
            [
                _shown(self._state.account(call.address).id, kind, name)
                for name in sorted(self._names(call, kind))
            ],
        )

    def _puts(self, kind: str) -> Callable[[Call], Response]:
        def put(call: Call) -> Response:
            self._names(call, kind).add(call.address.name)
            return json_response(
                201, _shown(self._state.account(call.address).id, kind, call.address.name)
            )

        return put

    def _drops(self, kind: str) -> Callable[[Call], Response]:
        def drop(call: Call) -> Response:
            self._names(call, kind).discard(call.address.name)
            return empty(204)

        return drop

    def _names(self, call: Call, kind: str) -> set[str]:
        return self._state.account(call.address).shelves.setdefault(kind, set())


def _shown(account: str, kind: str, name: str) -> dict[str, object]:
    service, _, what = kind.partition("/")
    return {
        "id": f"{account}/{service}/default/{what}/{name}",
        "name": name,
        "type": f"{ACCOUNTS}/{kind}",
        "properties": {},
    }
