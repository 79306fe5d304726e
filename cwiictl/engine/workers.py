"""The threads that call a cloud and tell their news to the one queue that the calling thread reads; and the ear for signals."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue
from types import FrameType


@dataclass(frozen=True)
class Ended:
    """A call that came back: with a word for what it did, or with an error."""

    address: str
    tried: int
    said: str = ""
    error: BaseException | None = None


News = SimpleQueue[Ended]


class Workers:
    """Threads, started as they are needed. Nobody joins them: who asks twice for an end does not wait for a call that hangs."""

    def __init__(self, do: Callable[[str, int], str], news: News) -> None:
        self.do, self.news = do, news
        self.calls: SimpleQueue[tuple[str, int] | None] = SimpleQueue()
        self.threads = 0

    def call(self, address: str, tried: int, busy: int) -> None:
        if self.threads <= busy:
            threading.Thread(target=self.work, daemon=True).start()
            self.threads += 1
        self.calls.put((address, tried))

    def work(self) -> None:
        while call := self.calls.get():
            try:
                self.news.put(Ended(*call, said=self.do(*call)))
            except BaseException as e:  # noqa: BLE001 - the calling thread decides what it means
                self.news.put(Ended(*call, error=e))

    def close(self) -> None:
        for _ in range(self.threads):
            self.calls.put(None)


class Ear:
    """What was heard of SIGINT and SIGTERM: the first is remembered, the second raises."""

    def __init__(self) -> None:
        self.told: list[int] = []

    def hear(self, number: int, _frame: FrameType | None) -> None:
        self.told.append(number)
        if len(self.told) > 1:
            raise KeyboardInterrupt


_open: list[
    Ear
] = []  # in the main thread: one inside of another hears by the same ear, so that nothing is lost between two runs


@contextmanager
def listening() -> Generator[Ear]:
    """Only a main thread may listen to signals; what was ignored stays ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield Ear()
    elif _open:
        yield _open[-1]
    else:
        with _handled(Ear()) as ear:
            yield ear


@contextmanager
def _handled(ear: Ear) -> Generator[Ear]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    _open.append(ear)
    try:
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, ear.hear)
        yield ear
    finally:
        _open.remove(ear)
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
