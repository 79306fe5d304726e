"""One request to an API of Google, with who makes it and what it names."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast
from urllib.parse import parse_qs

from cwiictl.sandbox.exchange import Request, Response

from .address import Address
from .answers import Refusal, invalid
from .tokens import Caller


@dataclass(frozen=True)
class Call:
    request: Request
    address: Address
    caller: Caller

    @cached_property
    def body(self) -> dict[str, Any]:
        return read_body(self.request)

    @property
    def asked(self) -> dict[str, str]:
        return self.request.asked

    def every(self, name: str) -> list[str]:
        """What a parameter says that may be there more than once."""
        return parse_qs(self.request.query).get(name, [])

    def policy(self) -> dict[str, Any]:
        """The one that is to be set."""
        if "policy" not in self.body:
            raise invalid("Request contains an invalid argument: the policy is missing.")
        return known(self.part("policy"), ("version", "bindings", "etag", "auditConfigs"), "policy")

    def part(self, name: str) -> dict[str, Any]:
        """An object within the body."""
        found = self.body.get(name)
        if found is not None and not isinstance(found, dict):
            raise invalid(f"Invalid value at '{name}'.")
        return cast("dict[str, Any]", found or {})


Handler = Callable[[Call], Response]


@dataclass(frozen=True)
class Route:
    """`permission` is what the caller needs, and how the record calls it. What `everybody` may do takes none, but a token."""

    permission: str
    handler: Handler
    writes: bool = True
    everybody: bool = False


Routes = Mapping[tuple[str, str], Route]  # by method and the address' shape


def read_body(request: Request) -> dict[str, Any]:
    try:
        found: object = json.loads(request.body or b"{}")
    except ValueError as error:
        raise invalid("Invalid JSON payload received.") from error
    if not isinstance(found, dict):
        raise invalid(
            'Invalid JSON payload received. Unknown name "": Root element must be a message.'
        )
    return cast("dict[str, Any]", found)


def known(asked: dict[str, Any], names: Collection[str], within: str = "") -> dict[str, Any]:
    """Google takes no field that it does not know."""
    for name in asked:
        if name not in names:
            place = f" at '{within}'" if within else ""
            raise invalid(
                f'Invalid JSON payload received. Unknown name "{name}"{place}: Cannot find field.'
            )
    return asked


def texts(value: object, name: str) -> list[str]:
    """A list of texts; none is an empty one."""
    if value is not None and not isinstance(value, list):
        raise invalid(f"Invalid value at '{name}'.")
    return [str(one) for one in cast("list[object]", value or [])]


def text(value: object, name: str, longest: int) -> str:
    """A field that is text, and not too long."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise invalid(f"Invalid value at '{name}' (TYPE_STRING).")
    if len(value) > longest:
        raise invalid(
            f"The {name} is too long: {len(value)} characters, and {longest} is the maximum."
        )
    return value


def unknown() -> Refusal:
    return Refusal(404, "NOT_FOUND", "Method not found.")
