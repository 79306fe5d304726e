"""The API server's version: of what it can do, some of what pods are given depends on it."""

from __future__ import annotations

import re

import msgspec
from msgspec import Struct

from cwii_webhook.kube.client import Client
from cwii_webhook.kube.clock import Backoff, Clock
from cwii_webhook.kube.errors import BadAccess, Refused, Unreachable

LOOK = 1.0  # seconds between two looks at whether a connection was made anew


class _Said(Struct):
    major: str = ""
    minor: str = ""


_said = msgspec.json.Decoder(_Said).decode


class Version:
    """Read at the start, and again when a watch has a new connection: an API server that was replaced by a newer one cut the old ones."""

    def __init__(self, api: Client, clock: Clock) -> None:
        self.known: tuple[int, int] | None = None
        self.trouble = ""
        self._api, self._clock = api, clock

    async def run(self) -> None:
        backoff, seen = Backoff(self._clock), -1
        while True:
            if seen == self._api.streams:
                await self._clock.sleep(LOOK)
                continue
            streams = self._api.streams
            try:
                self.known = _numbers(await self._api.get("/version"))
            except (Refused, Unreachable, BadAccess, msgspec.DecodeError) as e:
                self.trouble = str(e)
                await self._clock.sleep(backoff.failed())
            else:
                seen, self.trouble = streams, ""
                backoff.well()


def _numbers(body: bytes) -> tuple[int, int]:
    """Some clouds say 31+ for their 31."""
    said = _said(body)
    major, minor = (re.match(r"\d+", text) for text in (said.major, said.minor))
    if not major or not minor:
        raise msgspec.DecodeError(f"it says that its version is {said.major}.{said.minor}")
    return int(major[0]), int(minor[0])
