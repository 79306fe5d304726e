"""Variables in plain data: ${NAME} in a text is what NAME stands for. A text that is nothing else may be true or false, and ${!NAME} the contrary."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from msgspec import UNSET, UnsetType

from cwiictl.errors import BadInput
from cwiictl.shapes import Strict, nearest

WORD = re.compile(r"\$\{(?P<no>!?)(?P<name>\w+)\}")
WHEN = "when"
SWITCH = {"true": True, "false": False}


class VariableShape(Strict):
    """One with true or false for its default is a switch. One without a default is asked for where something speaks of it."""

    help: str
    default: str | bool | UnsetType = UNSET
    pattern: str = ".+"


class Meaning(Protocol):
    """What variables stand for."""

    def __getitem__(self, name: str, /) -> str | bool: ...


@dataclass(frozen=True)
class Variables:
    """Of `title`, as the user has given them; `known` are further ones."""

    title: str
    shapes: Mapping[str, VariableShape]
    given: Mapping[str, str]
    known: Mapping[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        for name, value in self.given.items():
            if name not in self.shapes:
                raise BadInput(
                    f"{self.title} has no variable {name!r}",
                    remedy=nearest(name, tuple(self.shapes), key="--set "),
                )
            self._judge(name, value)

    def _judge(self, name: str, value: str) -> None:
        shape = self.shapes[name]
        if isinstance(shape.default, bool) and value not in SWITCH:
            raise BadInput(
                f"--set {name}={value} is neither true nor false",
                remedy=f"give one of the two: {shape.help}",
            )
        if not re.fullmatch(shape.pattern, value):
            raise BadInput(
                f"--set {name}={value} cannot be meant: it does not match {shape.pattern}",
                remedy=f"give the {shape.help}",
            )

    def __getitem__(self, name: str, /) -> str | bool:
        if name in self.known:
            return self.known[name]
        default = self.shapes[name].default
        if name in self.given:
            return SWITCH[self.given[name]] if isinstance(default, bool) else self.given[name]
        if isinstance(default, UnsetType):
            raise BadInput(
                f"{self.title} needs {name}",
                remedy=f"give --set {name}=VALUE: {self.shapes[name].help}",
            )
        return filled(default, self)


def filled(value: Any, meaning: Meaning) -> Any:
    match value:
        case str():
            return _text(value, meaning)
        case list():
            return [
                filled(each, meaning) for each in cast("list[Any]", value) if _wanted(each, meaning)
            ]
        case dict():
            items = cast("dict[str, Any]", value).items()
            return {
                key: filled(each, meaning)
                for key, each in items
                if key != WHEN and _wanted(each, meaning)
            }
        case _:
            return value


def _wanted(value: Any, meaning: Meaning) -> bool:
    if not isinstance(value, dict) or WHEN not in value:
        return True
    return filled(cast("dict[str, Any]", value)[WHEN], meaning) is True


def _text(text: str, meaning: Meaning) -> str | bool:
    whole = WORD.fullmatch(text)
    if whole and isinstance(value := meaning[whole["name"]], bool):
        return value is not bool(whole["no"])
    return WORD.sub(lambda word: str(meaning[word["name"]]), text)
