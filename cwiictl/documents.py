"""YAML and JSON from strangers: text → Kubernetes objects, each with the place it was read from.

Nothing that a text holds may cost more than its length, and nothing is read as something else than Kubernetes reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import yaml

from cwiictl.errors import BadInput

MAX_SIZE = 1 << 20
MAX_NODES = 100_000
MAX_DEPTH = 50

_TEXT = "tag:yaml.org,2002:str"
_MERGE = "tag:yaml.org,2002:merge"
_PLAIN = "write plain YAML: objects, lists, texts, numbers and booleans"


# what a plain scalar may be other than a text, with the characters that it may begin with ("" is for nothing at all)
_KINDS = (
    (
        "bool",
        r"yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF",
        tuple("yYnNtTfFoO"),
    ),
    ("int", r"[-+]?(?:0b[01]+|0x[0-9a-fA-F]+|0[0-7]+|0|[1-9][0-9_]*)", tuple("-+0123456789")),
    (
        "float",
        r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?",
        tuple("-+0123456789."),
    ),
    ("null", r"~|null|Null|NULL|", ("~", "n", "N", "")),
    ("merge", r"<<", ("<",)),
)


def _resolvers() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    found: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for kind, pattern, beginnings in _KINDS:
        for beginning in beginnings:
            found.setdefault(beginning, []).append(
                (f"tag:yaml.org,2002:{kind}", re.compile(rf"(?:{pattern})\Z"))
            )
    return found


_RESOLVERS = _resolvers()


class Loader(yaml.CSafeLoader):
    """YAML 1.1 as Kubernetes reads it: dates and `1:30` are texts, so that all values are JSON's and none grows beyond its text."""

    yaml_implicit_resolvers = _RESOLVERS


@dataclass(frozen=True)
class Document:
    """One object of a file. `value` is what JSON could say, and nothing else."""

    value: Mapping[str, object]
    file: str
    node: yaml.Node

    @property
    def source(self) -> str:
        return _place(self.file, self.node)

    def where(self, *path: str | int) -> str:
        """The file and line of a field, or of the nearest thing around it that is there."""
        return _place(self.file, _reached(self.node, path))

    def where_key(self, *path: str | int) -> str:
        """The same of the field's key, which stands above a value of several lines."""
        around, key = _reached(self.node, path[:-1]), path[-1]
        return _place(
            self.file, next((word for word, _ in _pairs(around) if word.value == key), around)
        )

    def at(self, *path: str | int) -> object:
        """The value of a field, which is there."""
        here: Any = self.value
        for step in path:
            here = here[step]
        return here

    def below(self, *path: str | int) -> Document:
        """An object in this one, as a document with its own place."""
        return _document(self.at(*path), self.file, _reached(self.node, path))

    def items(self) -> Iterator[Document]:
        """What is in a List, each at its own place."""
        values, node = self.value.get("items"), _child(self.node, "items")
        if not isinstance(values, list) or not isinstance(node, yaml.SequenceNode):
            raise BadInput(
                f"the List in {self.source} has no items",
                remedy="give it a list of objects under items",
            )
        for value, below in zip(cast("list[object]", values), node.value, strict=True):
            yield _document(value, self.file, below)


def documents(name: str, text: bytes) -> Iterator[Document]:
    """The objects of a file in its order. Empty ones, and those of comments alone, are not there."""
    if len(text) > MAX_SIZE:
        raise BadInput(
            f"{name} is longer than {MAX_SIZE} bytes",
            remedy="give only the objects that are asked for",
        )
    decoded = _decoded(name, text)
    try:
        _measure(name, decoded)
        yield from _read(name, decoded)
    except yaml.MarkedYAMLError as error:
        raise BadInput(
            f"{_mark(name, error)} is not valid YAML: {error.problem or error.context}",
            remedy="correct the file at that place",
        ) from error
    except yaml.YAMLError as error:
        raise BadInput(
            f"{name} is not valid YAML: it holds a character that YAML does not allow",
            remedy="save it as plain UTF-8 text",
        ) from error


def _decoded(name: str, text: bytes) -> str:
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise BadInput(
            f"{name}:{line} is not UTF-8", remedy="save the file as plain UTF-8 text"
        ) from error


def _measure(name: str, text: str) -> None:
    """Before anything is built: the composer is recursive C, and would overflow its stack where this only counts."""
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader)):
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            depth += 1
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            depth -= 1
        _refuse_excess(name, event, count, depth)
        tag = cast("str | None", getattr(event, "tag", None))
        if tag not in {None, _TEXT}:
            raise BadInput(f"{_place(name, event)} uses the YAML tag {tag!r}", remedy=_PLAIN)


def _refuse_excess(file: str, read: yaml.Node | yaml.Event, count: int, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise BadInput(f"{_place(file, read)} is nested more than {MAX_DEPTH} deep", remedy=_PLAIN)
    if count > MAX_NODES:
        raise BadInput(
            f"{_place(file, read)} has more than {MAX_NODES} values",
            remedy="give fewer objects in one file",
        )


def _read(name: str, text: str) -> Iterator[Document]:
    loader = Loader(text)
    try:
        while loader.check_node():
            node = cast("yaml.Node", loader.get_node())
            _Vetting(name).vet(node)
            try:
                value: object = loader.construct_document(node)  # pyright: ignore[reportUnknownMemberType] - its stub says nothing
            except (ValueError, IndexError) as error:
                raise BadInput(
                    f"{_place(name, node)} holds a number that cannot be read",
                    remedy="quote it if it is a text",
                ) from error
            if value is not None:
                yield _document(value, name, node)
    finally:
        loader.dispose()


def _document(value: object, file: str, node: yaml.Node) -> Document:
    if not isinstance(value, dict):
        raise BadInput(
            f"{_place(file, node)} is no object but {kind_of(value)}",
            remedy="give Kubernetes objects, with apiVersion and kind",
        )
    return Document(cast("Mapping[str, object]", value), file, node)


class _Vetting:
    """One walk over a document as it will be built: an alias counts as all that it stands for."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.sizes: dict[int, tuple[int, int]] = {}
        self.open: set[int] = set()

    def vet(self, node: yaml.Node) -> tuple[int, int]:
        """How many values, how deep. Each node is walked once, however often an alias names it."""
        if id(node) in self.open:
            raise BadInput(f"{_place(self.file, node)} contains itself by an alias", remedy=_PLAIN)
        if id(node) not in self.sizes:
            self.open.add(id(node))
            self.sizes[id(node)] = self._measured(node)
            self.open.discard(id(node))
        return self.sizes[id(node)]

    def _measured(self, node: yaml.Node) -> tuple[int, int]:
        count, depth = 1, 0
        for child in self._children(node):
            more, deeper = self.vet(child)
            count, depth = count + more, max(depth, deeper)
        _refuse_excess(self.file, node, count, depth + 1)
        return count, depth + 1

    def _children(self, node: yaml.Node) -> list[yaml.Node]:
        if isinstance(node, yaml.SequenceNode):
            return cast("list[yaml.Node]", node.value)
        if not isinstance(node, yaml.MappingNode):
            return []
        pairs = _pairs(node)
        self._check_keys([key for key, _ in pairs])
        return [node for pair in pairs for node in pair]

    def _check_keys(self, keys: list[yaml.Node]) -> None:
        seen: dict[str, yaml.Node] = {}
        for key in keys:
            if not isinstance(key, yaml.ScalarNode) or key.tag not in {_TEXT, _MERGE}:
                word = f" {key.value!r}" if isinstance(key, yaml.ScalarNode) else ""
                raise BadInput(
                    f"{_place(self.file, key)} has the key{word}, which is no text",
                    remedy="quote the key",
                )
            word = cast("str", key.value)
            if word in seen:
                again = f"has the key {word!r} again, which is there already in line {_line(seen[word])}"
                raise BadInput(f"{_place(self.file, key)} {again}", remedy="leave one of the two")
            seen[word] = key


def kind_of(value: object) -> str:
    """A word for people for what stands where something else was expected."""
    if isinstance(value, bool):
        return "true or false"
    words: dict[type, str] = {
        str: "a text",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
    }
    return words.get(type(value), "nothing")


def _child(node: yaml.Node, step: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
        items = cast("list[yaml.Node]", node.value)
        return items[step] if step < len(items) else None
    return next(
        (value for key, value in reversed(_pairs(node)) if key.value == step), None
    )  # what is merged in stands before


def _pairs(node: yaml.Node) -> list[tuple[yaml.Node, yaml.Node]]:
    return (
        cast("list[tuple[yaml.Node, yaml.Node]]", node.value)
        if isinstance(node, yaml.MappingNode)
        else []
    )


def _reached(node: yaml.Node, path: Sequence[str | int]) -> yaml.Node:
    """The node at the path, or the nearest around it."""
    for step in path:
        below = _child(node, step)
        if below is None:
            break
        node = below
    return node


def _line(read: yaml.Node | yaml.Event) -> int:
    return read.start_mark.line + 1 if read.start_mark else 1


def _place(file: str, read: yaml.Node | yaml.Event) -> str:
    return f"{file}:{_line(read)}"


def _mark(file: str, error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    return f"{file}:{mark.line + 1}:{mark.column + 1}" if mark else file
