"""Every word that a user may write on a pod, its owner, its ServiceAccount or its namespace: a module for each dialect, with its table ALL."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from cwii_webhook.admission.annotation_sources import Scope

EVERYWHERE: tuple[Scope, ...] = ("pod", "owner", "account", "namespace")


class Annotation(Struct, frozen=True, gc=False):
    """A key, where it is heard, and what it means. README's tables are made of these."""

    key: str
    meaning: str
    sources: tuple[Scope, ...] = EVERYWHERE
    kind: Literal["text", "flag", "number", "list", "presence"] = "text"
    place: Literal["annotation", "label"] = "annotation"
    default: str = ""
    is_output: bool = False  # by us, for others to read
