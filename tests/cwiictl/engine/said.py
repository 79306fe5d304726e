"""A resource that says of itself what a test has it say, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from cwiictl.engine.resource import Event, Known, Mark, Plan, Resource
from cwiictl.engine.run import Outcome, apply, preview
from cwiictl.errors import Problem
from tests.clock import a_pace
from tests.contracts.shelf import Thing
from tests.graphs import OURS, Node

Act = Callable[..., Outcome]
BOTH = pytest.mark.parametrize("act", [apply, preview])
ANOTHERS = replace(OURS, origin="create-identity")


@dataclass(frozen=True)
class Said(Node):
    """Its properties that are among these words are true."""

    says: AbstractSet[str] = frozenset()
    told: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()
    judged: Callable[[Known], Problem | None] = field(default=lambda _found: None, compare=False)

    @property
    def single(self) -> bool:
        return "single" in self.says

    @property
    def brought(self) -> bool:
        return "brought" in self.says

    @property
    def exclusive(self) -> bool:
        return "exclusive" in self.says

    @property
    def guards(self) -> bool:
        return "guards" in self.says

    @property
    def lends(self) -> str:
        return "a right" if "lends" in self.says else ""

    def grows(self, want: Thing, have: Thing, made: Collection[str]) -> bool:  # noqa: ARG002
        return bool(self.glad) and {like.address for like in self.glad} <= set(made)

    def remarks(self, want: Thing, have: Thing) -> tuple[str, ...]:  # noqa: ARG002
        return self.told

    def objection(self, found: Known) -> Problem | None:
        return self.judged(found)

    def awaits(self, plan: Mapping[str, Resource[Any]], found: Known) -> Collection[str]:  # noqa: ARG002
        return self.waits


def a_thing(value: str = "a", owner: Mark | None = OURS, **more: Any) -> Thing:
    return Thing(value=value, owner=owner, **more)


def ran(act: Act, *things: Resource[Any], **more: Any) -> Outcome:
    return act(Plan(things), OURS, a_pace(), **more)


def ends(act: Act, *things: Resource[Any]) -> dict[str, str]:
    """The last word of each."""
    events: list[Event] = []
    outcome = ran(act, *things, report=events.append)
    assert {e.address for e in events if e.what == "skipped"} == set(outcome.skipped)
    return {e.address: e.why for e in events if e.what in {"done", "failed", "skipped"}}
