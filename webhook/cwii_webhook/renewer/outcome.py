"""Formats the result of a run: a termination message, an event and an exit code."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import msgspec

MAX_PROBLEM_CHARACTERS = 2048  # a kubelet keeps 4096 bytes of a termination message


@dataclass(frozen=True)
class Outcome:
    """The actions that a run completed, and the problem that ended it, if any."""

    completed: tuple[str, ...]
    problem: str = ""
    certificate_expiry: datetime | None = None
    authority_expiry: datetime | None = None

    @property
    def exit_code(self) -> int:
        return 1 if self.problem else 0

    @property
    def result(self) -> str:
        return "hindered" if self.problem else "renewed" if self.completed else "unchanged"

    @property
    def termination_message(self) -> bytes:
        """One line of JSON, without empty fields."""
        fields = {
            "outcome": self.result,
            "done": self.completed,
            "hindrance": self.problem[:MAX_PROBLEM_CHARACTERS],
            "ends": self.certificate_expiry,
            "authorityEnds": self.authority_expiry,
        }
        return msgspec.json.encode({key: value for key, value in fields.items() if value}) + b"\n"

    @property
    def event(self) -> tuple[str, str, str] | None:
        """Type, reason and message of the event. None if the run changed nothing."""
        completed = "; ".join(self.completed)
        if self.problem:
            done = f" Done before: {completed}." if completed else ""
            return "Warning", "CertificateNotRenewed", f"{self.problem}.{done}"
        if not self.completed:
            return None
        return (
            "Normal",
            "CertificateRenewed",
            f"{completed}; the certificate ends at {self.certificate_expiry:%Y-%m-%dT%H:%M:%SZ}",
        )
