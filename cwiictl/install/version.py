"""From which Kubernetes on what we install is there."""

from __future__ import annotations

Version = tuple[int, int]

OLDEST: Version = (1, 28)
NEWEST: Version = (1, 36)  # what it is tried with

POLICIES: Version = (1, 30)  # ValidatingAdmissionPolicy
_FLOW: Version = (1, 29)  # of which v1 is


def flow(kubernetes: Version) -> str:
    return f"flowcontrol.apiserver.k8s.io/{'v1' if kubernetes >= _FLOW else 'v1beta3'}"
