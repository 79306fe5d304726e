"""What a cluster owns, found by its marks alone; and taking it down, from last made to first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cwiictl.engine.pace import Job, Pace, run
from cwiictl.engine.resource import Mark, Report, Store, silent


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
    """What was found of ours, in the order of its making, cloud by cloud; and the stores that could not say."""

    walks: tuple[tuple[tuple[Thing, ...], ...], ...]  # of each cloud, of each store in its order
    failed: Mapping[str, Exception]
    interrupted: bool = False

    def __iter__(self) -> Iterator[Thing]:
        return (thing for walk in self.walks for things in walk for thing in things)

    def only(self, addresses: Collection[str]) -> Holdings:
        walks = tuple(tuple(tuple(t for t in things if t.address in addresses) for things in walk) for walk in self.walks)
        return replace(self, walks=walks, failed={})


@dataclass(frozen=True)
class Removal:
    dropped: tuple[str, ...]
    released: tuple[str, ...]
    failed: Mapping[str, Exception]
    skipped: Collection[str] = ()
    interrupted: bool = False

    @property
    def whole(self) -> bool:
        return not (self.failed or self.skipped or self.interrupted)


def holdings(walks: Sequence[Sequence[Store[Any]]], cluster: str, pace: Pace, report: Report = silent) -> Holdings:
    """All stores are asked at once what they own."""
    stores = {store.kind: store for walk in walks for store in walk}
    found: dict[str, tuple[Thing, ...]] = {}

    def look(kind: str, _tried: int) -> str:
        owned = stores[kind].owned(cluster)
        found[kind] = tuple(Thing(stores[kind], name, owned[name]) for name in sorted(owned))
        return "read"

    job = Job(dict.fromkeys(stores, ()), look, patience=lambda kind: stores[kind].patience, report=report, verb="reading")
    ran = run(job, pace)
    return Holdings(tuple(tuple(found.get(store.kind, ()) for store in walk) for walk in walks), ran.failed, ran.interrupted)


def remove(held: Holdings, pace: Pace, report: Report = silent) -> Removal:
    """The things of one store in parallel, clouds side by side, past failures. What was adopted or brought is released instead."""
    things = {thing.address: thing for thing in held}
    dropped: list[str] = []
    released: list[str] = []

    def do(address: str, _tried: int) -> str:
        thing = things[address]
        if thing.mark.hold == "owned":
            thing.store.drop(thing.name)
            dropped.append(address)
            return "drop"
        release(thing)
        released.append(address)
        return "release"

    if held.interrupted:
        return Removal((), (), held.failed, things.keys(), interrupted=True)
    job = Job(_backwards(held), do, patience=lambda address: things[address].store.patience, report=report, verb="removing")
    ran = run(job, pace)
    left = things.keys() - {*dropped, *released} - ran.failed.keys()
    return Removal(tuple(sorted(dropped)), tuple(sorted(released)), {**held.failed, **ran.failed}, left, ran.interrupted)


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
    return Removal((), (), {**held.failed, **ran.failed}, ran.skipped, ran.interrupted or held.interrupted)


def release(thing: Thing) -> None:
    have = thing.store.get([thing.name]).get(thing.name)
    if have and have.owner and have.owner.cluster == thing.mark.cluster:
        thing.store.put(thing.name, replace(have, owner=None), have)


def _backwards(held: Holdings) -> dict[str, list[str]]:
    graph: dict[str, list[str]] = {}
    for walk in held.walks:
        before: list[str] = []
        for things in reversed(walk):
            here = [thing.address for thing in things]
            graph |= dict.fromkeys(here, before)
            before = here or before
    return graph
