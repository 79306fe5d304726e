"""A role of the cluster's own, for what a workload asks to do in so many words."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cwiictl.engine.resource import Difference, Known, Resource, State, assigned, differences
from cwiictl.model import Workload


@dataclass(frozen=True, kw_only=True)
class CustomRoleState(State):
    """Azure compares actions without case, and keeps them as they were written; so do we."""

    id: str = assigned()
    description: str  # what it says to people; its mark stands behind that
    actions: frozenset[str] = frozenset()
    not_actions: frozenset[str] = frozenset()
    data_actions: frozenset[str] = frozenset()
    not_data_actions: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()  # where it may be assigned; lower case


@dataclass(frozen=True)
class Powers:
    """What may be done, in Azure's words: with resources, and with the data in them."""

    actions: frozenset[str] = frozenset()
    not_actions: frozenset[str] = frozenset()
    data_actions: frozenset[str] = frozenset()
    not_data_actions: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.actions or self.data_actions)


NOTHING = Powers()


@dataclass(frozen=True)
class CustomRole(Resource[CustomRoleState]):
    workload: Workload
    powers: Powers
    scopes: frozenset[str]

    def want(self, known: Known) -> CustomRoleState:  # noqa: ARG002 - it follows from what was asked
        return CustomRoleState(
            description=f"{'OpenShift' if self.workload.asker == 'request' else 'Kubernetes'} role for {self.workload.title}.",
            actions=self.powers.actions,
            not_actions=self.powers.not_actions,
            data_actions=self.powers.data_actions,
            not_data_actions=self.powers.not_data_actions,
            scopes=self.scopes,
        )

    def differing(self, want: CustomRoleState, have: CustomRoleState) -> tuple[Difference, ...]:
        """Case apart, which Azure does not look at."""
        return differences(_folded(want), _folded(have))


def _folded(state: CustomRoleState) -> CustomRoleState:
    return replace(
        state,
        actions=_lower(state.actions),
        not_actions=_lower(state.not_actions),
        data_actions=_lower(state.data_actions),
        not_data_actions=_lower(state.not_data_actions),
    )


def _lower(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word.lower() for word in words)
