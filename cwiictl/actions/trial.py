"""A pod for each dialect, in a dry run: whether it is given what it asks for. That others refuse it says nothing of us."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from cwiictl.actions.waiting import BEHIND, LEARNING, Waiting
from cwiictl.errors import Denied, Failed, NotYet
from cwiictl.install import smoke
from cwiictl.install.conditions import spared
from cwiictl.install.values import Dialect, Values

SPACE = "default"  # the namespace of pods that ask themselves


@dataclass(frozen=True)
class Trial:
    waiting: Waiting
    values: Values
    see: str = BEHIND  # what to look at where a pod is given nothing

    def shown(self) -> tuple[str, ...]:
        """What could not be tried, and why."""
        untried = [why for dialect in self.values.dialects if (why := self._tried(dialect))]
        return tuple(f"It was not tried with a pod: {why}" for why in dict.fromkeys(untried))

    def _tried(self, dialect: Dialect) -> str:
        """Says why nothing was learned of us, if it is so."""
        if self.values.match_conditions:
            return "matchConditions may leave it out."
        if keys := smoke.asked(self.values, dialect):
            return self._borrowed(dialect, keys)
        if spared(self.values, SPACE):
            return f"those of the namespace {SPACE} are none of its business."
        return self._given(dialect, smoke.pod(dialect, SPACE), f"a pod that asks for an identity in the words of {dialect} is not given it")

    def _borrowed(self, dialect: Dialect, keys: tuple[str, ...]) -> str:
        """No ServiceAccount is made for it: one that is there and asks is borrowed."""
        alone = f"in the words of {dialect} only ServiceAccounts ask, and"
        try:
            asker = smoke.asker(self.values, keys, self.waiting.place.api.list("ServiceAccount"))
        except Denied as e:
            return f"{alone} {e.problem}"
        if asker is None:
            return f"{alone} none does yet: annotate one with {' and '.join(keys)}, and run the same command again."
        return self._given(
            dialect,
            smoke.pod(dialect, *asker),
            f"a pod of the ServiceAccount {'/'.join(asker)} is not given the identity that it asks for in the words of {dialect}",
        )

    def _given(self, dialect: Dialect, pod: Mapping[str, Any], otherwise: str) -> str:
        """API servers learn of a configuration a moment after it was written."""

        def look() -> str:
            try:
                made = self.waiting.place.api.create(pod, dry=True)
            except (Denied, Failed) as e:
                return e.problem
            if not smoke.given(dialect, made):
                raise NotYet(otherwise, remedy=f"{self.see}: the pod was let through as failurePolicy says")
            return ""

        return self._learning.until(f"the dialect {dialect}", look)

    @property
    def _learning(self) -> Waiting:
        return replace(self.waiting, timeout=min(LEARNING, self.waiting.timeout))
