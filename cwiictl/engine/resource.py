"""The words of the engine: a Resource says what should be, a State is what a thing is, a Store is where it lives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar, cast

from cwiictl.errors import BadInput, Problem

Hold = Literal["owned", "adopted", "brought"]


@dataclass(frozen=True)
class Mark:
    """Whose a thing is, how we hold it, and which command asks for it.

    What was adopted or brought is released by `remove` and never dropped; what one command made is never left over to another.
    """

    cluster: str
    hold: Hold = "owned"
    origin: str = "create-all"
    tool: str = ""  # of another tool that made it for this very cluster: all of that can be taken over by its name
    whole: bool = True  # whether it is as we write it
    clouds: frozenset[str] = field(
        default=frozenset(), compare=False
    )  # others than its own, that were made to trust the issuer it hosts


def assigned() -> Any:
    """A text that the cloud fills in and nobody can foretell: never compared."""
    return field(default="", compare=False, metadata={"assigned": True})


def secret() -> Any:
    """What no report, diff or checksum may show, and no comparison needs."""
    return field(default=b"", compare=False, repr=False, metadata={"secret": True})


def aside() -> Any:
    """What a store needs to act and nobody needs to compare or to be shown."""
    return field(default=(), compare=False, repr=False, metadata={"aside": True})


def part() -> Any:
    """A mapping of which only the keys that we want are ours: what others add to it is theirs."""
    return field(default_factory=dict[str, str], metadata={"part": True})


def gladly() -> Any:
    """Resources that we take what we can get of: their failure does not stop us."""
    return field(default=(), metadata={"gladly": True})


@dataclass(frozen=True)
class Difference:
    field: str
    have: object
    want: object


@dataclass(frozen=True, kw_only=True)
class State:
    """What a thing is, as far as it is ours to say. The wanted one and the found one have the same type."""

    markless: ClassVar[bool] = False  # it cannot bear a mark: its parent's speaks for it
    owner: Mark | None = field(default=None, compare=False, metadata={"bookkeeping": True})
    remnant: bool = field(
        default=False, compare=False, metadata={"bookkeeping": True}
    )  # unmarked, of our name, empty and unused: a cut run's

    @property
    def called(self) -> frozenset[str]:
        """What it alone is called by, beside its name, in files that tell of it."""
        return frozenset()


S = TypeVar("S", bound=State)


def differences(want: State, have: State) -> tuple[Difference, ...]:
    """Field by field; of a `part` only the keys that are wanted."""
    return tuple(
        Difference(f.name, _ours(f, want, have), getattr(want, f.name))
        for f in fields(want)
        if f.compare and _ours(f, want, have) != getattr(want, f.name)
    )


def changed(want: State, have: State) -> frozenset[str]:
    """The names of the fields that are not as wanted: a store writes these and no others."""
    return frozenset(difference.field for difference in differences(want, have))


def _ours(f: Field[Any], want: State, have: State) -> object:
    value: object = getattr(have, f.name)
    if "part" not in f.metadata:
        return value
    mine: Mapping[str, str] = getattr(want, f.name)
    return {key: text for key, text in cast("Mapping[str, str]", value).items() if key in mine}


class Store(Protocol[S]):
    """Where one kind of thing lives. All talk with a cloud is behind these four; raises NotYet for what will pass."""

    kind: str
    bulk: bool  # one reading for all names; if not, the engine asks for them one by one, at once
    patience: float  # for how many seconds NotYet is believed

    def get(self, names: Collection[str], /) -> Mapping[str, S]: ...
    def put(self, name: str, want: S, have: S | None, /) -> S: ...
    def drop(self, name: str, /) -> None: ...
    def owned(self, cluster: str, /) -> Mapping[str, Mark]: ...


class Known:
    """What we learned from things that exist; `known[role].arn` is typed."""

    def __init__(self) -> None:
        self._states: dict[str, State] = {}
        self._words: set[str] = set()

    def __getitem__(self, resource: Resource[S]) -> S:
        return cast("S", self._states[resource.address])

    def __contains__(self, resource: Resource[Any]) -> bool:
        return resource.address in self._states

    def get(self, resource: Resource[S]) -> S | None:
        return cast("S | None", self._states.get(resource.address))

    def learn(self, resource: Resource[S], state: S) -> None:
        self._states[resource.address] = state

    def foretell(self, resource: Resource[S], want: S, have: S | None) -> None:
        """What will be there after a run: as wanted, with what the cloud has assigned or a word for it."""
        if have:
            told = {
                f.name: getattr(have, f.name)
                for f in fields(want)
                if {"assigned", "secret"} & f.metadata.keys()
            }
        else:
            told = {
                f.name: f"<{f.name} of {resource.address}>"
                for f in fields(want)
                if "assigned" in f.metadata
            }
            self._words |= set(told.values())
        self.learn(resource, replace(want, **told))

    def vague(self, place: str) -> bool:
        """Whether it is made of what nobody can know before a run: nothing can be there yet."""
        return any(word in place for word in self._words)


@dataclass(frozen=True)
class Resource(ABC, Generic[S]):
    """One thing that should exist. The resources that it holds as fields are what it depends on."""

    name: str
    store: Store[S] = field(repr=False, compare=False)

    @property
    def brought(self) -> bool:
        """The user has it and lends it to us: it bears our mark beside those of others, and is let go in the end."""
        return False

    @property
    def exclusive(self) -> bool:
        """Though it is brought, it is one cluster's at a time: one that bears another's mark is refused as what is not brought would be."""
        return False

    @property
    def single(self) -> bool:
        """It is one command's: made of all that this one asks, and of nothing else. What another one has made would lose what that asked."""
        return False

    @property
    def quiet(self) -> bool:
        """Not worth a line as long as nothing stands against it, and nothing differs."""
        return False

    @property
    def lends(self) -> str:
        """What a run may lend to who makes it, so that what this likes can be written. It is wanted that nobody has it, which is worth no line."""
        return ""

    @property
    def guards(self) -> bool:
        """What it would object to nobody knows until it is read: unread, it stands against everything."""
        return False

    @property
    def late(self) -> bool:
        """Its place is another's output: it is read when its turn comes."""
        return False

    @abstractmethod
    def want(self, known: Known) -> S: ...

    def differing(self, want: S, have: S) -> tuple[Difference, ...]:
        """Where the found one is not as we want it. A shared document looks only at its own part."""
        return differences(want, have)

    def grows(self, want: S, have: S, made: Collection[str]) -> bool:  # noqa: ARG002 - most are no shared document
        """Whether it differs only in what this run has `made` (addresses) for the first time: of a shared document, that is no drift."""
        return False

    def remarks(self, want: S, have: S) -> tuple[str, ...]:  # noqa: ARG002 - most have none
        """What of the found one nobody asked for and stays, and is worth telling all the same."""
        return ()

    def objection(self, found: Known) -> Problem | None:  # noqa: ARG002 - most have none, whatever was found
        """Why nothing at all may be written, judged from what was found before the first write."""
        return None

    def awaits(self, plan: Mapping[str, Resource[Any]], found: Known) -> Collection[str]:  # noqa: ARG002 - most wait for nothing else
        """What of the plan must come before it beside all that it holds, because of what was found before the first write."""
        return ()

    def place(self, known: Known) -> str:  # noqa: ARG002 - only what is addressed by an output needs it
        """Where its store finds it. Only what is addressed by an output overrides this; it is then `late`."""
        return self.name

    @property
    def address(self) -> str:
        return f"{self.store.kind}/{self.name}"

    @property
    def needs(self) -> tuple[Resource[Any], ...]:
        return tuple(self._held(gladly=False))

    @property
    def likes(self) -> tuple[Resource[Any], ...]:
        return tuple(self._held(gladly=True))

    def _held(self, *, gladly: bool) -> Iterator[Resource[Any]]:
        for f in fields(self):
            if ("gladly" in f.metadata) == gladly:
                yield from _resources(getattr(self, f.name))


class Reference(ABC):
    """A value that may be another's output. Who holds it, holds what it is of."""

    @property
    @abstractmethod
    def of(self) -> Resource[Any] | None: ...


def _resources(value: object) -> Iterator[Resource[Any]]:
    match value:
        case Resource():
            yield cast("Resource[Any]", value)
        case Reference():
            yield from _resources(value.of)
        case tuple():
            for x in cast("tuple[object, ...]", value):
                yield from _resources(x)
        case _:
            pass


@dataclass(frozen=True)
class Walk:
    """The stores of a cloud, in the order of making."""

    hosting: Sequence[Store[Any]]  # what serves an issuer to the world
    lent: Sequence[
        Store[Any]
    ]  # what we put in places of the user's own; in a place of ours it is that place's
    trusting: Sequence[Store[Any]]  # what believes whoever serves it
    using: Sequence[Store[Any]]
    around: Sequence[
        Store[Any]
    ] = ()  # what everything is in, each in the one before; no host itself
    within: Sequence[Store[Any]] = ()  # what those that trust are in; it trusts nobody itself
    finds: Mapping[str, str] = field(
        default_factory=dict[str, str]
    )  # by kinds: what is found only by a thing of the same name
    shared: Mapping[str, str] = field(
        default_factory=dict[str, str]
    )  # by kinds: what is everybody's, and which part of it goes

    def __iter__(self) -> Iterator[Store[Any]]:
        return iter(
            (*self.around, *self.hosting, *self.lent, *self.within, *self.trusting, *self.using)
        )


class Plan(Mapping[str, Resource[Any]]):
    """The resources asked for and all that they hold. One address, one meaning. `walks` are looked through for what else is the cluster's."""

    def __init__(self, roots: Iterable[Resource[Any]], walks: Sequence[Walk] = ()) -> None:
        self.walks = walks
        self._all: dict[str, Resource[Any]] = {}
        todo = list(roots)
        while todo:
            resource = todo.pop()
            known = self._all.get(resource.address)
            if known is None:
                self._all[resource.address] = resource
                todo += resource.needs + resource.likes
            elif known is not resource and (known != resource or known.store is not resource.store):
                raise BadInput(
                    f"two different things would be {resource.address}",
                    remedy="rename one of what asks for them",
                )

    def __getitem__(self, address: str) -> Resource[Any]:
        return self._all[address]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._all))

    def __len__(self) -> int:
        return len(self._all)


Report = Callable[["Event"], None]
Phase = Literal["reading", "writing", "removing"]
What = Literal["reading", "writing", "removing", "waiting", "done", "failed", "skipped"]


@dataclass(frozen=True)
class Event:
    """One line of a run as it happens. All are made in the calling thread, and each thing of a phase has one end: done, failed or skipped."""

    what: What
    address: str
    why: str = ""  # of what is done: which verb it was
    ended: int = 0  # how many of `total` have come to an end
    total: int = 0
    phase: Phase = "writing"


def silent(_event: Event) -> None:
    """The report of who wants none."""
