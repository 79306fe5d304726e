"""Managed fields: which part of an object who holds, as Kubernetes writes it (FieldsV1).

`{"f:spec": {"f:ports": {"k:{\\"port\\":443}": {".": {}, "f:port": {}}}}}` holds the port of one of several: lists that the API server merges by a key
are looked at by that key, so that their order is nobody's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

Fields = Mapping[str, Any]
Path = tuple[str, ...]
Object = Mapping[str, Any]

MANAGER = "cwiictl"
NOTHING: Fields = {}
SELF = "."  # the map or the element itself, beside what is in it


def within(live: Object, *keys: str) -> Object:
    """A map in maps. Where it is empty it may be missing, or null."""
    for key in keys:
        live = cast("Object", live.get(key)) or NOTHING
    return live


def entries(live: Object) -> list[Mapping[str, Any]]:
    """Who holds what of it."""
    return list(within(live, "metadata").get("managedFields") or ())


def ours(live: Object) -> Fields:
    """What we have applied."""
    return next(
        (
            one.get("fieldsV1", NOTHING)
            for one in entries(live)
            if one.get("manager") == MANAGER and one.get("operation") == "Apply"
        ),
        NOTHING,
    )


def known(live: Object) -> bool:
    """Whether we have had a hand in it: labels are copied with an object, and who has made it is not."""
    return any(one.get("manager") == MANAGER for one in entries(live))


def leaves(fields: Fields, before: Path = ()) -> Iterator[Path]:
    """The paths of what is held, each as a whole."""
    for step, below in fields.items():
        if step != SELF:
            yield from [(*before, step)] if _whole(below) else leaves(below, (*before, step))


def holds(fields: Fields, path: Path) -> bool:
    """Whether it is among them, or what it is a part of is as a whole. Who holds a part of it does not hold it."""
    for step in path:
        if step not in fields:
            return False
        fields = fields[step]
        if _whole(fields):
            return True
    return False


def value(live: object, path: Path) -> object:
    """What is there, or None."""
    for step in path:
        live = _below(live, step)
        if live is None:
            return None
    return live


def cut(live: object, fields: Fields) -> Any:
    """The part of an object that is held."""
    if _whole(fields):
        return live
    parts = {
        step: cut(_below(live, step), fields[step])
        for step in fields
        if step != SELF and _below(live, step) is not None
    }
    if isinstance(live, list):
        return [
            part
            for _, part in sorted(
                (_index(cast("list[object]", live), step), part) for step, part in parts.items()
            )
        ]
    return {step[2:]: part for step, part in parts.items()}


def told(path: Path) -> str:
    """For people: spec.ports[443].name"""
    text = ""
    for step in path:
        match step[:2]:
            case "f:":
                text += (
                    f".{step[2:]}"
                    if "." not in step[2:] and "/" not in step[2:]
                    else f"[{step[2:]}]"
                )
            case "k:":
                key = cast("dict[str, object]", json.loads(step[2:]))
                text += (
                    f"[{next(iter(key.values()))}]"
                    if len(key) == 1
                    else f"[{', '.join(f'{name}={key[name]}' for name in sorted(key))}]"
                )
            case "v:":
                text += f"[{json.loads(step[2:])}]"
            case _:
                text += f"[{step[2:]}]"
    return text.removeprefix(".")


def _whole(fields: Fields) -> bool:
    return all(step == SELF for step in fields)


def _below(live: object, step: str) -> object:
    kind, name = step[:2], step[2:]
    if kind == "f:":
        return cast("Mapping[str, object]", live).get(name) if isinstance(live, Mapping) else None
    place = _index(cast("Sequence[object]", live), step) if isinstance(live, list) else -1
    return cast("list[object]", live)[place] if place >= 0 else None


def _index(live: Sequence[object], step: str) -> int:
    """Where in a list the element of this step is."""
    kind, name = step[:2], step[2:]
    if kind == "i:":
        return int(name) if int(name) < len(live) else -1
    wanted = json.loads(name)
    return next(
        (
            place
            for place, each in enumerate(live)
            if (_has(each, wanted) if kind == "k:" else each == wanted)
        ),
        -1,
    )


def _has(element: object, key: Mapping[str, object]) -> bool:
    return isinstance(element, Mapping) and all(
        cast("Mapping[str, object]", element).get(name) == wanted for name, wanted in key.items()
    )
