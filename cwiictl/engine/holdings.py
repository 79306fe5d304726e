"""What a cluster owns, found by its marks alone; and taking it down, from last made to first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

from cwiictl.engine.pace import Job, Pace, Ran, run
from cwiictl.engine.resource import Mark, Report, State, Store, Walk, silent
from cwiictl.errors import Denied

ALL = "/*"  # after a kind: all of the kind that is ours
LOOK = 30.0  # seconds: how long it is believed that a thing is still ours


@runtime_checkable
class Roomy(Protocol):
    """A store of what others may have put theirs into, with which that would go."""

    def inspect(
        self, name: str, /
    ) -> None: ...  # raises Conflict over what is not ours. Nobody is given anything to look


@runtime_checkable
class Keeping(Protocol):
    """A store of which not all that is ours goes."""

    @property
    def staying(
        self,
    ) -> Mapping[str, str]: ...  # by name, and why: known once it was asked what is owned


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

    @property
    def staying(self) -> dict[str, str]:
        """What is ours and was not found to go, by address, and why."""
        stores = [store for walk in self.walks for store in walk if isinstance(store, Keeping)]
        return {
            f"{store.kind}/{name}": why for store in stores for name, why in store.staying.items()
        }

    @property
    def parts(self) -> dict[str, str]:
        """Of what goes only in part, by address, what that is."""
        return {
            thing.address: walk.shared[thing.store.kind]
            for walk in self.walks
            for thing in self.of(list(walk))
            if thing.store.kind in walk.shared
        }

    def __iter__(self) -> Iterator[Thing]:
        return (
            thing
            for walk in self.walks
            for store in walk
            for thing in self.things.get(store.kind, ())
        )

    def only(self, addresses: Collection[str]) -> Holdings:
        things = {
            kind: tuple(t for t in things if t.address in addresses)
            for kind, things in self.things.items()
        }
        return replace(self, things=things, failed={})

    def kept(self, clouds: Collection[str]) -> dict[str, frozenset[str]]:
        """What serves an issuer that clouds were made to trust which are not among these, and which they are."""
        kept: dict[str, frozenset[str]] = {}
        for walk in self.walks:
            others = frozenset(
                cloud
                for thing in self.of(walk.hosting)
                for cloud in thing.mark.clouds
                if cloud not in clouds
            )
            kept |= {
                thing.address: others
                for thing in self.of([*walk.around, *walk.hosting, *walk.lent])
                if others
            }
        return kept

    def of(self, stores: Sequence[Store[Any]]) -> list[Thing]:
        return [thing for store in stores for thing in self.things.get(store.kind, ())]


@dataclass(frozen=True)
class Removal:
    dropped: tuple[str, ...]
    released: tuple[str, ...]
    failed: Mapping[str, Exception]
    skipped: Mapping[str, str]  # and why
    interrupted: bool = False
    called: frozenset[str] = frozenset()  # what was dropped, in files that tell of it
    parts: Mapping[str, str] = field(
        default_factory=dict[str, str]
    )  # what went of what did not go as a whole

    @property
    def whole(self) -> bool:
        return not (self.failed or self.skipped or self.interrupted)


class Listing:
    """What each store of the walks owns, asked for all at once; beside other readings, where there are any."""

    def __init__(self, walks: Sequence[Walk], cluster: str) -> None:
        self.walks, self.cluster = tuple(walks), cluster
        self.stores = {f"{store.kind}{ALL}": store for walk in walks for store in walk}
        self.found: dict[str, tuple[Thing, ...]] = {}

    def look(self, key: str) -> str:
        store = self.stores[key]
        owned = store.owned(self.cluster)
        self.found[store.kind] = tuple(Thing(store, name, owned[name]) for name in sorted(owned))
        return "read"

    def holdings(self, failed: Mapping[str, Exception], *, interrupted: bool) -> Holdings:
        return Holdings(
            self.walks,
            self.found,
            {key.removesuffix(ALL): e for key, e in failed.items()},
            interrupted,
        )


def holdings(walks: Sequence[Walk], cluster: str, pace: Pace, report: Report = silent) -> Holdings:
    """All stores are asked at once what they own."""
    listing = Listing(walks, cluster)
    patience = {key: store.patience for key, store in listing.stores.items()}
    job = Job(
        dict.fromkeys(patience, ()),
        lambda key, _tried: listing.look(key),
        patience=patience.__getitem__,
        report=report,
        verb="reading",
    )
    ran = run(job, pace)
    return listing.holdings(ran.failed, interrupted=ran.interrupted)


def inspect(held: Holdings, pace: Pace, report: Report = silent) -> Ran:
    """Whether what is ours holds what is not, looked at before anything goes. Where nobody may look, it is seen when its turn comes."""
    rooms = {
        thing.address: (thing.store, thing.name)
        for thing in held
        if thing.mark.hold == "owned" and isinstance(thing.store, Roomy)
    }

    def look(address: str, _tried: int) -> str:
        store, name = rooms[address]
        store.inspect(name)
        return "read"

    patience = {address: held_in.patience for address, (held_in, _) in rooms.items()}
    ran = run(
        Job(
            dict.fromkeys(rooms, ()),
            look,
            patience=patience.__getitem__,
            report=report,
            verb="reading",
        ),
        pace,
    )
    return Ran(
        {address: e for address, e in ran.failed.items() if not isinstance(e, Denied)},
        interrupted=ran.interrupted,
    )


def remove(held: Holdings, pace: Pace, report: Report = silent) -> Removal:
    """The things of one store in parallel, clouds side by side, past failures. What was adopted or brought is released instead."""
    things = {thing.address: thing for thing in held}
    if held.interrupted:
        return Removal((), (), held.failed, dict.fromkeys(things, "interrupted"), interrupted=True)
    done: dict[str, str] = {}
    left: dict[str, str] = {}
    called: dict[str, frozenset[str]] = {}
    ours: dict[
        str, float
    ] = {}  # what was looked at and may be dropped, and when: a drop that is soon tried again does not ask again

    def do(address: str, _tried: int) -> str:
        now = pace.clock.now()
        if now - ours.get(address, now - LOOK) >= LOOK:
            have = things[address].store.get([things[address].name]).get(things[address].name)
            called[address] = have.called if have else frozenset()
            if _let_go(things[address], have):
                done[address] = "release"
                return done[address]
            ours[address] = now
        things[address].store.drop(things[address].name)
        done[address] = "drop"
        return done[address]

    def skip(address: str, bad: Collection[str]) -> str:
        reason = (
            _trusted(things[address], held, bad, done)
            or _needed(things[address], held, bad)
            or _filled(things[address], held, bad)
        )
        if reason:
            left[address] = reason
        return reason

    ran = run(
        Job(
            _backwards(held),
            do,
            skip,
            patience=lambda address: things[address].store.patience,
            report=report,
            verb="removing",
        ),
        pace,
    )
    skipped = {
        address: left.get(address, "interrupted")
        for address in things.keys() - done.keys() - ran.failed.keys()
    }
    dropped, released = (
        tuple(sorted(a for a, word in done.items() if word == verb)) for verb in ("drop", "release")
    )
    words = frozenset(word for address in dropped for word in called.get(address, ()))
    return Removal(
        dropped,
        released,
        {**held.failed, **ran.failed},
        skipped,
        ran.interrupted,
        words,
        held.parts,
    )


def _let_go(thing: Thing, have: State | None) -> bool:
    """Looked at once more: since it was found, somebody may have taken it over. What is not ours to drop keeps no mark of ours."""
    mark = have.owner if have else thing.mark
    if mark and mark.cluster == thing.mark.cluster and mark.hold == "owned":
        return False
    if have and mark and mark.cluster == thing.mark.cluster:
        thing.store.put(thing.name, replace(have, owner=None), have)
    return True


def _trusted(thing: Thing, held: Holdings, bad: Collection[str], done: Mapping[str, str]) -> str:
    """Why it must stay: whoever takes the place of an issuer's host is believed by all that still trust it."""
    if thing.mark.hold != "owned" or all(
        store.kind != thing.store.kind for walk in held.walks for store in walk.hosting
    ):
        return ""
    trusting = [store for walk in held.walks for store in walk.trusting]
    unread = [store.kind for store in trusting if store.kind in held.failed]
    staying = [
        each.address
        for each in held.of(trusting)
        if each.address in bad or done.get(each.address) == "release"
    ]
    return f"{(unread + staying)[0]} may still trust it" if unread + staying else ""


def _needed(thing: Thing, held: Holdings, bad: Collection[str]) -> str:
    """Why what trusts an issuer must stay: what could not be given back is found by it; and where it is the user's, its trust would outlive the host."""
    if all(store.kind != thing.store.kind for walk in held.walks for store in walk.trusting):
        return ""
    if reason := _found_by(thing, held, bad):
        return reason
    stuck = [address for address in _given_back(held) if address in bad]
    hosts = [
        each.address
        for walk in held.walks
        for each in held.of(walk.hosting)
        if each.mark.hold == "owned"
    ]
    if stuck:
        return f"{stuck[0]} is found by it"
    return (
        f"it trusts {hosts[0]}, whose name anybody could take then: delete it first"
        if hosts and thing.mark.hold != "owned"
        else ""
    )


def _found_by(thing: Thing, held: Holdings, bad: Collection[str]) -> str:
    kinds = [kind for walk in held.walks if (kind := walk.finds.get(thing.store.kind))]
    unread = [f"{kind} could not be read" for kind in kinds if kind in held.failed]
    left = [f"{kind}/{thing.name}" for kind in kinds if f"{kind}/{thing.name}" in bad]
    return f"{(unread + left)[0]}, and is found by it" if unread + left else ""


def _filled(thing: Thing, held: Holdings, bad: Collection[str]) -> str:
    """Why what others are in must stay: with it would go what could not go by itself, or the mark by which that is found."""
    for walk in held.walks:
        inside = [*walk.around, *walk.hosting] if walk.around else []
        unseen = [
            f"{store.kind} could not be read, and"
            for store in walk.lent
            if store.kind in held.failed
        ]
        lent = [*unseen, *(each.address for each in held.of(walk.lent) if each.address in bad)]
        if (
            lent
            and thing.mark.hold != "owned"
            and any(store.kind == thing.store.kind for store in inside)
        ):
            return f"{lent[0]} is found by it"
        stuck = [each.address for each in held.of(inside) if each.address in bad]
        if stuck and any(store.kind == thing.store.kind for store in inside):
            return f"{stuck[0]} is still there"
        if any(store.kind == thing.store.kind for store in (*walk.around, *walk.within)):
            unread = [
                f"{store.kind} could not be read" for store in walk if store.kind in held.failed
            ]
            staying = [
                f"{each.address} is still there"
                for each in held.of([*walk.trusting, *walk.using])
                if each.address in bad
            ]
            return next(iter(unread + staying), "")
    return ""


def inherit(held: Holdings, mark: Mark, pace: Pace, report: Report = silent) -> Removal:
    """What another tool made becomes ours, as it is."""
    things = {thing.address: thing for thing in held}

    def do(address: str, _tried: int) -> str:
        thing = things[address]
        have = thing.store.get([thing.name]).get(thing.name)
        if have:
            thing.store.put(thing.name, replace(have, owner=mark), have)
        return "update"

    ran = run(
        Job(
            dict.fromkeys(things, ()),
            do,
            patience=lambda address: things[address].store.patience,
            report=report,
        ),
        pace,
    )
    return Removal(
        (),
        (),
        {**held.failed, **ran.failed},
        dict.fromkeys(ran.skipped, ""),
        ran.interrupted or held.interrupted,
    )


def _backwards(held: Holdings) -> dict[str, list[str]]:
    """What hosts an issuer goes last of all, when every cloud has stopped to trust it.

    But what is only given back goes first, and before that what lies in it, which is found by its mark: its owner keeps it, so that nobody
    else can take its place, and it may be found by what we own elsewhere.
    """
    given_back = _given_back(held)
    lent = [thing.address for walk in held.walks for thing in held.of(walk.lent)]
    graph: dict[str, list[str]] = {address: [] for address in lent}
    for walk in held.walks:
        _chained(replace(held, things=_theirs(held)), [*walk.around, *walk.hosting], lent, graph)
    believing: list[str] = []
    for walk in held.walks:
        believing += _chained(held, [*walk.within, *walk.trusting, *walk.using], given_back, graph)
    for walk in held.walks:
        _chained(held, [*walk.around, *walk.hosting], believing or given_back, graph)
    return graph


def _given_back(held: Holdings) -> list[str]:
    lent = [thing.address for walk in held.walks for thing in held.of(walk.lent)]
    return [
        *lent,
        *(
            thing.address
            for walk in held.walks
            for thing in held.of([*walk.around, *walk.hosting])
            if thing.mark.hold != "owned"
        ),
    ]


def _theirs(held: Holdings) -> dict[str, tuple[Thing, ...]]:
    return {
        kind: tuple(thing for thing in things if thing.mark.hold != "owned")
        for kind, things in held.things.items()
    }


def _chained(
    held: Holdings, stores: Sequence[Store[Any]], before: list[str], graph: dict[str, list[str]]
) -> list[str]:
    """All things of a store after all of the next one's. Returns every address that was added."""
    added: list[str] = []
    for store in reversed(stores):
        here = [thing.address for thing in held.of([store]) if thing.address not in graph]
        graph |= dict.fromkeys(here, before)
        before = here or before
        added += here
    return added
