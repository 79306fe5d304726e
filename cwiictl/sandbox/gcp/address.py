"""What a path of a Google API names: pairs of a collection and a name, and what is to be done with them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote


@dataclass(frozen=True)
class Address:
    version: str
    segments: tuple[str, ...]
    verb: str  # after a colon: setIamPolicy; mostly there is none

    @cached_property
    def shape(self) -> str:
        """With a pair of braces for each name: what routes are found by."""
        parts = [part if place % 2 == 0 else "{}" for place, part in enumerate(self.segments)]
        return "/".join(parts) + (f":{self.verb}" if self.verb else "")

    @property
    def names(self) -> tuple[str, ...]:
        return self.segments[1::2]

    @property
    def name(self) -> str:
        return self.names[-1]

    @property
    def project(self) -> str:
        """Its id or its number; empty for what is in none."""
        return self.segments[1] if len(self.segments) > 1 and self.segments[0] == "projects" else ""

    @property
    def resource(self) -> str:
        """The thing that is meant, or what the collection is in."""
        return "/".join(self.segments[: len(self.segments) // 2 * 2])


def read(path: str) -> Address:
    version, _, rest = path.strip("/").partition("/")
    segments = rest.split("/")
    last, _, verb = segments[-1].partition(":")
    return Address(version, tuple(unquote(part) for part in (*segments[:-1], last) if part), verb)
