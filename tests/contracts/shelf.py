"""A place in memory where things live, with all the bad habits of a cloud: slow to show, quick to throttle, forgetful of its answers, and cut at any write.

It passes the contract of stores when nothing is told to go wrong, and it is what the laws of the engine are tried on.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import ClassVar

from cwiictl.engine.resource import Mark, State, assigned, secret
from cwiictl.errors import Failed, NotYet
from tests.clock import FakeClock


@dataclass(frozen=True, kw_only=True)
class Thing(State):
    value: str
    id: str = assigned()
    key: bytes = secret()


@dataclass(frozen=True, kw_only=True)
class Child(Thing):
    markless: ClassVar[bool] = True


@dataclass
class World:
    """What the shelves of one test share: the order of all calls, and what goes wrong."""

    clock: FakeClock = field(default_factory=FakeClock)
    writes: list[str] = field(default_factory=list[str])  # in their order
    reads: list[str] = field(default_factory=list[str])
    cut: int | None = None  # the process dies right after so many writes, or before the first
    death: BaseException = field(default_factory=lambda: RuntimeError("cut"))
    lag: float = 0.0  # seconds until a new thing is seen
    hitches: dict[str, list[Exception]] = field(
        default_factory=lambda: defaultdict[str, list[Exception]](list)
    )  # calls that do nothing
    lost: dict[str, list[Exception]] = field(
        default_factory=lambda: defaultdict[str, list[Exception]](list)
    )  # answers of calls that did it
    under_way: int = 0
    most: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)

    def die(self) -> None:
        if self.cut is not None and len(self.writes) >= self.cut:
            raise self.death

    @contextmanager
    def call(self, *addresses: str) -> Generator[None]:
        with self.lock:
            self.under_way += 1
            self.most = max(self.most, self.under_way)
        try:
            with self.lock:
                self.die()
                for address in (a.partition("@")[0] for a in addresses):
                    if self.hitches[address]:
                        raise self.hitches[address].pop()
                yield
        finally:
            with self.lock:
                self.under_way -= 1

    def wrote(self, address: str) -> None:
        self.writes.append(address)
        self.die()

    def answer(self, address: str) -> None:
        if lost := self.lost[address.partition("@")[0]]:
            raise lost.pop()


class Shelf:
    def __init__(
        self,
        world: World,
        kind: str = "shelf",
        *,
        bulk: bool = True,
        patience: float = 120.0,
        late_mark: bool = False,
    ) -> None:
        self.world, self.kind, self.bulk, self.patience = world, kind, bulk, patience
        self.late_mark = late_mark  # its creating call takes no mark
        self.things: dict[str, Thing] = {}
        self.born: dict[str, int] = defaultdict(int)
        self.seen: dict[str, float] = {}  # from when on it is shown
        self.children: list[Children] = []

    def address(self, name: str) -> str:
        return f"{self.kind}/{name}"

    def shown(self, name: str) -> bool:
        return name in self.things and self.seen.get(name, 0.0) <= self.world.clock.now()

    def get(self, names: Collection[str], /) -> Mapping[str, Thing]:
        with self.world.call(*map(self.address, names)):
            self.world.reads += map(self.address, names)
            return {name: self.things[name] for name in names if self.shown(name)}

    def put(self, name: str, want: Thing, have: Thing | None, /) -> Thing:
        with self.world.call(self.address(name)):
            if have is None and name in self.things:
                raise NotYet(f"{name} is there already")
            if have is not None and name not in self.things:
                raise Failed(f"{name} is gone")
            self.write(name, want)
            self.world.answer(self.address(name))
            return self.things[name]

    def write(self, name: str, want: Thing) -> None:
        old = self.things.get(name)
        if not old:
            self.born[name] += 1
            self.seen[name] = self.world.clock.now() + self.world.lag
            old = Thing(value="", remnant=True, id=f"{self.born[name]}:{name}", key=b"hush")
            if self.late_mark:
                self.things[name] = old
                self.world.wrote(self.address(name))
        self.things[name] = replace(want, id=old.id, key=old.key, remnant=False)
        self.world.wrote(self.address(name))

    def drop(self, name: str, /) -> None:
        with self.world.call(self.address(name)):
            if name in self.things:
                for place in (self, *self.children):
                    place.things.pop(name, None)
                self.world.wrote(self.address(name))
            self.world.answer(self.address(name))

    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        with self.world.call(self.kind):
            return {
                name: thing.owner
                for name, thing in self.things.items()
                if thing.owner and thing.owner.cluster == cluster
            }


class Oven(Shelf):
    """It makes something of its own of what it is told, and can say beforehand what."""

    def rehearse(self, name: str, want: Thing, have: Thing | None, /) -> Thing:
        with self.world.call(self.address(name)):
            if have is not None and name not in self.things:
                raise NotYet(f"{name} is gone")
            return self.baked(want)

    def write(self, name: str, want: Thing) -> None:
        super().write(name, self.baked(want))

    def baked(self, want: Thing) -> Thing:
        return replace(want, value=want.value.upper())


class Children(Shelf):
    """What cannot bear a mark and goes with its parent, whose name it has."""

    def __init__(self, parent: Shelf, kind: str = "children", *, bulk: bool = False) -> None:
        super().__init__(parent.world, kind, bulk=bulk)
        self.parent = parent
        parent.children.append(self)

    def write(self, name: str, want: Thing) -> None:
        if name not in self.parent.things:
            raise Failed(f"{name} has no parent")
        super().write(name, replace(want, owner=None))


@dataclass(frozen=True, kw_only=True)
class Board(State):
    """A document that many write on. Ours are the lines of the names that we speak for."""

    markless: ClassVar[bool] = True
    lines: frozenset[tuple[str, str]]
    of: frozenset[str] = field(default=frozenset(), compare=False)


class Boards:
    """Shared documents, written under a precondition: a rival's writing between our reading and ours is never lost."""

    bulk, patience = False, 120.0

    def __init__(self, world: World, kind: str = "board") -> None:
        self.world, self.kind = world, kind
        self.lines: dict[str, frozenset[tuple[str, str]]] = {}
        self.rivals: list[tuple[str, str]] = []

    def get(self, names: Collection[str], /) -> Mapping[str, Board]:
        with self.world.call(*(f"{self.kind}/{name}" for name in names)):
            return {name: Board(lines=self.read(name)) for name in names}

    def read(self, name: str) -> frozenset[tuple[str, str]]:
        return self.lines.get(name, frozenset({("them", "theirs")}))

    def put(self, name: str, want: Board, have: Board | None, /) -> Board:
        address = f"{self.kind}/{name}"
        with self.world.call(address):
            if self.rivals:
                self.lines[name] = self.read(name) | {self.rivals.pop()}
            if have is None or have.lines != self.read(name):
                raise NotYet("somebody else wrote")
            self.lines[name] = (
                frozenset(line for line in have.lines if line[0] not in want.of) | want.lines
            )
            self.world.wrote(address)
            self.world.answer(address)
            return Board(lines=self.lines[name])

    def drop(self, name: str, /) -> None:
        raise Failed(f"{name} is everybody's")

    def owned(self, cluster: str, /) -> Mapping[str, Mark]:  # noqa: ARG002 - what is shared is nobody's
        return {}
