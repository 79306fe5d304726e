"""A pod for each dialect, in a dry run: whether it is given what it asks for. That others refuse it says nothing of us."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cwii_webhook.admission.admit import Route

from cwiictl.actions.waiting import BEHIND, LEARNING, Waiting
from cwiictl.errors import Denied, Failed, NotYet, Problem
from cwiictl.explain import explained
from cwiictl.explain.objects import Objects, Pod
from cwiictl.install import smoke
from cwiictl.install.command import understood
from cwiictl.install.conditions import spared
from cwiictl.install.configuration import configuration, unserved
from cwiictl.install.values import Dialect, Values

Body = Mapping[str, Any]
SPACE = "default"  # the namespace of pods that ask themselves
MOST = 3  # ServiceAccounts that are borrowed for one dialect


class Ungiven(NotYet):
    """Of us: nobody has called us, or the pod came out as it was."""


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
            return self._learned(dialect, lambda: self._borrowed(dialect, keys))
        if spared(self.values, SPACE):
            return f"those of the namespace {SPACE} are none of its business."
        otherwise = f"a pod that asks for an identity in the words of {dialect} is not given it"
        return self._learned(
            dialect, lambda: self._sent(dialect, {otherwise: smoke.pod(dialect, SPACE)})
        )

    def _learned(self, dialect: Dialect, look: Callable[[], str]) -> str:
        """API servers learn of a configuration a moment after it was written. What is against it beside us may pass too, and is no failure of ours if not."""
        clock, patience = self.waiting.pace.clock, min(LEARNING, self.waiting.timeout)
        end = clock.now() + patience

        def once() -> str:
            try:
                return look()
            except (Denied, Failed) as e:
                return e.problem
            except Ungiven:
                raise
            except NotYet as e:
                if clock.now() >= end:
                    return e.problem
                raise NotYet(
                    e.problem, remedy=e.remedy
                ) from e  # who is told to wait for longer than there is time would end as a failure

        return replace(self.waiting, timeout=patience).until(f"the dialect {dialect}", once)

    def _borrowed(self, dialect: Dialect, keys: tuple[str, ...]) -> str:
        """No ServiceAccount is made for it: some are borrowed that are there and ask."""
        alone = f"in the words of {dialect} only ServiceAccounts ask, and"
        try:
            asking = smoke.askers(self.values, keys, self.waiting.place.api.list("ServiceAccount"))
        except Denied as e:
            return f"{alone} {e.problem}"
        if not asking:
            return f"{alone} none does yet: annotate one with {' and '.join(keys)}, and run the same command again."
        pods = self._pods(dialect, asking)
        if not pods:
            return f"{alone} what {_name(asking[0])} says gives its pods nothing: cwiictl explain of one of them says why."
        return self._sent(dialect, pods)

    def _pods(self, dialect: Dialect, asking: Iterable[Body]) -> dict[str, Body]:
        """Of those that our own deciding gives what they ask for, each in a namespace of its own: what others refuse they mostly refuse all in it."""
        route = next(
            each.route for each in understood(self.values) if each.route.dialect == dialect
        )
        spaces: dict[str, tuple[str, Body]] = {}
        for account in asking:
            space, name = account["metadata"]["namespace"], account["metadata"]["name"]
            pod = smoke.pod(dialect, space, name)
            if (
                len(spaces) < MOST
                and space not in spaces
                and smoke.given(dialect, _foretold(route, account, pod))
            ):
                spaces[space] = (
                    f"a pod of the ServiceAccount {_name(account)} is not given the identity that it asks for in the words of {dialect}",
                    pod,
                )
        return dict(spaces.values())

    def _sent(self, dialect: Dialect, pods: Mapping[str, Body]) -> str:
        """Until one is given what it asks for. Of all that is against them, first what is of us, and then what may pass."""
        against: list[Problem] = []
        for otherwise, pod in pods.items():
            try:
                self._given(dialect, pod, otherwise)
            except (Denied, Failed, NotYet) as e:
                against.append(e)
            else:
                return ""
        raise min(against, key=lambda e: (not isinstance(e, Ungiven), not isinstance(e, NotYet)))

    def _given(self, dialect: Dialect, pod: Body, otherwise: str) -> None:
        try:
            made = self.waiting.place.api.create(pod, dry=True)
        except (Denied, Failed, NotYet) as e:
            if unserved(configuration(self.values), e.problem):
                raise Ungiven(e.problem, remedy=self.see) from e
            raise
        if not smoke.given(dialect, made):
            raise Ungiven(
                otherwise, remedy=f"{self.see}: the pod was let through as failurePolicy says"
            )


def _foretold(route: Route, account: Body, pod: Body) -> Body:
    """The pod, as our own deciding would have it."""
    picture = Objects()
    picture.hold({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account["metadata"]})
    return explained(Pod(account["metadata"]["namespace"], pod), route, picture).after


def _name(account: Body) -> str:
    return f"{account['metadata']['namespace']}/{account['metadata']['name']}"
