"""One writer at a time: an identity does not take two writes of its credentials that overlap, not even to make the second wait."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Generator

from cwiictl.sandbox.azure.answers import Refusal
from cwiictl.sandbox.faults import Faults

from .call import Call
from .credentials import KIND

_WORK = 0.01  # seconds that a write takes at least; with Azure it is half a second


class Writers:
    """By the machine's own clock: what overlaps is real requests, whatever time the sandbox thinks it is."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._busy: set[str] = set()
        self._ended: dict[str, float] = {}
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def turn(self, call: Call) -> Generator[None]:
        if call.address.kind != KIND.lower() or call.request.method in {"GET", "HEAD"}:
            yield
            return
        identity = call.address.id.lower().rpartition("/federatedidentitycredentials")[0]
        self._begin(identity)
        try:
            time.sleep(_WORK)
            yield
        finally:
            with self._lock:
                self._busy.discard(identity)
                self._ended[identity] = time.monotonic()

    def _begin(self, identity: str) -> None:
        """What arrives here has been on its way for the sandbox's latency: it began before that."""
        began = time.monotonic() - self._faults.latency
        with self._lock:
            if identity in self._busy or self._ended.get(identity, began) > began:
                words = (
                    f"Too many Federated Identity Credentials are written concurrently for the managed identity '{identity}'. Concurrent Federated Identity"
                    " Credentials writes under the same managed identity are not supported."
                )
                raise Refusal(
                    409,
                    "ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity",
                    words,
                )
            self._busy.add(identity)
