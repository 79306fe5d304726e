"""What a cluster owns, found by its marks alone; and taking it down, from last made to first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cwiictl.engine.pace import Job, Pace, run
from cwiictl.engine.resource import Mark, Report, Store, silent


@dataclass(frozen=True)
class Walk:
    """The stores of a cloud, in the order of making."""

    hosting: Sequence[Store[Any]]  # what serves an issuer to the world
    trusting: Sequence[Store[Any]]  # what believes whoever serves it
    using: Sequence[Store[Any]]  # and all that nobody believes

    def __iter__(self) -> Iterator[Store[Any]]:
        return iter((*self.hosting, *self.trusting, *self.using))


@dataclass(frozen=True)
class Thing:
    """One thing that bears our mark."""

    store: Store[Any]
    name: str
    mark: Mark

    @property
    def address(self) -> str:
        return f"{self.store.kind}/{self.name}"


@dataclass(frozen=True)
class Holdings:
    """What was found of ours, cloud by cloud; and the stores that could not say."""

    walks: tuple[Walk, ...]
    things: Mapping[str, tuple[Thing, ...]]  # by the kind of their store
    failed: Mapping[str, Exception]
    interrupted: bool = False

    def __iter__(self) -> Iterator[Thing]:
        return (thing for walk in self.walks for store in walk for thing in self.things.get(store.kind, ()))

    def only(self, addresses: Collection[str]) -> Holdings:
        things = {kind: tuple(t for t in things if t.address in addresses) for kind, things in self.things.items()}
        return replace(self, things=things, failed={})

    def of(self, stores: Sequence[Store[Any]]) -> list[Thing]:
        return [thing for store in stores for thing in self.things.get(store.kind, ())]


@dataclass(frozen=True)
class Removal:
    dropped: tuple[str, ...]
    released: tuple[str, ...]
    failed: Mapping[str, Exception]
    skipped: Mapping[str, str]  # and why
    interrupted: bool = False

    @property
    def whole(self) -> bool:
        return not (self.failed or self.skipped or self.interrupted)


def holdings(walks: Sequence[Walk], cluster: str, pace: Pace, report: Report = silent) -> Holdings:
    """All stores are asked at once what they own."""
    stores = {store.kind: store for walk in walks for store in walk}
    found: dict[str, tuple[Thing, ...]] = {}

    def look(kind: str, _tried: int) -> str:
        owned = stores[kind].owned(cluster)
        found[kind] = tuple(Thing(stores[kind], name, owned[name]) for name in sorted(owned))
        return "read"

    job = Job(dict.fromkeys(stores, ()), look, patience=lambda kind: stores[kind].patience, report=report, verb="reading")
    ran = run(job, pace)
    return Holdings(tuple(walks), found, ran.failed, ran.interrupted)


def remove(held: Holdings, pace: Pace, report: Report = silent) -> Removal:
    """The things of one store in parallel, clouds side by side, past failures. What was adopted or brought is released instead."""
    things = {thing.address: thing for thing in held}
    if held.interrupted:
        return Removal((), (), held.failed, dict.fromkeys(things, "interrupted"), interrupted=True)
    done: dict[str, str] = {}
    left: dict[str, str] = {}
    ours: set[str] = set()  # what was looked at and may be dropped: a drop that is tried again does not ask again

    def do(address: str, _tried: int) -> str:
        if address not in ours and _let_go(things[address]):
            done[address] = "release"
        else:
            ours.add(address)
            things[address].store.drop(things[address].name)
            done[address] = "drop"
        return done[address]

    def skip(address: str, bad: Collection[str]) -> str:
        reason = _trusted(things[address], held, bad, done)
        if reason:
            left[address] = reason
        return reason

    ran = run(Job(_backwards(held), do, skip, patience=lambda address: things[address].store.patience, report=report, verb="removing"), pace)
    skipped = {address: left.get(address, "interrupted") for address in things.keys() - done.keys() - ran.failed.keys()}
    dropped, released = (tuple(sorted(a for a, word in done.items() if word == verb)) for verb in ("drop", "release"))
    return Removal(dropped, released, {**held.failed, **ran.failed}, skipped, ran.interrupted)


def _let_go(thing: Thing) -> bool:
    """Looked at once more: since it was found, somebody may have taken it over. What is not ours to drop keeps no mark of ours."""
    have = thing.store.get([thing.name]).get(thing.name)
    mark = have.owner if have else thing.mark
    if mark and mark.cluster == thing.mark.cluster and mark.hold == "owned":
        return False
    if have and mark and mark.cluster == thing.mark.cluster:
        thing.store.put(thing.name, replace(have, owner=None), have)
    return True


def _trusted(thing: Thing, held: Holdings, bad: Collection[str], done: Mapping[str, str]) -> str:
    """Why it must stay: whoever takes the place of an issuer's host is believed by all that still trust it."""
    if thing.mark.hold != "owned" or all(store.kind != thing.store.kind for walk in held.walks for store in walk.hosting):
        return ""
    trusting = [store for walk in held.walks for store in walk.trusting]
    unread = [store.kind for store in trusting if store.kind in held.failed]
    staying = [each.address for each in held.of(trusting) if each.address in bad or done.get(each.address) == "release"]
    return f"{(unread + staying)[0]} may still trust it" if unread + staying else ""


def inherit(held: Holdings, mark: Mark, pace: Pace, report: Report = silent) -> Removal:
    """What another tool made becomes ours, as it is."""
    things = {thing.address: thing for thing in held}

    def do(address: str, _tried: int) -> str:
        thing = things[address]
        have = thing.store.get([thing.name]).get(thing.name)
        if have:
            thing.store.put(thing.name, replace(have, owner=mark), have)
        return "update"

    ran = run(Job(dict.fromkeys(things, ()), do, patience=lambda address: things[address].store.patience, report=report), pace)
    return Removal((), (), {**held.failed, **ran.failed}, dict.fromkeys(ran.skipped, ""), ran.interrupted or held.interrupted)


def _backwards(held: Holdings) -> dict[str, list[str]]:
    """What hosts an issuer goes last of all, when every cloud has stopped to trust it.

    But what is only given back goes first: its owner keeps it, so that nobody else can take its place, and what was ours in it may be
    found by what we own elsewhere.
    """
    given_back = [thing.address for walk in held.walks for thing in held.of(walk.hosting) if thing.mark.hold != "owned"]
    graph: dict[str, list[str]] = {address: [] for address in given_back}
    believing: list[str] = []
    for walk in held.walks:
        believing += _chained(held, [*walk.trusting, *walk.using], given_back, graph)
    for walk in held.walks:
        _chained(held, walk.hosting, believing or given_back, graph)
    return graph


def _chained(held: Holdings, stores: Sequence[Store[Any]], before: list[str], graph: dict[str, list[str]]) -> list[str]:
    """All things of a store after all of the next one's. Returns every address that was added."""
    added: list[str] = []
    for store in reversed(stores):
        here = [thing.address for thing in held.of([store]) if thing.address not in graph]
        graph |= dict.fromkeys(here, before)
        before = here or before
        added += here
    return added
