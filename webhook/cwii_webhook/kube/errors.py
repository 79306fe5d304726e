"""What can go wrong between the API server and us. Each says in a sentence what happened, and where one can act, what to do."""

from __future__ import annotations


class BadAccess(Exception):
    """How to reach the API server cannot be told from what was given: a kubeconfig, a pod's own files, a plugin."""

    def __init__(self, problem: str, *, remedy: str = "") -> None:
        super().__init__(f"{problem}: {remedy}" if remedy else problem)
        self.problem = problem
        self.remedy = remedy


class Unreachable(Exception):
    """The API server did not answer, or stopped in the middle of it."""


class Refused(Exception):
    """The API server answered, and not with what was asked for."""

    def __init__(self, status: int, message: str, after: float | None = None) -> None:
        super().__init__(
            f"the API server answered {status}: {message}"
            if message
            else f"the API server answered {status}"
        )
        self.status = status
        self.after = after  # seconds that it wants us to wait

    @property
    def passes(self) -> bool:
        """It may be answered otherwise in a second, without anybody's doing."""
        return self.status in {401, 408, 429} or self.status >= 500
