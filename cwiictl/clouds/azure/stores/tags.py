"""Tags as Azure keeps them, and as we call them. Azure's keys may not hold a slash, and the words of a mark have some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from cwiictl import names
from cwiictl.engine.resource import Mark

WORDS = (
    names.CLUSTER_KEY,
    names.ORIGIN_KEY,
    names.DOCUMENTS_KEY,
    names.SCOPES_KEY,
    names.ISSUER_KEY,
    names.TRUSTED_KEY,
    names.CCOCTL_KEY,
)
TOLD = (
    names.SCOPES_KEY,
    names.ISSUER_KEY,
    names.TRUSTED_KEY,
)  # what our mark says beside whose a thing is


class Tagged(Protocol):
    @property
    def tags(self) -> Mapping[str, str]: ...
    @property
    def owner(self) -> Mark | None: ...


def read(tags: Mapping[str, str] | None) -> dict[str, str]:
    return {_ours(key): value for key, value in (tags or {}).items()}


def owner(tags: Mapping[str, str] | None, cluster: str) -> Mark | None:
    return names.mark(read(tags), cluster)


def ccoctls(tags: Mapping[str, str] | None, cluster: str) -> Mark | None:
    """Ccoctl's mark, whether ours stands beside it or not."""
    return names.mark(
        {key: value for key, value in read(tags).items() if key.startswith(names.CCOCTL_KEY)},
        cluster,
    )


def lent(owner: Mark | None) -> bool:
    """Whether of a thing so marked only the mark is ours to write."""
    return owner is not None and owner.hold == "brought"


def written(want: Tagged, have: Tagged | None) -> dict[str, str]:
    """Azure replaces all tags at once, so those of others are given back with ours. What is let go of keeps none of our words."""
    mark = names.marked(want.owner) if want.owner else {}
    tags = {**(have.tags if have else {}), **want.tags, **mark}
    let_go = want.owner is None and have is not None and have.owner is not None
    return {
        _theirs(key): value
        for key, value in sorted(tags.items())
        if not (let_go and key.startswith(TOLD))
    }


def retagged(want: Tagged, have: Tagged) -> bool:
    return want.owner != have.owner or any(
        have.tags.get(key) != value for key, value in want.tags.items()
    )


def _theirs(key: str) -> str:
    word = next((word for word in WORDS if key.startswith(word)), "")
    return word.replace("/", "_") + key.removeprefix(word)


def _ours(key: str) -> str:
    word = next((word for word in WORDS if key.startswith(word.replace("/", "_"))), "")
    return word + key[len(word) :]
