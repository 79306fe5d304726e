"""Tags as AWS lists them, and as a mapping. A mark is a tag like others, but its own question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from cwiictl import names
from cwiictl.engine.resource import Mark


class Tagged(Protocol):
    @property
    def tags(self) -> Mapping[str, str]: ...
    @property
    def owner(self) -> Mark | None: ...


def read(tags: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in tags}


def complete(want: Tagged) -> dict[str, str]:
    return {**want.tags, **(names.marked(want.owner) if want.owner else {})}


def listed(want: Tagged) -> list[Any]:
    return [{"Key": key, "Value": value} for key, value in sorted(complete(want).items())]


def retagged(want: Tagged, have: Tagged) -> tuple[list[Any], list[str]]:
    """The tags to set, and the keys to take away: those of a mark that is given up. Tags of others are theirs."""
    add = [{"Key": key, "Value": value} for key, value in sorted(complete(want).items()) if have.tags.get(key) != value]
    gone = names.marked(have.owner).keys() if have.owner and not want.owner else ()
    return add, sorted(key for key in gone if key in have.tags)
