"""The whole page. It loads nothing, runs only its own script, and says so to the browser."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from cwiictl.picture.chart import badge, chart, where
from cwiictl.picture.element import dump, element
from cwiictl.picture.map import Map, Note, State, Thing, whos
from cwiictl.picture.table import table

MOST = 12  # kinds of trouble that are told at the top: the map shows all


@dataclass(frozen=True)
class Trouble:
    """What is not as it should be, and where in the page it is shown."""

    state: State
    condition: str
    note: Note | None
    name: str
    place: str


def page(drawn: Map, style: str, script: str) -> bytes:
    body = element(
        "body",
        _top(drawn),
        element("main", *_troubles(drawn), _tools(drawn), chart(drawn), table(drawn)),
        element("script", script),
    )
    return dump(element("html", _meta(drawn, style, script), body, lang="en"))


def _meta(drawn: Map, style: str, script: str) -> Element:
    allowed = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:; base-uri 'none'; form-action 'none'"
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=allowed),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", f"Who can act as what: {drawn.cluster}"),
        element("link", rel="icon", href="data:,"),
        element("style", style),
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _top(drawn: Map) -> Element:
    accounts = sum(len(who.accounts) for who in whos(drawn))
    counts = Counter(thing.state for thing in drawn.things)
    words: dict[State, str] = {"wrong": "wrong", "warning": "not as wanted", "fine": "as wanted"}
    told = [
        element("span", badge(state, f"{counts[state]} {word}"), " ")
        for state, word in words.items()
        if counts[state]
    ]
    sentence = f"{accounts} ServiceAccounts, {len(drawn.identities)} identities, {len(drawn.clouds)} cloud{'s' if drawn.clouds[1:] else ''}"
    heading = element("h1", "Who can act as what: ", element("b", drawn.cluster))
    return element(
        "header",
        heading,
        element("p", *told, class_="verdict"),
        element("p", f"{sentence}. {drawn.read}".strip(), class_="quiet"),
    )


# --- what is wrong ---


def _troubles(drawn: Map) -> Iterator[Element]:
    groups: dict[tuple[State, str, Note | None], list[Trouble]] = {}
    for each in _found(drawn):
        groups.setdefault((each.state, each.condition, each.note), []).append(each)
    if not groups:
        return
    ranked = sorted(groups.values(), key=lambda of: (of[0].state != "wrong", -len(of)))
    rest = (
        [element("p", f"And {len(ranked) - MOST} more: the map shows all.")]
        if ranked[MOST:]
        else []
    )
    yield element(
        "section",
        element("h2", "What to look at"),
        element("ul", *map(_trouble, ranked[:MOST])),
        *rest,
        class_="troubles",
        aria_label="What to look at",
    )


def _trouble(of: list[Trouble]) -> Element:
    first, more = of[0], f" and {len(of) - 1} more" if of[1:] else ""
    said = (
        [
            ": ",
            first.note.text,
            *([" ", element("em", first.note.remedy)] if first.note.remedy else []),
        ]
        if first.note
        else []
    )
    return element(
        "li",
        badge(first.state, first.condition),
        " ",
        element("a", first.name, href=f"#{first.place}"),
        more,
        *said,
    )


def _found(drawn: Map) -> Iterator[Trouble]:
    for thing in drawn.issuer.things:
        yield from _of(thing, thing.address, "issuer")
    for cloud in drawn.clouds:
        for thing in cloud.things:
            yield from _of(thing, thing.address, f"cloud-{cloud.name}")
    places: dict[str, str] = {}
    for number, who in enumerate(whos(drawn)):
        places = {**{identity.acting.thing: where(number) for identity in who.identities}, **places}
    for identity in drawn.identities:
        for thing in identity.things:
            yield from _of(thing, identity.acting.title, places[identity.acting.thing])
    for cloud in drawn.clouds:
        for thing in cloud.others:
            yield from _of(thing, thing.address, "others")


def _of(thing: Thing, name: str, place: str) -> Iterator[Trouble]:
    """Of what nothing is said of, its condition says it."""
    if thing.state != "fine":
        yield from (
            Trouble(thing.state, thing.condition, note, name, place)
            for note in thing.notes or (None,)
        )


# --- what one can do ---


def _tools(drawn: Map) -> Element:
    search = element(
        "label",
        "Search",
        element(
            "input",
            id="search",
            type="search",
            autocomplete="off",
            placeholder="name, namespace, role …  ( / )",
        ),
    )
    off = element(
        "label", element("input", type="checkbox", id="off"), "only what is not as wanted"
    )
    clouds = (
        element(
            "label",
            element("input", type="checkbox", name="cloud", value=c.name, checked=True),
            c.title,
            data_cloud=c.name,
        )
        for c in drawn.clouds
    )
    views = (
        element(
            "label",
            element("input", type="radio", name="view", value=v, checked=v == "map"),
            v.capitalize(),
        )
        for v in ("map", "table")
    )
    groups = (
        element("fieldset", element("legend", "Clouds"), *clouds),
        element("fieldset", element("legend", "Show as"), *views),
    )
    return element(
        "form",
        search,
        off,
        *groups,
        element("output", id="count", aria_live="polite"),
        class_="tools",
        role="search",
    )
