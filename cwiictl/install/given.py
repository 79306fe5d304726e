"""A values file and what is said on the command line → Values, or what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, cast

import msgspec
import yaml

from cwiictl.documents import Document, documents
from cwiictl.errors import BadInput
from cwiictl.install.values import Values, Wishes
from cwiictl.shapes import told

_DOT = re.compile(r"(?<!\\)\.")
_LIST = re.compile(r"\{(?P<words>[^:{}]*)\}")  # as helm has it


@dataclass(frozen=True)
class _Said(Document):
    """What was not written in a file has no lines."""

    def where(self, *path: str | int) -> str:
        del path
        return self.file

    def where_key(self, *path: str | int) -> str:
        return self.where(*path)


def read(name: str, text: bytes) -> Document | None:
    """A values file. One of comments alone says nothing."""
    found = list(documents(name, text))
    if len(found) > 1:
        raise BadInput(
            f"{found[1].source} begins other values", remedy="write one object in one file"
        )
    return found[0] if found else None


def values(
    file: Document | None = None,
    sets: Iterable[str] = (),
    *,
    under: Mapping[str, Any] | None = None,
) -> Values:
    """`sets` are words such as aws.region=eu-west-1, which go before the file; `under` is what is so where neither says otherwise."""
    said = over(msgspec.to_builtins(Values()), under or {})
    if file:
        told(file, Wishes)
        said = over(said, file.value)
    for words in sets:
        said = over(said, _assigned(words))
    return told(_said(said, "what was said"), Values)


def _assigned(words: str) -> Mapping[str, Any]:
    """With the value as its field has it: true, 3 and eu-west-1 are all written alike."""
    name, equals, text = words.partition("=")
    keys = [key.replace("\\.", ".") for key in _DOT.split(name)]
    if not equals or not all(keys):
        raise BadInput(
            f"--set {words} says nothing",
            remedy="write it as --set aws.region=eu-west-1, with \\. for a dot in a key",
        )
    wishes = told(_said(_nested(keys, _value(words, text)), f"--set {words}"), Wishes, strict=False)
    return _nested(keys, reduce(lambda around, key: around[key], keys, msgspec.to_builtins(wishes)))


def _value(words: str, text: str) -> object:
    if braces := _LIST.fullmatch(text):
        return [word.strip() for word in braces["words"].split(",") if word.strip()]
    if text[:1] not in {"[", "{"}:
        return text
    (document,) = documents(f"--set {words}", f"value: {text}".encode())
    return document.value["value"]


def _nested(keys: Iterable[str], value: object) -> dict[str, Any]:
    return cast(
        "dict[str, Any]", reduce(lambda inner, key: {key: inner}, reversed(list(keys)), value)
    )


def over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Objects are laid over each other, as helm does; lists are not. Nothing takes away what is there."""
    both = {
        key: over(below[key], above[key])
        for key in below.keys() & above.keys()
        if isinstance(below[key], dict) and isinstance(above[key], dict)
    }
    return {key: value for key, value in {**below, **above, **both}.items() if value is not None}


def _said(value: Mapping[str, Any], where: str) -> _Said:
    return _Said(value, where, yaml.MappingNode("", []))
