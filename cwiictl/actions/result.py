"""What came of an order, as data: the console tells it to people or machines, and the exit code follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

from cwiictl.actions.sight import Sight
from cwiictl.engine.holdings import Holdings, Removal
from cwiictl.engine.plain import plain, wanted
from cwiictl.engine.resource import Difference, Plan, Resource
from cwiictl.engine.run import Change, Outcome, Verb
from cwiictl.errors import BadInput, Conflict, Problem
from cwiictl.model import Binding
from cwiictl.verify.finding import Finding

Condition = Literal[
    "declared",
    "as wanted",
    "drifted",
    "incomplete",
    "missing",
    "left over",
    "foreign",
    "created",
    "repaired",
    "updated",
    "unfinished",
    "dropped",
    "released",
    "to drop",
    "to release",
    "to restart",
    "restarted",
    "given back",
    "may be lent",
    "present",
    "kept",
    "failed",
    "not tried",
]

FOUND: dict[Verb, Condition] = {
    "create": "missing",
    "update": "drifted",
    "extend": "incomplete",
    "keep": "as wanted",
    "refuse": "foreign",
}
DONE: dict[Verb, Condition] = {
    "create": "created",
    "update": "repaired",
    "extend": "updated",
    "keep": "as wanted",
    "refuse": "foreign",
}

CHANGED: frozenset[Condition] = frozenset(
    {
        "created",
        "repaired",
        "updated",
        "unfinished",
        "given back",
        "dropped",
        "released",
        "restarted",
    }
)
INTERRUPTED = 130
NOTHING: Mapping[str, Exception] = MappingProxyType({})


@dataclass(frozen=True)
class Caller:
    """Whose account it is, and who asks."""

    cloud: str
    account: str
    caller: str
    word: str = field(
        default="account", metadata={"aside": True}
    )  # what comes before it where people are told


@dataclass(frozen=True)
class Row:
    """One thing, and how it is."""

    thing: str
    condition: Condition
    differences: tuple[Difference, ...] = ()
    remarks: tuple[
        str, ...
    ] = ()  # of what stays though nobody asked for it, or though the rest goes
    problem: str = ""
    remedy: str = ""
    want: Any = None


@dataclass(frozen=True)
class Result:
    callers: tuple[Caller, ...] = ()
    checksum: str = ""
    rows: tuple[Row, ...] = ()
    skipped: tuple[Row, ...] = ()  # requests that were read and not followed
    files: tuple[str, ...] = ()
    written: frozenset[str] = frozenset()  # of these files, those that this run has made or changed
    outdated: tuple[str, ...] = ()  # files that tell of what is gone
    hints: tuple[str, ...] = ()  # what is to be known of what this order did not look at
    taker: str = "the installer"  # of these files
    whole: str = "cluster"  # of which all these things are
    maker: str = "create-all"  # who asks for them, and drops with --prune what is left over
    bindings: tuple[Binding, ...] = ()  # what the workloads must be told
    findings: tuple[Finding, ...] = ()  # of `verify`
    sight: Sight | None = None  # of what is to be drawn
    manifest: bytes = b""  # the same as Kubernetes objects, where a command shows them
    failures: tuple[Exception, ...] = field(default=(), repr=False)
    interrupted: bool = False
    judged: bool = False  # it answers whether all is as wanted, and changed nothing
    planned: bool = False  # it only says what would be done
    awaited: bool = False  # it is somebody else's turn, and then this is to be run again

    @property
    def code(self) -> int:
        if self.interrupted:
            return INTERRUPTED
        conditions = {row.condition for row in self.rows}
        if self.failures:
            kinds = {type(e) for e in self.failures}
            code = (
                Conflict.code if Conflict in kinds else BadInput.code if kinds == {BadInput} else 1
            )
            return 1 if conditions & CHANGED else code  # 2 and 4 promise that nothing was done
        undone = (
            {"failed"} if self.awaited else {"failed", "not tried"}
        )  # what is awaited may be needed first
        if conditions & undone or (conditions & {"to drop", "to release"} and not self.planned):
            return 1
        wrong = conditions & {"missing", "incomplete", "drifted", "left over", "to restart"} or any(
            each.severity == "failed" for each in self.findings
        )
        return 3 if (self.judged or self.awaited) and wrong else 0

    def beside(self, other: Result) -> Result:
        """What came of two questions, as one."""
        both = self.plus(other.rows, other.failures, interrupted=other.interrupted)
        return replace(
            both, callers=(*self.callers, *other.callers), hints=(*self.hints, *other.hints)
        )

    def plus(
        self, rows: Iterable[Row], failures: Iterable[Exception] = (), *, interrupted: bool = False
    ) -> Result:
        return replace(
            self,
            rows=(*self.rows, *rows),
            failures=(*self.failures, *failures),
            interrupted=self.interrupted or interrupted,
        )


def ran(outcome: Outcome, plan: Plan, words: dict[Verb, Condition]) -> Iterator[Row]:
    """A row for each thing that was asked for."""
    changes = {change.address: change for change in outcome.changes}
    for address in plan:
        if address in outcome.failed:
            row = failure(address, outcome.failed[address])
            yield replace(row, condition="unfinished") if address in outcome.unfinished else row
        elif plan[address].quiet and not (address in changes and changes[address].differing):
            continue
        elif address in changes and plan[address].lends:
            yield from _lent(changes, plan[address], words)
        elif address in changes:
            yield _changed(changes[address], outcome, plan, words)
        else:
            yield Row(address, "not tried")


def _lent(
    changes: Mapping[str, Change], resource: Resource[Any], words: dict[Verb, Condition]
) -> Iterator[Row]:
    """Of what is had only while it is needed."""
    verb = changes[resource.address].verb
    writes = any(
        changes[liked.address].verb in {"create", "update"}
        for liked in resource.likes
        if liked.address in changes
    )
    if verb != "keep":
        yield Row(resource.address, words[verb] if words is FOUND else "given back")
    elif writes and words is FOUND:
        yield Row(resource.address, "may be lent", problem=resource.lends)


def _changed(change: Change, outcome: Outcome, plan: Plan, words: dict[Verb, Condition]) -> Row:
    known = outcome.known.get(plan[change.address])
    foretold = words is FOUND and change.verb == "create"
    return Row(
        change.address,
        words[change.verb],
        change.differing,
        change.remarks,
        want=(wanted if foretold else plain)(known) if known else None,
    )


def failure(address: str, e: Exception) -> Row:
    condition: Condition = "foreign" if isinstance(e, Conflict) else "failed"
    if isinstance(e, Problem):
        return Row(address, condition, problem=e.problem, remedy=e.remedy)
    return Row(
        address,
        condition,
        problem=f"an error in cwiictl itself: {type(e).__name__}: {e}",
        remedy="run again with --debug and report what it shows",
    )


def left_over(holdings: Holdings) -> Iterator[Row]:
    yield from (Row(thing.address, "left over") for thing in holdings)
    yield from (failure(address, e) for address, e in holdings.failed.items())


def kept(staying: Mapping[str, Iterable[str]], or_else: str = "") -> Iterator[Row]:
    """What serves an issuer that other clouds were made to trust."""
    for address, clouds in staying.items():
        names = sorted(clouds)
        flags = " ".join(f"--cloud {name}" for name in names)
        yield Row(
            address,
            "kept",
            problem=f"{', '.join(names)} may still trust it",
            remedy=f"give {flags} too{or_else}",
        )


def trusted(rows: Iterable[Row], staying: Mapping[str, Iterable[str]]) -> Iterator[Row]:
    """The same, of what is there and asked for: `delete` would keep it."""
    for row in rows:
        others = sorted(staying.get(row.thing, ()))
        told = f"{', '.join(others)} may trust it too: delete keeps it, unless {', '.join(others)} goes with it or --issuer is given"
        yield replace(row, remarks=(*row.remarks, told)) if others else row


def staying(holdings: Holdings) -> Iterator[Row]:
    """What is ours and not asked for."""
    yield from (Row(address, "kept", problem=why) for address, why in holdings.staying.items())


def present(holdings: Holdings) -> Iterator[Row]:
    """What other commands made: it is theirs to judge."""
    yield from (
        Row(thing.address, "present", problem=f"made by {thing.mark.origin}") for thing in holdings
    )


def doomed(holdings: Holdings, against: Mapping[str, Exception] = NOTHING) -> Iterator[Row]:
    """What a removal would do: what was adopted or brought is let go, and stays. And what stands against it."""
    for thing in holdings:
        if thing.address not in against:
            yield Row(
                thing.address,
                "to drop" if thing.mark.hold == "owned" else "to release",
                remarks=_part(thing.address, holdings.parts),
            )
    for address, e in {**holdings.failed, **against}.items():
        yield failure(address, e)


def stopped(holdings: Holdings, against: Mapping[str, Exception]) -> Iterator[Row]:
    """A removal that something stands against: nothing of it is done."""
    why = "nothing is dropped while something stands against it" if against else "interrupted"
    yield from (
        Row(thing.address, "not tried", problem=why)
        for thing in holdings
        if thing.address not in against
    )
    yield from (failure(address, e) for address, e in {**holdings.failed, **against}.items())


def removed(removal: Removal) -> Iterator[Row]:
    yield from (
        Row(address, "dropped", remarks=_part(address, removal.parts))
        for address in removal.dropped
    )
    yield from (Row(address, "released") for address in removal.released)
    yield from (failure(address, e) for address, e in removal.failed.items())
    yield from (
        Row(address, "not tried", problem=why) for address, why in sorted(removal.skipped.items())
    )


def _part(address: str, parts: Mapping[str, str]) -> tuple[str, ...]:
    """Of what is everybody's."""
    return (parts[address],) if address in parts else ()
