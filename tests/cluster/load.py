"""A steady load: pods that several clients create at once, and what became of them."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from tests.cluster.kube.client import Refused
from tests.cluster.space import Space, plain, volumes


class Load:
    """`with Load(space, 20) as load`: so many pods in a second, until the block ends. Dry ones are asked about, and nobody has to run them."""

    def __init__(
        self, space: Space, per_second: float, clients: int = 4, *, dry: bool = False
    ) -> None:
        self.created = 0
        self.failed: list[str] = []
        self.bare: list[str] = []  # names of pods that were given nothing
        self._make, self._pause = space.tried if dry else space.create, clients / per_second
        self._over = threading.Event()
        self._clients = [threading.Thread(target=self._create, daemon=True) for _ in range(clients)]

    def __enter__(self) -> Load:
        for client in self._clients:
            client.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        for client in self._clients:
            client.join()

    def _create(self) -> None:
        due = time.monotonic()
        while not self._over.wait(max(0.0, due - time.monotonic())):
            due = max(due + self._pause, time.monotonic())
            try:
                pod = self._make(plain())
            except (Refused, OSError) as error:
                self.failed.append(str(error))
                continue
            self.created += 1
            if not volumes(pod):
                self.bare.append(pod["metadata"]["name"])
