"""Describes the annotations and labels of a dialect. README's tables are generated from these."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from cwii_webhook.admission.annotation_sources import Scope

EVERYWHERE: tuple[Scope, ...] = ("pod", "owner", "account", "namespace")


class Annotation(Struct, frozen=True, gc=False):
    """A key, the objects on which it is read, and its meaning."""

    key: str
    meaning: str
    sources: tuple[Scope, ...] = EVERYWHERE
    kind: Literal["text", "flag", "number", "list", "presence"] = "text"
    place: Literal["annotation", "label"] = "annotation"
    default: str = ""
    is_output: bool = False  # written by the webhook, and not read
