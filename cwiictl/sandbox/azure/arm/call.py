"""One request to ARM, with who makes it and what it names."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from cwiictl.sandbox.azure.answers import Refusal
from cwiictl.sandbox.azure.entra import Caller
from cwiictl.sandbox.exchange import Request, Response

from .address import Address


@dataclass(frozen=True)
class Call:
    request: Request
    address: Address
    caller: Caller

    @cached_property
    def body(self) -> dict[str, Any]:
        return read_body(self.request)

    @cached_property
    def properties(self) -> dict[str, Any]:
        found = self.body.get("properties")
        return cast("dict[str, Any]", found) if isinstance(found, dict) else {}

    @property
    def version(self) -> str:
        return self.request.asked.get("api-version", "")

    def url(self, path: str, **asked: str) -> str:
        query = "&".join(
            f"{key}={value}" for key, value in {"api-version": self.version, **asked}.items()
        )
        return f"https://{self.request.host}{path}?{query}"


Handler = Callable[[Call], Response]
Routes = Mapping[tuple[str, str], Handler]  # by method and the address' shape


def read_body(request: Request) -> dict[str, Any]:
    try:
        found: object = json.loads(request.body or b"null")
    except ValueError as error:
        raise malformed(str(error)) from error
    if not isinstance(found, dict):
        raise malformed("an object is expected")
    return cast("dict[str, Any]", found)


def malformed(why: str) -> Refusal:
    return Refusal(
        400,
        "InvalidRequestContent",
        f"The request content was invalid and could not be deserialized: '{why}'.",
    )
