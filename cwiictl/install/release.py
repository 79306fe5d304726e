"""What helm has put into a cluster: a release, which helm alone changes and takes out. It is known by the words that helm leaves on all that is in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Body = Mapping[str, Any]

MANAGED = ("app.kubernetes.io/managed-by", "Helm")
NAME, NAMESPACE = "meta.helm.sh/release-name", "meta.helm.sh/release-namespace"


@dataclass(frozen=True)
class Release:
    name: str
    namespace: str  # where helm has noted it, which need not be where it runs

    def __str__(self) -> str:
        return f"helm's release {self.name} in the namespace {self.namespace}"

    @property
    def ending(self) -> str:
        return f"helm uninstall {self.name} -n {self.namespace}"


def release(body: Body) -> Release | None:
    """Helm's annotations stay on what somebody else has taken over, and its label does not."""
    about: Mapping[str, Mapping[str, str] | None] = body["metadata"]
    words = about.get("annotations") or {}
    if MANAGED not in (about.get("labels") or {}).items() or not {NAME, NAMESPACE} <= words.keys():
        return None
    return Release(words[NAME], words[NAMESPACE])
