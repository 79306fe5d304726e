"""How a cloud says what it must be told: a field with its help. Command-line option and README row follow from it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any


@dataclass(frozen=True)
class Option:
    flag: str
    help: str
    metavar: str
    of: frozenset[str]  # the commands that take it; none for all
    required: bool
    switch: bool = False
    spared: frozenset[str] = frozenset()  # the commands that do not need it, though it is required

    @property
    def parameter(self) -> str:
        return self.flag.removeprefix("--").replace("-", "_")


@dataclass(frozen=True)
class Wish:
    """What create-identity takes for a workload: a key of the cloud's section in cluster.yaml, as an option."""

    flag: str
    key: str
    help: str
    metavar: str = ""
    file: bool = False  # the value is what the file says; otherwise the option may be repeated

    @property
    def parameter(self) -> str:
        return self.flag.removeprefix("--").replace("-", "_")


def asked(
    flag: str, text: str, *, metavar: str = "TEXT", of: tuple[str, ...] = (), required: bool = False
) -> Any:
    """A text that the user gives with `flag`; empty if not."""
    option = Option(flag, text, metavar, frozenset(of), required)
    return field(default="", metadata={"option": option})


def spared(wanted: Any, *commands: str) -> Any:
    """The same, but that these commands do not need it."""
    return field(
        default="",
        metadata={"option": replace(wanted.metadata["option"], spared=frozenset(commands))},
    )


def switched(flag: str, text: str, *, of: tuple[str, ...] = ()) -> Any:
    """On if the user gives `flag`."""
    return field(
        default=False,
        metadata={"option": Option(flag, text, "", frozenset(of), required=False, switch=True)},
    )


def options(spec: type[Any]) -> dict[str, Option]:
    """The options of a cloud, by the field of its Spec that each fills."""
    return {f.name: f.metadata["option"] for f in fields(spec) if "option" in f.metadata}
