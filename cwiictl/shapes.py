"""A document and the shape that it should have → the value, or what does not fit: in our words, with its file and line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias, TypeVar

import msgspec
from msgspec import inspect

from cwiictl.documents import Document
from cwiictl.errors import BadInput

_Shape = TypeVar("_Shape")
_Step: TypeAlias = str | int

_SENTENCE = re.compile(r"(?P<what>.*?)(?: - at `(?P<path>[^`]*)`)?", re.DOTALL)
_EXPECTED = re.compile(r"Expected `(?P<want>[^`]*)`, got `(?P<have>[^`]*)`")
_MISSING = re.compile(r"Object missing required field `(?P<field>[^`]*)`")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<field>.*)`", re.DOTALL)
_NO_CHOICE = re.compile(r"Invalid enum value .*", re.DOTALL)
_BOUND = re.compile(r"Expected `int` (?P<sign>>=|<=) (?P<bound>-?\d+)")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")
_WORDS = {
    "str": "a text",
    "int": "a number",
    "float": "a number",
    "bool": "true or false",
    "null": "nothing",
    "array": "a list",
    "object": "an object",
}


class Strict(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """An object of which every key is known: a misspelt one is a mistake, and not something to pass over."""


def told(document: Document, shape: type[_Shape], *, strict: bool = True) -> _Shape:
    """The part of a document that has this shape, or what is wrong in our words: the library's own name no file. Else a text may say a number, too."""
    try:
        return msgspec.convert(document.value, shape, strict=strict)
    except msgspec.ValidationError as error:
        raise _explained(document, shape, str(error)) from error


def nearest(word: str, known: Collection[str], *, key: str = "") -> str:
    """A remedy for a word that is none of those that are known."""
    if not known:
        return "it takes none"
    near = difflib.get_close_matches(word, known, 1)
    return f"did you mean {key}{near[0]}?" if near else f"use one of: {', '.join(known)}"


def refuse_misspelt(where: str, keys: Collection[str], known: Collection[str]) -> None:
    """Where others may have keys of their own, what is nearly one of ours is a slip of the pen all the same."""
    for key in keys:
        near = difflib.get_close_matches(key, known, 1, 0.8)
        if near and key not in known:
            raise BadInput(
                f"{where} has the key {key!r}, which is not known",
                remedy=f"did you mean {near[0]}?",
            )


def keys(shape: type[msgspec.Struct]) -> tuple[str, ...]:
    return tuple(each.encode_name for each in msgspec.structs.fields(shape))


def refuse_twins(claims: Sequence[tuple[str, str]]) -> None:
    """Of what is claimed, each with its place, nothing may be claimed twice."""
    seen: dict[str, str] = {}
    for claim, source in claims:
        if claim in seen:
            raise BadInput(
                f"{claim} is asked for twice, in {seen[claim]} and in {source}",
                remedy="remove one of the two, or give it another name",
            )
        seen[claim] = source


def _explained(document: Document, shape: type[object], message: str) -> BadInput:
    sentence = _SENTENCE.fullmatch(message)
    what, path = (sentence["what"], sentence["path"] or "$") if sentence else (message, "$")
    steps = [
        int(number) if number.isdigit() else name or number for name, number in _STEP.findall(path)
    ]
    field, where = path.removeprefix("$").removeprefix("."), document.where(*steps)
    if missing := _MISSING.fullmatch(what):
        field = _joined(field, missing["field"])
        return BadInput(
            f"{where} lacks {field}", remedy=f"add {field}, or take the object out of the file"
        )
    if unknown := _UNKNOWN.fullmatch(what):
        return _unknown(document, steps, field, unknown["field"], _keys(shape, steps))
    if _NO_CHOICE.fullmatch(what):
        word = str(document.at(*steps))
        return BadInput(
            f"{field} in {where} is {word!r}, which is not known",
            remedy=nearest(word, _choices(shape, steps)),
        )
    return BadInput(
        f"{field} in {where} {_mismatch(what)}",
        remedy="correct the field; a text that looks like something else must be quoted",
    )


def _unknown(
    document: Document, steps: Sequence[_Step], around: str, word: str, known: Collection[str]
) -> BadInput:
    place = f" in {around}" if around else ""
    return BadInput(
        f"{document.where_key(*steps, word)} has the key {word!r}{place}, which is not known",
        remedy=nearest(word, known),
    )


def _joined(*parts: str) -> str:
    return ".".join(part for part in parts if part)


def _mismatch(what: str) -> str:
    if what.endswith("of length >= 1"):
        return "is empty"
    if bound := _BOUND.fullmatch(what):
        return f"is {'less' if bound['sign'] == '>=' else 'more'} than {bound['bound']}"
    expected = _EXPECTED.fullmatch(what)
    if not expected:
        return f"does not fit: {what[:1].lower()}{what[1:]}"
    wants = [_WORDS.get(word, word) for word in expected["want"].split(" | ") if word != "null"]
    return (
        f"is {_WORDS.get(expected['have'], expected['have'])} where {' or '.join(wants)} is needed"
    )


# --- what a shape knows at a place ---


def _keys(shape: type[object], steps: Sequence[_Step]) -> tuple[str, ...]:
    return tuple(
        field.encode_name
        for each in _at(shape, steps)
        if isinstance(each, inspect.StructType)
        for field in each.fields
    )


def _choices(shape: type[object], steps: Sequence[_Step]) -> tuple[str, ...]:
    return tuple(
        str(value)
        for each in _at(shape, steps)
        if isinstance(each, inspect.LiteralType)
        for value in each.values
    )


def _at(shape: type[object], steps: Sequence[_Step]) -> list[inspect.Type]:
    here = list(_bare(inspect.type_info(shape)))
    for step in steps:
        here = [bare for each in here for below in _below(each, step) for bare in _bare(below)]
    return here


def _bare(info: inspect.Type) -> Iterator[inspect.Type]:
    if isinstance(info, inspect.Metadata):
        yield from _bare(info.type)
    elif isinstance(info, inspect.UnionType):
        for each in info.types:
            yield from _bare(each)
    else:
        yield info


def _below(info: inspect.Type, step: _Step) -> Iterator[inspect.Type]:
    if isinstance(info, inspect.StructType):
        yield from (field.type for field in info.fields if field.encode_name == step)
    elif isinstance(info, inspect.ListType | inspect.VarTupleType):
        yield info.item_type
    elif isinstance(info, inspect.DictType):
        yield info.value_type
