"""Tokens that are asked for and shown on and on, by and to each API server of a cluster: whoever is refused on the way is told."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType

from tests.cluster.kube.client import Object, Refused
from tests.cluster.kube.reach import Reach
from tests.federation.world import token

AUDIENCE = "https://kubernetes.default.svc.cluster.local"
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
WHOAMI = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
PAUSE = 0.5
# A server that is started again takes no connections for a while, and for another says that it is not ready: whose token it is shown is nothing to it.
AWAY = (OSError, http.client.HTTPException, Refused)


@dataclass(frozen=True)
class Refusal:
    """Of a token that the one server has made, by another or itself."""

    made: int
    refused: int
    told: str


class Stream:
    """`with Stream(reach, namespace, account) as stream`: new tokens, and those that were there when it began, as long as these are held."""

    def __init__(self, reach: Reach, namespace: str, account: str) -> None:
        self.refused: list[Refusal] = []
        self.shown = 0
        self._reach, self._who = reach, (namespace, account)
        self._held = [self._token(number, 7200) for number in range(len(reach.urls))]
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._flow)

    def __enter__(self) -> Stream:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._thread.is_alive(), "it has not flowed to the end"
        self._over.set()
        self._thread.join()

    def expired(self) -> None:
        """Those that were there when it began are shown no more."""
        self._held = []

    def _flow(self) -> None:
        while not self._over.wait(PAUSE):
            for number in range(len(self._reach.urls)):
                self._show(number, self._held[number : number + 1])
                with suppress(*AWAY):
                    self._show(number, [self._token(number, 600)])

    def _show(self, made: int, tokens: list[str]) -> None:
        for server in range(len(self._reach.urls)):
            for each in tokens:
                with suppress(*AWAY):
                    self.refused += (
                        Refusal(made, server, told) for told in self._refusals(each, server)
                    )
                    self.shown += 1

    def _refusals(self, shown: str, server: int) -> Iterator[str]:
        status: Object = self._reach.admins[server].create(REVIEWS, {"spec": {"token": shown}})[
            "status"
        ]
        if not status.get("authenticated"):
            yield f"its review says {status.get('error')}"
        try:
            self._reach.bearer(shown, server).create(WHOAMI, {})
        except Refused as refused:
            if refused.status != 401:
                raise
            yield f"a call is answered {refused}"

    def _token(self, number: int, seconds: int) -> str:
        return token(self._reach.admins[number], *self._who, AUDIENCE, seconds)
