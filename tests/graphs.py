"""Generated graphs of resources over shelves of every kind, as plain data that can be built upon any world."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

from cwiictl.engine.resource import Difference, Known, Mark, Plan, Resource, State, Walk, gladly
from cwiictl.engine.run import Outcome, apply, preview
from cwiictl.errors import NotYet, Problem, Throttled
from tests.clock import a_pace
from tests.contracts.shelf import Board, Boards, Child, Children, Oven, Shelf, Thing, World

OURS = Mark("ours")
THEIRS = Mark("theirs")


@dataclass(frozen=True)
class Node(Resource[Thing]):
    value: str = "a"
    on: tuple[Resource[Any], ...] = ()
    glad: tuple[Resource[Any], ...] = gladly()
    against: Problem | None = field(default=None, compare=False)

    def want(self, known: Known) -> Thing:
        return Thing(
            value=" ".join(
                [
                    self.value,
                    *(said(known[need]) for need in self.on),
                    *(said(known[like]) for like in self.glad if like in known),
                ]
            )
        )

    def objection(self, found: Known) -> Problem | None:  # noqa: ARG002 - it always objects
        return self.against


@dataclass(frozen=True)
class Late(Node):
    """It is where its first need says, once that is known."""

    @property
    def late(self) -> bool:
        return True

    def place(self, known: Known) -> str:
        return f"{self.name}@{known[self.on[0]].id}"


@dataclass(frozen=True)
class Part(Node):
    """A child of what has the same name."""

    def want(self, known: Known) -> Child:
        return Child(value=super().want(known).value)


@dataclass(frozen=True)
class Notice(Resource[Board]):
    """Our lines on a shared board: one for itself, one for each that it could get."""

    value: str = "a"
    on: tuple[Resource[Any], ...] = ()
    glad: tuple[Resource[Any], ...] = gladly()

    def want(self, known: Known) -> Board:
        lines = {
            self.name: self.value,
            **{held.name: said(known[held]) for held in self.on + self.glad if held in known},
        }
        return Board(lines=frozenset(lines.items()), of=frozenset(lines))

    def differing(self, want: Board, have: Board) -> tuple[Difference, ...]:
        ours = frozenset(line for line in have.lines if line[0] in want.of)
        return (
            () if ours == want.lines else (Difference("lines", sorted(ours), sorted(want.lines)),)
        )


def said(state: State) -> str:
    """What others build upon: also what the place assigned, and what is secret."""
    return (
        f"{state.id}/{state.value[:1]}/{state.key.decode()}"
        if isinstance(state, Thing)
        else "board"
    )


@dataclass(frozen=True)
class Asked:
    kind: str
    value: str
    needs: tuple[int, ...] = ()
    likes: tuple[int, ...] = ()


@dataclass
class Places:
    """A world with one place of every kind."""

    world: World = field(default_factory=World)

    def __post_init__(self) -> None:
        self.bulk = Shelf(self.world, "bulk")
        self.single = Shelf(self.world, "single", bulk=False, patience=600.0)
        self.unmarked = Shelf(self.world, "unmarked", late_mark=True)
        self.late = Shelf(self.world, "late", bulk=False)
        self.oven = Oven(self.world, "oven", bulk=False)
        self.part = Children(self.bulk, "part")
        self.board = Boards(self.world)

    @property
    def shelves(self) -> tuple[Shelf, ...]:
        return self.bulk, self.single, self.unmarked, self.late, self.oven, self.part

    @property
    def walk(self) -> Walk:
        """What is in bulk serves an issuer, what is late lies in a place of the user's own, and what is single believes the issuer."""
        return Walk(
            (self.bulk, self.part),
            (self.late,),
            (self.single,),
            (self.unmarked, self.oven, self.board),
        )

    def __iter__(self) -> Iterator[tuple[Shelf, str]]:
        return ((shelf, name) for shelf in self.shelves for name in list(shelf.things))

    def state(self) -> Mapping[str, object]:
        """All there is, to the last mark."""
        things = {
            shelf.address(name): (t := shelf.things[name], t.owner, t.remnant, t.id, t.key)
            for shelf, name in self
        }
        return {**things, **self.board.lines}


def build(asked: Collection[Asked], places: Places) -> Plan:
    return Plan(resources(asked, places))


def resources(asked: Collection[Asked], places: Places) -> list[Resource[Any]]:
    made: list[Resource[Any]] = []
    for i, ask in enumerate(asked):
        on, glad = tuple(made[n] for n in ask.needs), tuple(made[n] for n in ask.likes)
        match ask.kind:
            case "board":
                made.append(Notice(f"n{i}", places.board, ask.value, on, glad))
            case "part":
                made.append(Part(on[0].name, places.part, ask.value, on, glad))
            case "late":
                made.append(Late(f"n{i}", places.late, ask.value, on, glad))
            case kind:
                made.append(
                    Node(
                        f"n{i}",
                        {
                            "bulk": places.bulk,
                            "single": places.single,
                            "unmarked": places.unmarked,
                            "oven": places.oven,
                        }[kind],
                        ask.value,
                        on,
                        glad,
                    )
                )
    return made


@st.composite
def graphs(draw: st.DrawFn, most: int = 8) -> tuple[Asked, ...]:
    asked: list[Asked] = []
    for i in range(draw(st.integers(1, most))):
        kind = draw(
            st.sampled_from(["bulk", "single", "unmarked", "oven", "board", "late", "part"])
        )
        earlier = st.lists(st.sampled_from(range(i)), unique=True, max_size=3) if i else st.just([])
        needs, likes = draw(earlier), draw(earlier)
        first = [
            n
            for n, a in enumerate(asked)
            if (
                a.kind != "board" if kind == "late" else a.kind == "bulk" and is_childless(asked, n)
            )
        ]
        if kind in {"late", "part"}:
            kind = kind if first else "bulk"
            needs = [first[-1], *(n for n in needs if n != first[-1])] if first else needs
        asked.append(
            Asked(
                kind,
                draw(st.sampled_from("ab")),
                tuple(needs),
                tuple(n for n in likes if n not in needs),
            )
        )
    return tuple(asked)


def is_childless(asked: Collection[Asked], n: int) -> bool:
    return not any(a.kind == "part" and a.needs[0] == n for a in asked)


def behind(plan: Plan, bad: Collection[str], *, glad: bool = False) -> set[str]:
    """What needs any of these, however far (and, if so asked, what likes them)."""
    found: set[str] = set()
    while (
        more := {
            a
            for a, r in plan.items()
            for held in r.needs + (r.likes if glad else ())
            if held.address in {*bad, *found}
        }
        - found
    ):
        found |= more
    return found


@st.composite
def weather(draw: st.DrawFn, addresses: st.SearchStrategy[str] | None = None) -> Mapping[str, Any]:
    """Calls that did nothing and calls whose answer was lost, all of which pass; and how long a new thing is not seen."""
    address = addresses or st.builds(
        "{}/n{}".format,
        st.sampled_from(["bulk", "single", "unmarked", "oven", "late", "part", "board"]),
        st.integers(0, 7),
    )
    passing = st.sampled_from(
        [
            NotYet("not yet"),
            NotYet("in a while", after=10.0),
            Throttled("slowly"),
            Throttled("slowly", after=7.0),
        ]
    )
    troubles = st.dictionaries(address, st.lists(passing, max_size=2), max_size=6)
    return {
        "hitches": draw(troubles),
        "lost": draw(troubles),
        "lag": draw(st.sampled_from([0.0, 0.0, 2.0, 45.0])),
    }


def endure(places: Places, weather: Mapping[str, Any]) -> None:
    for trouble in ("hitches", "lost"):
        getattr(places.world, trouble).update(
            {address: list(errors) for address, errors in weather[trouble].items()}
        )
    places.world.lag = weather["lag"]


def applied(asked: Collection[Asked], places: Places, **more: Any) -> Outcome:
    return apply(build(asked, places), OURS, a_pace(clock=places.world.clock), **more)


def previewed(asked: Collection[Asked], places: Places, **more: Any) -> Outcome:
    return preview(build(asked, places), OURS, a_pace(clock=places.world.clock), **more)


def verbs(outcome: Outcome) -> dict[str, str]:
    return {change.address: change.verb for change in outcome.changes}


def change_the_world(
    places: Places, data: st.DataObject, whose: st.SearchStrategy[Any]
) -> set[str]:
    """Drifted, gone, or another's; the addresses of what is gone."""
    gone: set[str] = set()
    for shelf, name in places:
        match data.draw(
            st.sampled_from(["as it was", "as it was", "gone", "drifted", "another's"])
        ):
            case "gone":
                gone.add(shelf.address(name).partition("@")[0])
                del shelf.things[name]
            case "drifted":
                shelf.things[name] = replace(shelf.things[name], value="drift")
            case "another's" if shelf is not places.part:
                shelf.things[name] = replace(shelf.things[name], owner=data.draw(whose))
            case _:
                pass
    for name, lines in places.board.lines.items():
        places.board.lines[name] = frozenset(line for line in lines if data.draw(st.booleans()))
    return gone
