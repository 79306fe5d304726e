"""All connections of one door: how many there may be, what they may hold, and who gives way when it is too much."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Protocol

from msgspec import Struct

MIB = 1 << 20


class Stage(Enum):
    """Where a connection is with its present message."""

    ARRIVING = "arriving"  # its TLS handshake is under way
    IDLE = "idle"
    HEAD = "head"
    BODY = "body"
    BUSY = "busy"  # its reply is being made
    STUCK = "stuck"  # its peer does not read
    LEAVING = "leaving"  # it has its last answer


class Limits(Struct, frozen=True):
    """Sizes are bytes and times are seconds. An API server keeps what is idle for 90 s: whoever closes sooner meets its next request half-way."""

    connections: int = 1000
    held: int = 32 * MIB  # bodies, over all connections
    body: int = 8 * MIB
    head: int = 64 << 10
    handshake: float = 10.0
    idle: float = 120.0
    head_time: float = 10.0
    body_time: float = 30.0
    write_time: float = 30.0
    leave_time: float = 5.0

    def patience(self, stage: Stage) -> float | None:
        """How long a connection may stay where it is; a reply takes what time it takes."""
        return {
            Stage.ARRIVING: self.handshake,
            Stage.IDLE: self.idle,
            Stage.HEAD: self.head_time,
            Stage.BODY: self.body_time,
            Stage.STUCK: self.write_time,
            Stage.LEAVING: self.leave_time,
        }.get(stage)


class Member(Protocol):
    stage: Stage
    since: float  # when it came to its stage
    holds: int  # bytes of bodies

    def too_late(self) -> None: ...  # it is told so, or cut off
    def overloaded(self) -> None: ...  # it is told so, and what it holds is let go
    def cut(self) -> None: ...


class Tally(Protocol):
    """Where what happens is counted."""

    def answered(self, status: int, seconds: float, /) -> None: ...
    def gave_way(self, stage: Stage, /) -> None: ...
    def unfinished(self) -> None: ...
    def broke(self, path: bytes, error: BaseException, /) -> None: ...


class Connections:
    """Members and the bytes they hold. It never waits, and its clock is given to it."""

    def __init__(self, limits: Limits, tally: Tally, clock: Callable[[], float]) -> None:
        self.limits = limits
        self.tally = tally
        self.clock = clock
        self.held = 0
        self.draining = False
        self._members: dict[Member, None] = {}

    def __len__(self) -> int:
        return len(self._members)

    def count(self, *stages: Stage) -> int:
        return sum(member.stage in stages for member in self._members)

    def quiet(self, seconds: float) -> bool:
        """Nobody is in the middle of anything, and nobody has said anything for a while."""
        until = self.clock() - seconds
        return all(
            member.stage is Stage.LEAVING or (member.stage is Stage.IDLE and member.since <= until)
            for member in self._members
        )

    def join(self, member: Member) -> None:
        if len(self._members) >= self.limits.connections:
            self.make_room()
        self._members[member] = None

    def leave(self, member: Member) -> None:
        """Twice is as good as once."""
        self._members.pop(member, None)

    def make_room(self) -> None:
        """Whoever has been idle for longest goes first, then whoever has been at one message for longest; a reply that is being made goes last."""
        going = min(
            self._members, key=lambda member: (_rank(member.stage), member.since), default=None
        )
        if going is not None:
            self.tally.gave_way(going.stage)
            self.leave(going)
            going.cut()

    def hold(self, member: Member, size: int) -> bool:
        """Too much is nearly always one who sends slowly, so whoever has been sending for longest gives way. False: it is who asks."""
        self.held += size
        member.holds += size
        while self.held > self.limits.held:
            going = min(
                (other for other in self._members if other.stage is Stage.BODY and other.holds),
                key=lambda other: other.since,
                default=member,
            )
            self.tally.gave_way(Stage.BODY)
            if going is member:
                return False
            going.overloaded()
        return True

    def release(self, member: Member, size: int) -> None:
        self.held -= size
        member.holds -= size

    def sweep(self) -> None:
        """Called every second or so: who has stayed where it is for too long is told so, or cut off."""
        now = self.clock()
        for member in tuple(self._members):
            patience = self.limits.patience(member.stage)
            if patience is not None and now - member.since > patience:
                member.too_late()

    def close_idle(self) -> None:
        for member in tuple(self._members):
            if member.stage in {Stage.IDLE, Stage.ARRIVING}:
                member.too_late()


def _rank(stage: Stage) -> int:
    return {
        Stage.LEAVING: 0,
        Stage.IDLE: 1,
        Stage.ARRIVING: 1,
        Stage.HEAD: 2,
        Stage.BODY: 2,
        Stage.STUCK: 2,
    }.get(stage, 3)
