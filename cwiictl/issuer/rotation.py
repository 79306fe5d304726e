"""Where the change from one signing key to the next stands: a word on the published keys themselves, which every operator reads and writes with them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any, Literal

from cwiictl.errors import Failed

Stage = Literal["add", "accept", "sign", "unpublish", "forget"]
STAGES: tuple[Stage, ...] = ("add", "accept", "sign", "unpublish", "forget")
DROPPING: frozenset[Stage] = frozenset({"unpublish", "forget"})
BEGIN = 12  # characters of a key id that tell it from all others, where there is little room

_WORD = re.compile(
    r"(?P<stage>[a-z]+)\.(?P<since>[0-9]{1,12})\.(?P<signed>[0-9]{1,12})\.(?P<old>[\w-]{12})\.(?P<new>[\w-]{12})",
    re.ASCII,
)


def unsaid(default: Any) -> Any:
    """In no plan, and in no checksum of one."""
    return field(default=default, metadata={"bookkeeping": True})


def begin(kid: str) -> str:
    return kid[:BEGIN]


@dataclass(frozen=True)
class Rotation:
    """The stage that was reached last, and since when, in seconds of Unix. Of the two key ids, the beginnings."""

    stage: Stage
    since: int
    old: str
    new: str
    signed: int = 0  # since when every API server signs with the new one

    @property
    def word(self) -> str:
        return f"{self.stage}.{self.since}.{self.signed}.{self.old}.{self.new}"

    @property
    def told(self) -> str:
        """For people."""
        return f"a rotation from {self.old}... to {self.new}... stands at {self.stage} since {formatdate(self.since, usegmt=True)}"

    @property
    def drops(self) -> bool:
        """Whether the old key is published no more."""
        return self.stage in DROPPING


@dataclass(frozen=True)
class Turn:
    """What a stage writes, in one piece with where the rotation stands then. The clock, and what was there, are no part of what is wanted."""

    stage: Stage
    old: str
    since: int = unsaid(0)
    signed: int = unsaid(0)
    over: frozenset[str] = unsaid(frozenset[str]())  # the words that were there when it was decided

    def to(self, kid: str) -> Rotation:
        return Rotation(self.stage, self.since, self.old, begin(kid), self.signed)

    def takes(self, kid: str) -> bool:
        return self.stage in DROPPING and begin(kid) == self.old


def rotation(word: str, where: str) -> Rotation | None:
    """A word that cannot be read is no beginning: who wrote over it could lose a key that is believed."""
    if not word:
        return None
    told = _WORD.fullmatch(word)
    for stage in STAGES:
        if told and told["stage"] == stage:
            return Rotation(
                stage, int(told["since"]), told["old"], told["new"], int(told["signed"])
            )
    raise Failed(
        f"{where} says of a key rotation {word[:80]!r}, which this version cannot read",
        remedy="go on with the version that wrote it",
    )
