"""What webhooks written in Go have in common: how they read numbers and lists. And what users of theirs want to know of their containers."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from cwii_webhook.injection import Variable, containers
from cwii_webhook.review import Pod

_NUMBER = re.compile(r"[+-]?[0-9]+")


class NotANumber(Exception):
    """In Go's words, which users of the peers know."""


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def whole(text: str, bits: int = 64) -> int:
    """As strconv.ParseInt reads it in decimal."""
    if not _NUMBER.fullmatch(text):
        raise NotANumber(f"strconv.ParseInt: parsing {quoted(text)}: invalid syntax")
    number = int(text) if len(text.lstrip("+-0")) < 20 else 1 << 64
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise NotANumber(f"strconv.ParseInt: parsing {quoted(text)}: value out of range")
    return number


def listed(text: str, separator: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.split(separator)) if text else frozenset()


def own_values(pod: Pod, variables: Sequence[Variable], skipped: Collection[str], replaced: Collection[str] = ()) -> Iterator[str]:
    """Theirs that win over ours, ours that win over theirs, and ours that win unseen. Of a pod that has all of ours nothing is said."""
    ours = {v.name: v.value for v in variables}
    every = [container for _, _, container in containers(pod)]
    if ours.keys().isdisjoint([v.name for c in every if c.env for v in c.env]) and not any(c.env_from for c in every):
        return
    for container in every:
        if container.name in skipped or not (container.env or container.env_from):
            continue
        own = [v for v in container.env or () if v.name in ours]
        other = [v.name for v in own if ours[v.name] and ours[v.name] != v.value]
        if other:
            yield from _told(container.name, [name for name in other if name not in replaced], "that is left as it is")
            yield from _told(container.name, [name for name in other if name in replaced], "ours replaces it")
        if container.env_from and len(own) < len(ours):
            yield f"container {container.name} takes variables from elsewhere (envFrom): where their names are ours, ours win"


def _told(container: str, names: Iterable[str], outcome: str) -> Iterator[str]:
    if together := ", ".join(names):
        yield f"container {container} sets {together} itself: {outcome}"
