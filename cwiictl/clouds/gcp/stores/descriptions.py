"""Descriptions, which bear the mark of what has no labels: a sentence for people, other projects, the mark."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from cwiictl import names
from cwiictl.clouds.gcp.resources import room
from cwiictl.engine.resource import Mark
from cwiictl.errors import BadInput


class Told(NamedTuple):
    sentence: str
    scopes: frozenset[str] = frozenset()
    owner: Mark | None = None
    word: str = ""  # of a rotation

    @property
    def ccoctls(self) -> bool:
        return self.owner is not None and names.own(self.owner.cluster) != self.owner.cluster


def read(description: str, cluster: str, title: str = "") -> Told:
    """Of what ccoctl made, its title says for which cluster."""
    signed, mark = names.entitled(description, title, cluster)
    unturned, word = names.unturned(signed)
    sentence, scopes = names.unscoped(unturned)
    return Told(sentence, scopes, mark, word)


def written(sentence: str, owner: Mark | None, scopes: Collection[str] = (), word: str = "") -> str:
    """What people are told gives way to what we must know, where it is ours to say."""
    return _text(
        room.fitted(sentence, owner.cluster, scopes, word)
        if owner and owner.hold != "brought"
        else sentence,
        owner,
        scopes,
        word,
    )


def found(sentence: str, owner: Mark | None, scopes: Collection[str] = (), word: str = "") -> str:
    """What was read so, as far as it is known: a mark that is damaged, or ccoctl's, was not written like that."""
    return _joined(sentence, owner if owner and owner.whole else None, scopes, word)


def _text(sentence: str, owner: Mark | None, scopes: Collection[str], word: str) -> str:
    """That there is room was made sure before anything was written; but others write there too."""
    text = _joined(sentence, owner, scopes, word)
    if len(text.encode()) > room.LENGTH:
        raise BadInput(
            f"{text[:40]}... is longer than the {room.LENGTH} bytes that Google takes",
            remedy="make that description shorter, and run again",
        )
    return text


def _joined(sentence: str, owner: Mark | None, scopes: Collection[str], word: str) -> str:
    told = names.turned(names.scoped(sentence, scopes), word)
    return names.signed(told, owner) if owner else told
