"""What the image is made of: names, versions and hashes, and no address of where they are. `scripts/image lock` writes it."""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from typing import Annotated

import msgspec

_DATE = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"
_SHA256 = r"^[0-9a-f]{64}$"
Date = Annotated[str, msgspec.Meta(pattern=_DATE)]
Sha256 = Annotated[str, msgspec.Meta(pattern=_SHA256)]


class Package(msgspec.Struct, frozen=True):
    """Of Debian. Its path is seen from the root of a mirror, or of a dated snapshot."""

    name: str
    version: str
    path: str
    sha256: Sha256


class Wheel(msgspec.Struct, frozen=True):
    name: str
    version: str
    file: str
    sha256: Sha256


class Machine(msgspec.Struct, frozen=True):
    """All that is made for one kind of processor."""

    packages: tuple[Package, ...]
    wheels: tuple[Wheel, ...]


class Lock(msgspec.Struct, frozen=True):
    date: Date  # when these were Debian's newest: a snapshot of that time has them all
    suite: str
    python: str
    machines: Mapping[
        str, Machine
    ]  # by the names that Debian and images have for them alike: amd64, arm64

    @property
    def snapshot(self) -> str:
        """As archives of snapshots name it."""
        return re.sub(r"[-:]", "", self.date)

    @property
    def seconds(self) -> int:
        """Since 1970."""
        return calendar.timegm(tuple(map(int, re.findall(r"\d+", self.date))))


def read(text: bytes) -> Lock:
    return msgspec.json.decode(text, type=Lock)
