"""What takes its time: where to ask how far it has come, and what is heard there at last."""

from __future__ import annotations

import math
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass

from cwiictl.sandbox.azure.answers import Refusal, empty
from cwiictl.sandbox.exchange import Response
from cwiictl.sandbox.faults import Faults

from .call import Call, Routes

_LONGEST = 15  # seconds that Azure asks a client to wait


@dataclass(frozen=True)
class Operation:
    due: float
    end: Callable[[], Response]


class Operations:
    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._kept: dict[str, Operation] = {}
        self._lock = threading.Lock()

    @property
    def routes(self) -> Routes:
        return {
            ("GET", "subscriptions/{}/operationresults/{}"): self.poll,
            ("GET", "microsoft.storage/locations/{}/asyncoperations/{}"): self.poll,
        }

    def due(self) -> float:
        """When what begins now is done."""
        return self._faults.clock() + self._faults.deploy

    def begun(self, call: Call, place: str, end: Callable[[], Response], due: float) -> Response:
        name = secrets.token_urlsafe(24)
        with self._lock:
            self._kept[name] = Operation(due, end)
        return self._waiting(call.url(f"{place}/{name}"), due)

    def poll(self, call: Call) -> Response:
        with self._lock:
            found = self._kept.get(call.address.name)
        if found is None:
            raise Refusal(
                404, "OperationNotFound", f"The operation '{call.address.name}' is not found."
            )
        if found.due > self._faults.clock():
            return self._waiting(call.url(call.address.id), found.due)
        return found.end()

    def forget(self) -> None:
        with self._lock:
            self._kept.clear()

    def _waiting(self, where: str, due: float) -> Response:
        after = max(0, min(_LONGEST, math.ceil(due - self._faults.clock())))
        return empty(202, (("Location", where), ("Retry-After", str(after))))
