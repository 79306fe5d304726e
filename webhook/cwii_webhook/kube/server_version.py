"""Tracks the API server's version, which some injections depend on."""

from __future__ import annotations

import re

import msgspec
from msgspec import Struct

from cwii_webhook.kube.client import Client
from cwii_webhook.kube.clock import Backoff, Clock
from cwii_webhook.kube.errors import BadAccess, StatusError, Unreachable

POLL_INTERVAL = 1.0  # seconds between checks for a new stream


class _VersionInfo(Struct):
    major: str = ""
    minor: str = ""


_decode_version_info = msgspec.json.Decoder(_VersionInfo).decode


class ServerVersion:
    """The version, read at the start and again after each new watch connection.

    An upgrade of the API server closes all connections.
    """

    def __init__(self, client: Client, clock: Clock) -> None:
        self.current: tuple[int, int] | None = None
        self.error = ""
        self._client, self._clock = client, clock

    async def run(self) -> None:
        backoff, seen_streams = Backoff(self._clock), -1
        while True:
            if seen_streams == self._client.stream_count:
                await self._clock.sleep(POLL_INTERVAL)
                continue
            streams = self._client.stream_count
            try:
                self.current = _parse_version(await self._client.get("/version"))
            except (StatusError, Unreachable, BadAccess, msgspec.DecodeError) as e:
                self.error = str(e)
                await self._clock.sleep(backoff.next_delay())
            else:
                seen_streams, self.error = streams, ""
                backoff.reset()


def _parse_version(body: bytes) -> tuple[int, int]:
    """Parses major and minor version. Some clouds append a plus sign, as in 31+."""
    info = _decode_version_info(body)
    major, minor = (re.match(r"\d+", text) for text in (info.major, info.minor))
    if not major or not minor:
        raise msgspec.DecodeError(f"it says that its version is {info.major}.{info.minor}")
    return int(major[0]), int(minor[0])
