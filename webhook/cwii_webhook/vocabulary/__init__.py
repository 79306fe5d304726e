"""Every word that a user may write on a pod, its owner, its ServiceAccount or its namespace: a module for each dialect, with its table ALL."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from cwii_webhook.voices import Scope

EVERYWHERE: tuple[Scope, ...] = ("pod", "owner", "account", "namespace")


class Word(Struct, frozen=True, gc=False):
    """A key, where it is heard, and what it means. README's tables are made of these."""

    key: str
    meaning: str
    on: tuple[Scope, ...] = EVERYWHERE
    kind: Literal["text", "flag", "number", "list", "presence"] = "text"
    place: Literal["annotation", "label"] = "annotation"
    default: str = ""
    written: bool = False  # by us, for others to read
