"""The messages of IAM's gRPC: Google's own classes, by name."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def find(name: str) -> Any:
    """Slow at first: the packages that have them are imported when somebody calls."""
    from google.cloud import iam_admin_v1, iam_credentials_v1  # noqa: PLC0415 - slow to load: only where it is needed
    from google.iam.v1 import iam_policy_pb2, policy_pb2  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs] - it has none
    from google.protobuf import empty_pb2  # noqa: PLC0415 - slow to load: only where it is needed

    for module in (iam_policy_pb2, policy_pb2, empty_pb2):
        if hasattr(module, name):
            return getattr(module, name)
    wrapped = getattr(iam_admin_v1 if hasattr(iam_admin_v1, name) else iam_credentials_v1, name)
    return wrapped.pb()
