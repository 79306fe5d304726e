"""What Google does in its own time: begun by us, and looked at when we are asked again."""

from __future__ import annotations

from typing import Any

from google.api_core.exceptions import GoogleAPICallError, from_grpc_status

from cwiictl.clouds.gcp.stores.errors import absent
from cwiictl.clouds.gcp.stores.wire import Rest
from cwiictl.errors import NotYet

SOON = 0.5  # seconds; most of them take no longer


class Operations:
    """By the names of the things that they are done to."""

    def __init__(self, rest: Rest, root: str) -> None:
        self.rest, self.root = rest, root
        self.pending: dict[str, tuple[str, str]] = {}

    def begun(self, thing: str, operation: Any, why: str) -> None:
        """Raises while it is under way, or where it failed."""
        _judged(operation)
        if not operation.get("done"):
            self.pending[thing] = (str(operation["name"]), why)
            raise NotYet(why, after=SOON)

    def settle(self, thing: str) -> None:
        """What we began ourselves comes to an end before anything else is done there."""
        if thing not in self.pending:
            return
        name, why = self.pending[thing]
        operation = self._read(name)
        if not operation.get("done"):
            raise NotYet(why)
        self.pending.pop(thing, None)
        _judged(operation)

    def _read(self, name: str) -> Any:
        """One that Google has forgotten is over."""
        try:
            return self.rest.get(f"{self.root}/{name}")
        except GoogleAPICallError as e:
            if absent(e):
                return {"done": True}
            raise


def _judged(operation: Any) -> None:
    if error := operation.get("error"):
        raise from_grpc_status(
            int(error.get("code", 13)),
            str(error.get("message", "")),
            details=error.get("details") or (),
        )
