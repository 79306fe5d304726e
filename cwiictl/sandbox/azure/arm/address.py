"""What an address of ARM names: pairs of a type and a name, and what they are in or are attached to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote


@dataclass(frozen=True)
class Address:
    segments: tuple[str, ...]

    @cached_property
    def _cut(self) -> int | None:
        """Where the last provider begins. Only at an even place is it that word; elsewhere it is somebody's name for something."""
        found = [
            place
            for place in range(0, len(self.segments), 2)
            if self.segments[place].lower() == "providers"
        ]
        return found[-1] if found and len(self.segments) > found[-1] + 1 else None

    @cached_property
    def namespace(self) -> str:
        return "" if self._cut is None else self.segments[self._cut + 1]

    @cached_property
    def parent(self) -> str:
        """What a collection is in, and what an assignment, a definition or a lock is attached to."""
        return (
            path(self.segments[: self._cut])
            if self._cut is not None
            else path(self.segments[: (len(self.segments) - 1) // 2 * 2])
        )

    @cached_property
    def types(self) -> tuple[str, ...]:
        return self._rest[0::2]

    @cached_property
    def names(self) -> tuple[str, ...]:
        return self._rest[1::2]

    @cached_property
    def _rest(self) -> tuple[str, ...]:
        return self.segments if self._cut is None else self.segments[self._cut + 2 :]

    @property
    def whole(self) -> bool:
        """Whether it ends in a name: a thing, and not a collection or an action."""
        return len(self._rest) % 2 == 0 and bool(self.segments)

    @property
    def name(self) -> str:
        return self.names[-1] if self.names else ""

    @cached_property
    def subscription(self) -> str:
        return self.segments[1].lower() if self._begins("subscriptions", 0) else ""

    @cached_property
    def group(self) -> str:
        return (
            self.segments[3]
            if self._begins("subscriptions", 0) and self._begins("resourcegroups", 2)
            else ""
        )

    @cached_property
    def kind(self) -> str:
        """The type in full, in lower case."""
        return "/".join((*((self.namespace,) if self.namespace else ()), *self.types)).lower()

    @cached_property
    def shape(self) -> str:
        """The type with a pair of braces for each name: what routes are found by."""
        parts = (
            [self.segments[0], "{}", "providers", "{}"]
            if self.bare
            else [self.namespace]
            if self.namespace
            else []
        )
        for place, part in enumerate(self._rest):
            parts.append("{}" if place % 2 else part)
        return "/".join(parts).lower()

    @property
    def bare(self) -> bool:
        """A provider itself, or what is done with one: it is a thing of its subscription."""
        return (
            bool(self.namespace)
            and len(self._rest) <= 1
            and self._cut == 2
            and self.kind.rpartition("/")[2] in {self.namespace.lower(), "register", "unregister"}
        )

    @property
    def id(self) -> str:
        return path(self.segments)

    @property
    def thing(self) -> str:
        """The thing that is meant, without what is done with it."""
        return self.id if self.whole else path(self.segments[:-1])

    def _begins(self, word: str, place: int) -> bool:
        return len(self.segments) > place + 1 and self.segments[place].lower() == word


def path(segments: tuple[str, ...]) -> str:
    return "".join(f"/{segment}" for segment in segments)


def read(text: str) -> Address:
    """Clients put a scope between slashes, whether it has its own or not: an empty part is none."""
    return Address(tuple(unquote(part) for part in text.split("/") if part))
