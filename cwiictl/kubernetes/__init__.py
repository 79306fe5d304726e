"""A Kubernetes cluster, as one more place where things live: its objects are resources, and its API server keeps them."""

from __future__ import annotations

from pathlib import Path

from cwiictl.kubernetes.place import Place
from cwiictl.loading import loading

__all__ = ["Place", "connect"]


def connect(
    kubeconfig: Path | None = None,
    context: str | None = None,
    width: int = 16,
    name: str = "",
    within: str = "",
) -> Place:
    """By the context of a kubeconfig, or as the pod that we run in; of two places one has a `name`. Whoever installs nothing does not load the client."""
    with loading("cluster", "Kubernetes"):
        from cwiictl.kubernetes.stores import session  # noqa: PLC0415 - what is said above

    return session.connect(kubeconfig, context, width, name, within)
