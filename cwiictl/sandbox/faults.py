"""What the sandbox does to its clients on purpose: slow, throttled, failing, late, and ended in the middle of their work."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from .exchange import Request, Response

Clock = Callable[[], float]
Spoil = Callable[[Request, Response], Response]
Flaw = Literal["expired", "strange", "another's"]


class Fault(Enum):
    """Why a request is not carried out; each service has its own words for it."""

    THROTTLED = "throttled"
    UNAVAILABLE = "unavailable"
    BROKEN = "broken"


class Ended(Exception):
    """The client was ended: nobody waits for an answer any more."""


@dataclass
class Faults:
    """Every field may be changed while the sandbox runs."""

    latency: float = 0.0
    rate: float = 0.0
    lag: float = 0.0
    deploy: float = 2.0
    deny: set[str] = field(default_factory=set[str])
    expired: bool = False
    seed: int = 0
    clock: Clock = time.time
    certificates: dict[str, Flaw] = field(
        default_factory=dict[str, Flaw]
    )  # by host, what is wrong with its certificate
    spoil: Spoil = lambda _request, response: response  # what becomes of an answer on its way
    on_end: Callable[[], None] = lambda: None
    _left: int | None = field(default=None, init=False)
    _gate: threading.RLock = field(default_factory=threading.RLock, init=False, repr=False)
    _dice: random.Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._dice = random.Random(self.seed)  # noqa: S311 - chance that a test can repeat, not a secret

    @property
    def end_after(self) -> int | None:
        """How many more writes are carried out before the client is ended; None for as many as it likes, 0 once it was ended."""
        return self._left

    @end_after.setter
    def end_after(self, count: int | None) -> None:
        with self._gate:
            self._left = count

    def delay(self) -> None:
        if self.latency > 0:
            time.sleep(self.latency)

    def strike(self) -> Fault | None:
        with self._gate:
            if self.rate <= 0 or self._dice.random() >= self.rate:
                return None
            return self._dice.choice(
                [Fault.THROTTLED, Fault.THROTTLED, Fault.UNAVAILABLE, Fault.BROKEN]
            )

    @contextlib.contextmanager
    def turn(self, *, mutating: bool) -> Generator[Callable[[Response], None]]:
        """A request's turn. Writes come one by one while they are counted, so that exactly the Nth is the last that was carried out."""
        if self._left is None:
            yield lambda _: None
            return
        with self._gate if mutating else contextlib.nullcontext():
            if self.end_after == 0:
                raise Ended
            yield self._count if mutating else lambda _: None

    def _count(self, response: Response) -> None:
        if self._left is None or response.status >= 400:
            return
        self._left -= 1
        if self._left <= 0:
            self.on_end()
            raise Ended
