"""What came of asking for an address on the web: all that a cloud would see of it, and nothing judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

MOST = 1 << 20
SECONDS = 10.0

Trouble = Literal["", "insecure", "private", "absent", "unreachable", "distrusted", "slow", "long"]


@dataclass(frozen=True)
class Page:
    url: str
    status: int = 0
    headers: Mapping[str, str] = field(
        default_factory=dict[str, str]
    )  # by their names in small letters
    text: bytes = field(default=b"", repr=False)
    trouble: Trouble = ""  # why there is no answer, or not all of it
    why: str = ""
    ahead: float | None = (
        None  # seconds by which this machine's clock is before that of whoever made the answer, if that said its time
    )
