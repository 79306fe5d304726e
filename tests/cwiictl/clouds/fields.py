"""What is special about the fields of states, read from their classes."""

from __future__ import annotations

from dataclasses import fields
from types import ModuleType

from cwiictl.engine.resource import State

COMMON = {f.name for f in fields(State)}


def apart_of(*modules: ModuleType) -> dict[str, str]:
    """Of each state of these modules: that it bears no mark; and each field that is not simply compared and shown, with what it is instead."""
    kinds = [
        kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, State)
    ]
    mine = [kind for kind in kinds if kind.__module__ in {module.__name__ for module in modules}]
    told = {kind.__name__: "markless" for kind in mine if kind.markless}
    for kind in mine:
        for f in fields(kind):
            odd = f.compare is not (f.metadata.keys() <= {"part", "gladly"})
            words = [*f.metadata, *(["compared" if f.compare else "not compared"] if odd else [])]
            if words and f.name not in COMMON:
                told[f"{kind.__name__}.{f.name}"] = " ".join(words)
    return told
