"""What takes its time: it has begun, and one asks until it is done."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from cwiictl.sandbox.exchange import Response

from .answers import json_response, not_found
from .world import Operation, World


def begun(
    world: World, prefix: str, kind: str, response: Callable[[], dict[str, Any]], done: float
) -> Response:
    """`kind` is the response's type, as protobuf writes it; what it is, is looked at when it is told."""
    one = Operation(
        f"{prefix}{secrets.token_hex(16)}",
        done,
        lambda: {"@type": f"type.googleapis.com/{kind}", **response()},
    )
    world.operations[one.name] = one
    return json_response(_shown(world, one))


def polled(world: World, name: str) -> Response:
    found = world.operations.get(name)
    if found is None:
        raise not_found()
    return json_response(_shown(world, found))


def _shown(world: World, one: Operation) -> dict[str, Any]:
    if one.done > world.clock():
        return {"name": one.name}
    return {"name": one.name, "done": True, "response": one.response()}
