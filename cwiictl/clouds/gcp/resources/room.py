"""What there is room for in a description: a sentence for people, other projects, a rotation, the mark. Where it is too small, the sentence gives way."""

from __future__ import annotations

from collections.abc import Iterable

from cwiictl import names
from cwiictl.engine.resource import Mark

LENGTH = 256  # bytes
LONGEST = "create-identity-provider"  # of the commands that a mark can name
MORE = "..."


def left(cluster: str, scopes: Iterable[str] = (), word: str = "") -> int:
    """Bytes for the sentence, whichever command's mark is behind it, and however the thing is held."""
    told = names.signed(
        names.turned(names.scoped("x", scopes), word), Mark(cluster, "adopted", LONGEST)
    )
    return LENGTH + 1 - len(told.encode())


def fitted(sentence: str, cluster: str, scopes: Iterable[str] = (), word: str = "") -> str:
    """The sentence, or as much of it as there is room for."""
    room = left(cluster, scopes, word)
    if len(sentence.encode()) <= room:
        return sentence
    kept = sentence.encode()[: max(room - len(MORE), 0)].decode(errors="ignore").rstrip()
    return kept and f"{kept}{MORE}"
