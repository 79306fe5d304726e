"""Labels as Google keeps them, and as we call them. Google's keys have small letters, digits, '_' and '-', and the words of a mark have more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from cwiictl import names
from cwiictl.engine.resource import Mark

LENGTH = 63  # of a key
TITLE = "Name"  # the one of our labels that has a capital
WORDS = (names.CLUSTER_KEY, names.ORIGIN_KEY, names.TRUSTED_KEY, names.CCOCTL_KEY)
TOLD = (names.TRUSTED_KEY,)  # what our mark says beside whose a thing is


class Labelled(Protocol):
    @property
    def labels(self) -> Mapping[str, str]: ...
    @property
    def owner(self) -> Mark | None: ...


def read(labels: Mapping[str, str] | None) -> dict[str, str]:
    """Ccoctl's word is not written where it would be too long, and not missed there."""
    found = {_ours(key): value for key, value in (labels or {}).items()}
    owned = [
        key.removeprefix(names.CLUSTER_KEY)
        for key, hold in found.items()
        if key.startswith(names.CLUSTER_KEY) and hold == "owned"
    ]
    return found | {
        f"{names.CCOCTL_KEY}{cluster}": "owned"
        for cluster in owned
        if not _fits(f"{names.CCOCTL_KEY}{cluster}")
    }


def owner(labels: Mapping[str, str] | None, cluster: str) -> Mark | None:
    return names.mark(read(labels), cluster)


def lent(owner: Mark | None) -> bool:
    """Whether of a thing so marked only the mark is ours to write."""
    return owner is not None and owner.hold == "brought"


def written(want: Labelled, have: Labelled | None) -> dict[str, str]:
    """All that a thing is to have: those of others with ours. What is let go of keeps none of our words."""
    mark = names.marked(want.owner) if want.owner else {}
    labels = {**(have.labels if have else {}), **want.labels, **mark}
    let_go = want.owner is None and have is not None and have.owner is not None
    return {
        _theirs(key): value
        for key, value in sorted(labels.items())
        if _fits(key) and not (let_go and key.startswith(TOLD))
    }


def relabelled(want: Labelled, have: Labelled) -> bool:
    return want.owner != have.owner or any(
        have.labels.get(key) != value for key, value in want.labels.items()
    )


def _fits(key: str) -> bool:
    return not key.startswith(names.CCOCTL_KEY) or len(key) <= LENGTH


def _word(word: str) -> str:
    return word.replace(".", "-").replace("/", "_")


def _theirs(key: str) -> str:
    word = next((word for word in WORDS if key.startswith(word)), "")
    return TITLE.lower() if key == TITLE else _word(word) + key.removeprefix(word)


def _ours(key: str) -> str:
    word = next((word for word in WORDS if key.startswith(_word(word))), "")
    return TITLE if key == TITLE.lower() else word + key[len(word) :]
