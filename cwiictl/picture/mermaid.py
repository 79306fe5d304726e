"""The map as a diagram of Mermaid's, as README files and tickets show it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from cwiictl.picture.map import Identity, Map, Who, whos, worst

MOST = 30  # identities: more of them nobody could follow, and renderers draw no more than 500 edges
PLAIN = re.compile(r"[^\w \-./:@,()+=&?]")
STYLES = (
    "classDef warning stroke:#b58900,stroke-width:3px",
    "classDef wrong stroke:#cb2431,stroke-width:3px",
)


def mermaid(drawn: Map) -> bytes:
    whole = len(drawn.identities) <= MOST
    lines = [
        "flowchart LR",
        *(
            f"  {line}"
            for line in (*_anchors(drawn), *(_each(drawn) if whole else _counted(drawn)), *STYLES)
        ),
    ]
    return ("\n".join(lines) + "\n").encode()


def _anchors(drawn: Map) -> Iterator[str]:
    key = (f"key {drawn.issuer.key}",) if drawn.issuer.key else ()
    yield _node("issuer", "issuer of", drawn.cluster, drawn.issuer.url, *key) + _class(
        drawn.issuer.state
    )
    for cloud in drawn.clouds:
        yield _node(cloud.name, cloud.title, cloud.account) + _class(cloud.state)
        yield f"{cloud.name} -->|believes| issuer"


def _each(drawn: Map) -> Iterator[str]:
    titles = {cloud.name: cloud.title for cloud in drawn.clouds}
    ids = {identity.acting.thing: f"i{number}" for number, identity in enumerate(drawn.identities)}
    for identity in drawn.identities:
        told = () if identity.state == "fine" else (identity.condition,)
        yield _node(
            ids[identity.acting.thing], titles[identity.cloud], identity.acting.title, *told
        ) + _class(identity.state)
        yield f"{ids[identity.acting.thing]} --- {identity.cloud}"
    for number, who in enumerate(whos(drawn)):
        yield _who(number, who)
        yield from (f"w{number} --> {ids[identity.acting.thing]}" for identity in who.identities)


def _who(number: int, who: Who) -> str:
    return _node(
        f"w{number}",
        *(f"{who.namespace}/{account}" for account in who.accounts),
        shape=("([", "])"),
    )


def _counted(drawn: Map) -> Iterator[str]:
    """By namespace."""
    groups: dict[str, list[Identity]] = {}
    for identity in drawn.identities:
        groups.setdefault(identity.acting.namespace, []).append(identity)
    for number, (namespace, identities) in enumerate(sorted(groups.items())):
        accounts = {account for identity in identities for account in identity.acting.accounts}
        yield _node(
            f"n{number}", namespace, f"{len(accounts)} ServiceAccounts", shape=("([", "])")
        ) + _class(worst(each.state for each in identities))
        for cloud, count in Counter(identity.cloud for identity in identities).items():
            yield f"n{number} -->|as {count}| {cloud}"


def _node(name: str, *lines: str, shape: tuple[str, str] = ("[", "]")) -> str:
    return f'{name}{shape[0]}"{"<br/>".join(map(_text, lines))}"{shape[1]}'


def _class(state: str) -> str:
    return "" if state == "fine" else f":::{state}"


def _text(text: str) -> str:
    """Mermaid's own escapes: whatever is no letter, digit or harmless sign is its number."""
    return PLAIN.sub(lambda found: f"#{ord(found[0])};", text)
