"""What is drawn: an issuer, the clouds that believe it, and who may act as what in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Pods: TypeAlias = Mapping[tuple[str, str], tuple[str, ...]]  # of each ServiceAccount that is there
State = Literal["fine", "warning", "wrong"]
WORSE: tuple[State, ...] = ("fine", "warning", "wrong")


@dataclass(frozen=True)
class Note:
    """One thing to be said of something: what happened, and what to do."""

    state: State
    text: str
    remedy: str = ""


@dataclass(frozen=True)
class Thing:
    """One thing that exists or should, by its address, and how it is."""

    address: str
    condition: str
    state: State = "fine"
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class Acting:
    """The ServiceAccounts of a namespace, and what they may act as in a cloud."""

    thing: str  # by its address
    namespace: str
    accounts: tuple[str, ...]
    title: str
    id: str = ""  # as the cloud's own tools want it; empty if nobody knows it yet
    powers: tuple[str, ...] = ()  # what it may do, a line each
    parts: tuple[str, ...] = ()  # addresses of what is made for it alone


@dataclass(frozen=True)
class Identity:
    acting: Acting
    cloud: str
    things: tuple[Thing, ...]  # itself, and what is made for it alone

    @property
    def state(self) -> State:
        return worst(thing.state for thing in self.things)

    @property
    def notes(self) -> tuple[Note, ...]:
        return tuple(dict.fromkeys(note for thing in self.things for note in thing.notes))

    @property
    def condition(self) -> str:
        """Of what is the worst of it. What is not worth a line as long as nothing stands against it has none."""
        return next(
            (thing.condition for thing in self.things if thing.state == self.state), "as wanted"
        )


@dataclass(frozen=True)
class Cloud:
    name: str
    title: str
    account: str
    caller: str
    things: tuple[Thing, ...] = ()  # of nobody alone: what believes the issuer, and what all is in
    others: tuple[Thing, ...] = ()  # of the cluster, and not asked for

    @property
    def state(self) -> State:
        return worst(thing.state for thing in self.things)


@dataclass(frozen=True)
class Issuer:
    url: str
    key: str = ""  # the id of the key that signs tokens
    things: tuple[Thing, ...] = ()

    @property
    def state(self) -> State:
        return worst(thing.state for thing in self.things)


@dataclass(frozen=True)
class Map:
    cluster: str
    issuer: Issuer
    clouds: tuple[Cloud, ...]
    identities: tuple[Identity, ...]
    pods: Pods | None = None  # None if the cluster was not read
    read: str = ""  # when, and by what

    @property
    def things(self) -> tuple[Thing, ...]:
        """All, each once: what two share counts as one."""
        shared = (
            *self.issuer.things,
            *(thing for cloud in self.clouds for thing in (*cloud.things, *cloud.others)),
        )
        return tuple(
            dict.fromkeys(
                (*shared, *(thing for identity in self.identities for thing in identity.things))
            )
        )


@dataclass(frozen=True)
class Who:
    """ServiceAccounts that may act as exactly the same."""

    namespace: str
    accounts: tuple[str, ...]
    identities: tuple[Identity, ...]

    @property
    def state(self) -> State:
        return worst(identity.state for identity in self.identities)

    def of(self, cloud: str) -> tuple[Identity, ...]:
        return tuple(identity for identity in self.identities if identity.cloud == cloud)


def worst(states: Iterable[State]) -> State:
    return WORSE[max((WORSE.index(state) for state in states), default=0)]


def whos(drawn: Map) -> tuple[Who, ...]:
    """In order of their names. What two share stands with each: whoever looks for one finds all of it."""
    found: dict[tuple[str, str], list[Identity]] = {}
    for identity in drawn.identities:
        for account in identity.acting.accounts:
            found.setdefault((identity.acting.namespace, account), []).append(identity)
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (namespace, account), identities in sorted(found.items()):
        alike.setdefault(
            (namespace, tuple(identity.acting.thing for identity in identities)), []
        ).append(account)
    return tuple(
        Who(namespace, tuple(accounts), tuple(found[namespace, accounts[0]]))
        for (namespace, _), accounts in alike.items()
    )
