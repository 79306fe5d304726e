"""What whoever runs this must be allowed in a cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cwiictl.errors import MANY, Denied, listed
from cwiictl.kubernetes.kinds import STAGE, Kind, Kinds

APPLYING = (
    "get",
    "create",
    "patch",
)  # a preview too: what the API server would make of an object it says only to who may write it
REMOVING = ("get", "delete")
RELEASING = ("get", "patch")
ACCOUNTS = (
    "system:serviceaccount:"  # how the names of ServiceAccounts begin, of whom rights can be asked
)


@dataclass(frozen=True, order=True)
class Right:
    verb: str
    resource: str
    group: str = ""
    namespace: str = ""  # of none in particular: in all
    subresource: str = ""

    def __str__(self) -> str:
        return f"{self.verb} {self.what}"

    @property
    def what(self) -> str:
        what = f"{self.resource}{f'/{self.subresource}' if self.subresource else ''}{f'.{self.group}' if self.group else ''}"
        return f"{what}{f' in {self.namespace}' if self.namespace else ''}"


def needed(
    bodies: Iterable[Mapping[str, Any]], kinds: Kinds, verbs: Iterable[str] = APPLYING
) -> tuple[Right, ...]:
    """Each once."""
    asked = [
        (kind := kinds.of(body), body["metadata"].get("namespace", "") if kind.namespaced else "")
        for body in bodies
    ]
    return tuple(
        dict.fromkeys(
            Right(verb, kind.plural, kind.group, where) for kind, where in asked for verb in verbs
        )
    )


def finding(
    kinds: Kinds, titles: Collection[str] = STAGE.keys(), namespace: str = ""
) -> tuple[Right, ...]:
    """What is ours is found by its mark, wherever it may be: whoever may not look there would not know what is left over."""
    return tuple(
        Right("list", kind.plural, kind.group, namespace if kind.namespaced else "")
        for kind in _installed(kinds, titles)
    )


def removing(kinds: Kinds, things: Iterable[tuple[str, str, bool]]) -> tuple[Right, ...]:
    """`things` are named by the kind of their store, and as they are called there; and whether they go, or are let go."""
    of = {f"k8s/{kind.short}": kind for kind in _installed(kinds)}
    asked = [
        (of[kind], name.rpartition("/")[0], REMOVING if goes else RELEASING)
        for kind, name, goes in things
    ]
    return tuple(
        dict.fromkeys(
            Right(verb, kind.plural, kind.group, where)
            for kind, where, verbs in asked
            for verb in verbs
        )
    )


def _installed(kinds: Kinds, titles: Collection[str] = STAGE.keys()) -> list[Kind]:
    return [kind for title in STAGE if title in titles and (kind := kinds.get(title))]


def denied(who: str, lacking: Iterable[Right], what: str) -> Denied | None:
    """`what` is what these rights are needed for."""
    every, remedy = (
        tuple(lacking),
        "have a role with these rights given to them, or choose another --context",
    )
    if not every:
        return None
    if len(every) <= MANY:
        return Denied(
            f"{who} may not {', '.join(map(str, every))}, which {what} needs", remedy=remedy
        )
    told = ((right.what, right.verb) for right in every)
    return Denied(
        f"{who} lacks {len(every)} rights, which {what} needs:{listed(told)}", remedy=remedy
    )
