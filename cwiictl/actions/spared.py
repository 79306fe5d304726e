"""What lies in the output folder and a run does not speak for: what other clouds tell a workload, and what of its own it could not make again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from cwiictl import files, manifests
from cwiictl.actions.order import Order
from cwiictl.clouds import ALL
from cwiictl.documents import documents
from cwiictl.errors import Problem

TOLD = (
    ("", "stringData"),
    ("", "data"),
    ("metadata", "annotations"),
    ("metadata", "labels"),
)  # where an object tells a workload something
Object = Mapping[str, Any]
Key = tuple[str, str, str]


def spared(order: Order, tree: Mapping[str, bytes], *, whole: bool) -> dict[str, bytes]:
    """The files of a run, with what theirs tell of clouds that are not in it. A run that failed takes nothing away."""
    words = tuple(
        word for name, cloud in ALL.items() if name not in order.clouds for word in cloud.TELLS
    )
    there = {path: _lying(order.output / path) for path in tree}
    merged = {path: _merged(there[path], text, words) for path, text in tree.items()}
    return {
        path: text
        for path, text in merged.items()
        if not (_stays(order, there[path], text) or (not whole and _loses(there[path], text)))
    }


def _merged(have: bytes, text: bytes, words: tuple[str, ...]) -> bytes:
    if not any(word.encode() in have for word in words):
        return text
    theirs = {
        key: (body, told)
        for key, body in _objects(have).items()
        if any((told := _of(body, words)).values())
    }
    merged = _objects(text)
    for key, (body, told) in theirs.items():
        merged[key] = _with(merged[key], told) if key in merged else _with(body, told, instead=True)
    return manifests.dump_all(merged.values()) if theirs else text


def _stays(order: Order, have: bytes, text: bytes) -> bool:
    """Of an issuer that is there already, who made it has told more."""
    url = order.issuer_url.encode()
    return order.issuer_exists and url in have and url in text and not _told(have)


def _loses(have: bytes, text: bytes) -> bool:
    return bool(_told(have) - _told(text))


def _lying(path: Path) -> bytes:
    """What nobody can read tells nobody anything."""
    try:
        return files.found(path)
    except Problem:
        return b""


def _told(text: bytes) -> set[tuple[Key, str]]:
    return {
        (key, word) for key, body in _objects(text).items() for at in TOLD for word in _at(body, at)
    }


def _objects(text: bytes) -> dict[Key, Object]:
    """What tells workloads something. Who has made something else of the file has made it theirs: it is written anew."""
    try:
        return {key: body for key, body in _read(text) if key[0] in {"Secret", "ServiceAccount"}}
    except Problem:
        return {}


def _read(text: bytes) -> Iterator[tuple[Key, Object]]:
    for document in documents("the file", text):
        meta = _part(document.value, "metadata")
        yield (
            (str(document.value.get("kind")), str(meta.get("namespace")), str(meta.get("name"))),
            document.value,
        )


def _of(body: Object, words: tuple[str, ...]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        at: {key: value for key, value in _at(body, at).items() if key.startswith(words)}
        for at in TOLD
    }


def _with(
    body: Object, told: Mapping[tuple[str, str], Mapping[str, Any]], *, instead: bool = False
) -> Object:
    """The object with more told in it; or with that `instead` of what it tells."""
    made: dict[str, Any] = {**body, "metadata": dict(_part(body, "metadata"))}
    for (around, key), more in told.items():
        holder = made[around] if around else made
        full = {**({} if instead else _part(holder, key)), **more}
        holder.pop(key, None)
        holder |= {key: full} if full else {}
    return made


def _at(body: Object, at: tuple[str, str]) -> Object:
    around, key = at
    return _part(_part(body, around) if around else body, key)


def _part(body: Object, key: str) -> Object:
    """Empty where something else stands."""
    found = body.get(key)
    return cast("Object", found) if isinstance(found, dict) else {}
