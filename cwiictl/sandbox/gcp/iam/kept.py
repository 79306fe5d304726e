"""Kinds whose deleted things are there for a while, and can come back."""

from __future__ import annotations

from typing import Protocol

from cwiictl.sandbox.exchange import Response
from cwiictl.sandbox.gcp.call import Call, Route


class Kept(Protocol):
    def create(self, call: Call) -> Response: ...
    def list(self, call: Call) -> Response: ...
    def get(self, call: Call) -> Response: ...
    def patch(self, call: Call) -> Response: ...
    def delete(self, call: Call) -> Response: ...
    def undelete(self, call: Call) -> Response: ...


def routes(every: str, verb: str, kind: Kept) -> dict[tuple[str, str], Route]:
    """What is asked of all such kinds, `every` being the path of all things of one."""
    item = f"{every}/{{}}"
    return {
        ("POST", every): Route(f"{verb}create", kind.create),
        ("GET", every): Route(f"{verb}list", kind.list, writes=False),
        ("GET", item): Route(f"{verb}get", kind.get, writes=False),
        ("PATCH", item): Route(f"{verb}update", kind.patch),
        ("DELETE", item): Route(f"{verb}delete", kind.delete),
        ("POST", f"{item}:undelete"): Route(f"{verb}undelete", kind.undelete),
    }
