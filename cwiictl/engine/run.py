"""`apply` and `preview`: one pass over a plan, with another last step.

A run reads first, each store once and all at once; refuses what is foreign before the first write; then decides and acts on one
resource after another as its needs come true. What is tried again is read again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, runtime_checkable

from cwiictl.engine.holdings import Holdings, Listing
from cwiictl.engine.pace import Job, Pace, Ran, run
from cwiictl.engine.resource import (
    Difference,
    Hold,
    Known,
    Mark,
    Phase,
    Plan,
    Report,
    Resource,
    State,
    Store,
    silent,
)
from cwiictl.engine.workers import listening
from cwiictl.errors import Conflict, Denied

NOBODYS = Holdings((), {}, {})

Verb = Literal["create", "update", "extend", "keep", "refuse"]


@runtime_checkable
class Rehearsing(Protocol):
    """A store of a place that makes something of its own of what it is told: in defaults, units, and what others hold."""

    def rehearse(
        self, name: str, want: Any, have: Any, /
    ) -> (
        Any
    ): ...  # what would be found after `put`, and nothing is written; raises what `put` would


@dataclass(frozen=True)
class Change:
    verb: Verb
    address: str
    differing: tuple[Difference, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What a run learned and did. Nothing is raised: one failure does not stop what does not depend on it."""

    known: Known
    changes: tuple[Change, ...]
    failed: Mapping[str, Exception]
    skipped: Collection[str]
    interrupted: bool = False
    held: Holdings = NOBODYS  # what was ours in the plan's walks before anything was written
    unfinished: Collection[str] = ()  # of what failed, what was not there before, and is now
    seen: Mapping[str, State | None] = field(
        default_factory=dict[str, State | None]
    )  # of what could be read, what was there before this run

    @property
    def whole(self) -> bool:
        return not (self.failed or self.skipped or self.interrupted)


Act = Callable[
    [Resource[Any], Change, State, State, State | None], None
]  # what is wanted, what the place would make of it, and what is there


@dataclass
class _Run:
    plan: Plan
    mark: Mark
    pace: Pace
    adopt: Collection[str]
    report: Report
    known: Known = field(default_factory=Known)
    found: Known = field(default_factory=Known)
    decided: dict[str, Change] = field(
        default_factory=dict[str, Change]
    )  # at the first try: a retry would call a create a keep
    done: set[str] = field(default_factory=set[str])
    seen: dict[str, State | None] = field(default_factory=dict[str, State | None])
    held: Holdings = NOBODYS

    def patience(self, address: str) -> float:
        return self.plan[address].store.patience

    def survey(self) -> Ran:
        """What is there of the plan, and what is ours besides."""
        asks, listing = self.asks(), Listing(self.plan.walks, self.mark.cluster)

        def ask(key: str, _tried: int) -> str:
            if key in listing.stores:
                return listing.look(key)
            store, resources = asks[key]
            states = store.get([r.name for r in resources])
            for resource in resources:
                if resource.name in states:
                    self.found.learn(resource, states[resource.name])
            return "read"

        patience = {
            key: store.patience
            for key, store in [
                *((key, store) for key, (store, _) in asks.items()),
                *listing.stores.items(),
            ]
        }
        ran = run(
            Job(
                dict.fromkeys(patience, ()),
                ask,
                patience=patience.__getitem__,
                report=self.report,
                verb="reading",
            ),
            self.pace,
        )
        unlisted = {key: e for key, e in ran.failed.items() if key in listing.stores}
        self.held = listing.holdings(unlisted, interrupted=ran.interrupted)
        unread = {
            key: [r.address for r in asks[key][1]] if key in asks else [key]
            for key in ran.failed.keys() - unlisted.keys()
        }
        return Ran(
            {
                address: ran.failed[key]
                for key, addresses in unread.items()
                for address in addresses
            },
            interrupted=ran.interrupted,
        )

    def asks(self) -> dict[str, tuple[Store[Any], list[Resource[Any]]]]:
        """Whom, for what: once for all of a kind where a store reads so."""
        asks: dict[str, tuple[Store[Any], list[Resource[Any]]]] = {}
        for address, resource in self.plan.items():
            if not resource.late:
                asks.setdefault(
                    resource.store.kind if resource.store.bulk else address, (resource.store, [])
                )[1].append(resource)
        return asks

    def refused(self, unread: Mapping[str, Exception]) -> dict[str, Exception]:
        """All that stands against writing anything at all."""
        no: dict[str, Exception] = {
            address: e
            for address, e in unread.items()
            if address in self.plan and self.plan[address].guards
        }
        for address, resource in self.plan.items():
            have = self.found.get(resource)
            try:
                problem = resource.objection(self.found) or (
                    self.conflict(resource, have) if have else None
                )
            except Exception as e:  # noqa: BLE001 - who cannot judge objects
                problem = e
            if problem:
                no[address] = problem
        return no

    def alone(
        self, unread: Mapping[str, Exception], refused: Mapping[str, Exception]
    ) -> dict[str, Exception]:
        """Of what could not be read, what stands for itself: to look into what is refused takes nothing that anybody could grant."""
        foreign = {address for address, e in refused.items() if isinstance(e, Conflict)}
        return {
            address: e
            for address, e in unread.items()
            if not (isinstance(e, Denied) and self.holds(address, foreign))
        }

    def holds(self, address: str, among: Collection[str]) -> bool:
        resource = self.plan.get(address)
        return resource is not None and any(
            held.address in among or self.holds(held.address, among) for held in resource.needs
        )

    def conflict(self, resource: Resource[Any], have: State) -> Conflict | None:
        if self.strange(resource.address, have):
            return foreign(resource, have)
        return another_commands(resource, have) if self.elsewhere(resource, have) else None

    def elsewhere(self, resource: Resource[Any], have: State) -> bool:
        """Whether another command has made it for this cluster, and would find it changed."""
        origin = have.owner.origin if have.owner and self.ours(have) else self.mark.origin
        return resource.single and origin != self.mark.origin and resource.address not in self.adopt

    def ours(self, have: State) -> bool:
        return have.owner is not None and have.owner.cluster == self.mark.cluster

    def strange(self, address: str, have: State) -> bool:
        lent = self.plan[address].brought and not (self.plan[address].exclusive and have.owner)
        return not (
            self.ours(have)
            or have.markless
            or have.remnant
            or lent
            or address in self.adopt
            or self.inherited(have)
        )

    def inherited(self, have: State) -> bool:
        """Made for this cluster by another tool, and taken over with all that it made: ours from then on as if we had."""
        return have.owner is not None and have.owner.tool in self.adopt

    def compare(self, resource: Resource[Any], have: State | None) -> tuple[Change, State, State]:
        want: State = resource.want(self.known)
        if have is not None and self.conflict(resource, have):
            return Change("refuse", resource.address), want, want
        made = self.rehearsed(resource, want, have)
        if have is None:
            return Change("create", resource.address), want, made
        differing: tuple[Difference, ...] = resource.differing(made, have)
        if not (have.markless or self.ours(have)):
            differing = (Difference("mark", whose(have), self.mark.cluster), *differing)
        elif have.owner and not have.owner.whole:
            differing = (Difference("mark", "damaged", self.mark.cluster), *differing)
        elif have.owner and resource.single and have.owner.origin != self.mark.origin:
            differing = (Difference("mark", have.owner.origin, self.mark.origin), *differing)
        return (
            Change(
                self.verb(resource, want, have) if differing else "keep",
                resource.address,
                differing,
                resource.remarks(want, have),
            ),
            want,
            made,
        )

    def rehearsed(self, resource: Resource[Any], want: State, have: State | None) -> State:
        """Here, where `apply` and `preview` are still one: what is compared is what would be there, and what would be refused is refused in both."""
        place = resource.place(self.known)
        if not isinstance(resource.store, Rehearsing) or self.known.vague(place):
            return want
        return resource.store.rehearse(
            place, replace(want, owner=self.marking(resource, have)), have
        )

    def verb(self, resource: Resource[Any], want: State, have: State) -> Verb:
        made = [address for address, change in self.decided.items() if change.verb == "create"]
        return "extend" if resource.grows(want, have, made) else "update"

    def read(self, resource: Resource[Any], tried: int) -> State | None:
        if tried == 1 and not resource.late:
            return self.found.get(resource)
        place = resource.place(self.known)
        return None if self.known.vague(place) else resource.store.get([place]).get(place)

    def judge(self, resource: Resource[Any], have: State) -> None:
        """What is read again may have become another's since it was judged: nobody's write is built on that."""
        self.found.learn(resource, have)
        if problem := resource.objection(self.found):
            raise problem

    def walk(
        self, act: Act, failed: Mapping[str, Exception], verb: Phase, *, refused: bool = False
    ) -> Outcome:
        def do(address: str, tried: int) -> str:
            resource = self.plan[address]
            have = self.read(resource, tried)
            self.seen.setdefault(address, have)
            if tried > 1 and have is not None:
                self.judge(resource, have)
            change, want, made = self.compare(resource, have)
            self.decided.setdefault(address, change)
            act(resource, change, want, made, have)
            self.found.learn(resource, self.known[resource])
            self.done.add(address)
            verb = self.decided[address].verb
            return "give back" if resource.lends and verb == "update" else verb

        def skip(address: str, bad: Collection[str]) -> str:
            missing = [
                need
                for need in (
                    *(need.address for need in self.plan[address].needs),
                    *awaited[address],
                )
                if need in bad
            ]
            return (
                "nothing is written while something stands against it"
                if refused
                else f"it needs {missing[0]}"
                if missing
                else ""
            )

        awaited = {address: r.awaits(self.plan, self.found) for address, r in self.plan.items()}
        graph = {
            address: [*(held.address for held in r.needs + r.likes), *awaited[address]]
            for address, r in self.plan.items()
        }
        ran = run(Job(graph, do, skip, failed, self.patience, self.report, verb), self.pace)
        changes = tuple(self.decided[address] for address in sorted(self.done))
        return Outcome(
            self.known,
            changes,
            ran.failed,
            set(self.plan) - self.done - ran.failed.keys(),
            ran.interrupted,
            self.held,
            seen=self.seen,
        )

    def unfinished(self, failed: Collection[str]) -> frozenset[str]:
        """Looked at once more: a thing may take several calls, of which the first was carried out."""
        begun = [
            address
            for address in failed
            if address in self.decided and self.decided[address].verb == "create"
        ]
        there: set[str] = set()

        def look(address: str, _tried: int) -> str:
            resource = self.plan[address]
            have = resource.store.get([place := resource.place(self.known)]).get(place)
            if have and not have.markless and self.ours(have):
                there.add(address)
            return "read"

        run(
            Job(dict.fromkeys(begun, ()), look, patience=lambda _address: 0.0, verb="reading"),
            self.pace,
        )
        return frozenset(there)

    def stopped(self, seen: Ran) -> Outcome:
        return Outcome(
            self.known,
            (),
            seen.failed,
            set(self.plan) - seen.failed.keys(),
            interrupted=True,
            held=self.held,
        )

    def written(self, resource: Resource[Any], want: State, have: State | None) -> State:
        """Put with our mark: what was adopted stays adopted, so that `remove` will release it and not drop it."""
        return resource.store.put(
            resource.place(self.known), replace(want, owner=self.marking(resource, have)), have
        )

    def marking(self, resource: Resource[Any], have: State | None) -> Mark:
        if have is None or have.remnant or have.markless:
            return self.mark
        if have.owner and self.ours(have):
            return replace(
                have.owner,
                whole=True,
                origin=self.mark.origin if resource.single else have.owner.origin,
            )
        hold: Hold = (
            "brought" if resource.brought else "owned" if self.inherited(have) else "adopted"
        )
        return replace(self.mark, hold=hold)


def whose(have: State) -> str:
    return f"the mark of cluster {have.owner.cluster}" if have.owner else "no mark of ours"


def foreign(resource: Resource[Any], have: State) -> Conflict:
    takeover = (have.owner.tool if have.owner else "") or resource.address
    return Conflict(
        f"{resource.address} is there already and bears {whose(have)}",
        remedy=f"choose another name, or take it over with --adopt {takeover}",
    )


def another_commands(resource: Resource[Any], have: State) -> Conflict:
    origin = have.owner.origin if have.owner else ""
    return Conflict(
        f"{resource.address} was made by {origin}, and would lose what that asked for",
        remedy=f"choose another name, change it with {origin}, or take it over with --adopt {resource.address}",
    )


def apply(
    plan: Plan, mark: Mark, pace: Pace, adopt: Collection[str] = (), report: Report = silent
) -> Outcome:
    this = _Run(plan, mark, pace, adopt, report)

    def act(
        resource: Resource[Any], change: Change, want: State, _made: State, have: State | None
    ) -> None:
        match change.verb:
            case "refuse":
                raise this.conflict(resource, have or want) or foreign(resource, have or want)
            case "keep":
                this.known.learn(resource, have or want)
            case "create" | "update" | "extend":
                this.known.learn(resource, this.written(resource, want, have))

    with listening():
        seen = this.survey()
        if seen.interrupted:
            return this.stopped(seen)
        refused = this.refused(seen.failed)
        outcome = this.walk(
            act, {**this.alone(seen.failed, refused), **refused}, "writing", refused=bool(refused)
        )
        return replace(outcome, unfinished=this.unfinished(outcome.failed))


def preview(
    plan: Plan, mark: Mark, pace: Pace, adopt: Collection[str] = (), report: Report = silent
) -> Outcome:
    """What apply would do: everything it would refuse is among the failures, and nothing is written."""
    this = _Run(plan, mark, pace, adopt, report)
    refused: dict[str, Exception] = {}

    def act(
        resource: Resource[Any], change: Change, want: State, made: State, have: State | None
    ) -> None:
        if change.verb == "refuse":
            refused[resource.address] = this.conflict(resource, have or want) or foreign(
                resource, have or want
            )
        if have and change.verb == "keep":
            this.known.learn(resource, have)
        else:
            this.known.foretell(resource, made, have)

    with listening():
        seen = this.survey()
        if seen.interrupted:
            return this.stopped(seen)
        standing = this.refused(seen.failed)
        outcome = this.walk(act, seen.failed, "reading")
        failed = {**this.alone(outcome.failed, {**refused, **standing}), **refused, **standing}
        return replace(
            outcome,
            failed=failed,
            skipped={*outcome.skipped, *(outcome.failed.keys() - failed.keys())},
        )


def foretold(plan: Plan) -> Mapping[str, State]:
    """The wants of a plan in an empty world: what its checksum is made of."""
    known, world = Known(), dict[str, State]()

    def visit(address: str) -> None:
        if address not in world:
            resource = plan[address]
            for held in resource.needs + resource.likes:
                visit(held.address)
            world[address] = resource.want(known)
            known.foretell(resource, world[address], None)

    for address in plan:
        visit(address)
    return world
