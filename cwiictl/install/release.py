"""What helm has put into a cluster: a release, which helm alone changes and takes out. It is known by the words that helm leaves on all that is in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cwiictl.names import INSTALLATION_KEY

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
    """Helm's annotations stay on what somebody else has taken over, and its label may: what bears our mark is not helm's any more."""
    about: Mapping[str, Mapping[str, str] | None] = body["metadata"]
    labels, words = about.get("labels") or {}, about.get("annotations") or {}
    if (
        INSTALLATION_KEY in labels
        or MANAGED not in labels.items()
        or not {NAME, NAMESPACE} <= words.keys()
    ):
        return None
    return Release(words[NAME], words[NAMESPACE])
