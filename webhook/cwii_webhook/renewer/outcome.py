"""What came of a run, in one line for whoever looks at the pod, and in a sentence for an event."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import msgspec

MOST = 2048  # characters; a kubelet keeps 4096 bytes


@dataclass(frozen=True)
class Outcome:
    done: tuple[str, ...]
    hindrance: str = ""
    ends: datetime | None = None  # the pair
    authority_ends: datetime | None = None

    @property
    def code(self) -> int:
        return 1 if self.hindrance else 0

    @property
    def what(self) -> str:
        return "hindered" if self.hindrance else "renewed" if self.done else "unchanged"

    @property
    def line(self) -> bytes:
        """JSON, as a termination message has it."""
        told = {
            "outcome": self.what,
            "done": self.done,
            "hindrance": self.hindrance[:MOST],
            "ends": self.ends,
            "authorityEnds": self.authority_ends,
        }
        return msgspec.json.encode({key: value for key, value in told.items() if value}) + b"\n"

    @property
    def event(self) -> tuple[str, str, str] | None:
        """Kind, reason and message; nothing, where nothing was to be done."""
        if self.hindrance:
            done = f" Done before: {'; '.join(self.done)}." if self.done else ""
            return "Warning", "CertificateNotRenewed", f"{self.hindrance}.{done}"
        return (
            (
                "Normal",
                "CertificateRenewed",
                f"{'; '.join(self.done)}; the certificate ends at {self.ends:%Y-%m-%dT%H:%M:%SZ}",
            )
            if self.done
            else None
        )
