"""Errors of access to the API server. Each message is a sentence, with a remedy if there is one."""

from __future__ import annotations


class BadAccess(Exception):
    """The kubeconfig, the pod's files or the exec plugin give no usable access."""

    def __init__(self, problem: str, *, remedy: str = "") -> None:
        super().__init__(f"{problem}: {remedy}" if remedy else problem)
        self.problem = problem
        self.remedy = remedy


class Unreachable(Exception):
    """The API server did not answer, or stopped in the middle of a response."""


class StatusError(Exception):
    """The API server answered with an error status."""

    def __init__(self, status: int, message: str, retry_after: float | None = None) -> None:
        super().__init__(
            f"the API server answered {status}: {message}"
            if message
            else f"the API server answered {status}"
        )
        self.status = status
        self.retry_after = retry_after  # seconds

    @property
    def is_transient(self) -> bool:
        """A retry can succeed without a change by a person."""
        return self.status in {401, 408, 429} or self.status >= 500
